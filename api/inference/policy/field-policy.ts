import { isRecord } from '#core/is-record.ts';
import { type ApiError, apiError, hasToBe } from '../../contract/errors.ts';
import { fieldRules } from './field-rules.ts';

/**
 * Fields that may not stand in a body, or not so. `null`: all are served.
 *
 * @param pricedFields Those of `PRICED` that the format reads.
 */
export function refuseFields(
  body: Readonly<Record<string, unknown>>,
  pricedFields: ReadonlySet<string>,
): ApiError | null {
  for (const field of Object.keys(body)) {
    const refusal = refuseByRule(field, body[field]) ?? refuseOtherFormats(field, body[field], pricedFields);
    if (refusal !== null) return refusal;
  }
  return (
    refuseProviderOptions(body.provider) ??
    refuseTiers(body.provider) ??
    refuseReasoning(body.reasoning) ??
    refuseBudget(body.thinking) ??
    (pricedFields.has('prediction') ? refusePrediction(body.prediction) : null)
  );
}

function refuseByRule(field: string, given: unknown): ApiError | null {
  const rule = fieldRules.get(field);
  if (given === null || rule === undefined || rule.rule === 'drop' || rule.rule === 'bound') return null;
  if (rule.unless?.(given) === true) return null;
  const message = `\`${field}\` is not served: ${rule.because}.`;
  return rule.rule === 'refuse'
    ? apiError(rule.code, { param: field, message })
    : apiError('invalid_request', { param: field, message, details: { error_code: rule.errorCode } });
}

/** Read in one format alone: a server that heeds them in another would write more than was held. */
const PRICED: ReadonlySet<string> = new Set([
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'n',
  'prediction',
]);

function refuseOtherFormats(field: string, given: unknown, priced: ReadonlySet<string>): ApiError | null {
  if (!PRICED.has(field) || priced.has(field) || given === null) return null;
  if (field === 'n' && given === 1) return null;
  return unpriced(field, 'is not a field of this format');
}

const unpriced = (param: string, words = 'is not served'): ApiError =>
  apiError('invalid_request', {
    param,
    message: `\`${param}\` ${words}: it changes the price in a way that cannot be reserved.`,
  });

/** `provider.options` passes settings to one vendor that no price list covers. */
function refuseProviderOptions(provider: unknown): ApiError | null {
  if (provider === undefined || provider === null) return null;
  if (!isRecord(provider)) return hasToBe('provider', 'an object');
  return provider.options === undefined || provider.options === null ? null : unpriced('provider.options');
}

/** Endpoints of a tier that costs more than the listed price are run by nobody who does not name them. */
function refuseTiers(provider: unknown): ApiError | null {
  if (!isRecord(provider)) return null;
  for (const key of ['order', 'only']) {
    const tags = [provider[key]].flat();
    if (!tags.some((tag) => typeof tag === 'string' && DEARER_TIER.test(tag))) continue;
    return unpriced(`provider.${key}`, 'names a tier that is not served');
  }
  return null;
}

const DEARER_TIER = /\/(priority|fast|scale)\s*(\/|$)/i;

/** Its cap counts towards the hold, so it is as strict as the other caps; a mode may have a price of its own. */
function refuseReasoning(reasoning: unknown): ApiError | null {
  const mode = isRecord(reasoning) ? (reasoning.mode ?? 'standard') : 'standard';
  if (mode !== 'standard') return unpriced('reasoning.mode');
  return refuseCount(isRecord(reasoning) ? reasoning.max_tokens : undefined, 'reasoning.max_tokens');
}

/** No reader of links looks there, so nothing but text may stand in it. */
function refusePrediction(prediction: unknown): ApiError | null {
  const content = isRecord(prediction) ? prediction.content : undefined;
  if (!Array.isArray(content)) return null;
  const at = content.findIndex(
    (part) =>
      !isRecord(part) || part.type !== 'text' || !Object.keys(part).every((name) => TEXT_PART.has(name)),
  );
  if (at < 0) return null;
  const param = `prediction.content[${at}]`;
  return apiError('invalid_request', {
    param,
    message: `\`${param}\` must be a part of type \`text\` with nothing but its \`text\`.`,
  });
}

const TEXT_PART: ReadonlySet<string> = new Set(['type', 'text', 'cache_control']);

const refuseBudget = (thinking: unknown): ApiError | null =>
  refuseCount(isRecord(thinking) ? thinking.budget_tokens : undefined, 'thinking.budget_tokens');

function refuseCount(count: unknown, param: string): ApiError | null {
  if (count === undefined || count === null || (Number.isSafeInteger(count) && Number(count) >= 0))
    return null;
  return hasToBe(param, 'a whole number of tokens');
}
