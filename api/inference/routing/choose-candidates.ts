import type { Model } from '#core/catalog/catalog.ts';
import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import type { AskedModel } from '#core/conversation/conversation.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import type { Candidate } from '../admit/call-plan.ts';
import type { Steps } from '../admit/steps.ts';
import type { CallFormat, CallRequest } from '../formats/call-format.ts';
import { callFormats } from '../formats/call-formats.ts';
import { ownFormat } from '../formats/own-format.ts';
import { reasonsByEffort } from '../formats/reasoning-words.ts';
import { type AskedBody, findUnsupportedByDialect } from '../formats/unsupported-by-dialect.ts';
import type { JsonObject } from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';
import type { MediaCount } from '../linked-images/linked-media.ts';
import { modelOutputTokens } from '../price/estimate.ts';
import { placeTools } from '../server-tools/place-tools.ts';
import { withOneSearch } from '../server-tools/read-server-tools.ts';
import type { ServerTool, ServerTools } from '../server-tools/server-tools.ts';
import { withoutServerTools } from '../server-tools/tool-types.ts';
import { cannotBeSent, type TranslationTarget, translateRequest } from '../translation/translate-request.ts';
import { withMarkedNumbers } from '../translation/unread-values.ts';
import { type ProviderPreferences, unmetPreference } from './provider-preferences.ts';
import { shorten } from './refuse-model.ts';
import type { Resolved } from './resolve-models.ts';

/**
 * In which format each provider is asked: the caller's own where it speaks that. One that could not be told all of the
 * request is left out; where that leaves none, the caller hears what could not be told.
 */
export function* chooseCandidates(
  resolved: readonly Resolved[],
  wanted: Wanted,
): Steps<readonly Candidate[] | ApiError> {
  const candidates: Candidate[] = [];
  let refusal: ApiError | null = null;
  const translations: Translations = { done: new Map(), marks: new NumberMarks(), source: null };
  for (const each of resolved) {
    const candidate = yield* chooseFormat(each, wanted, translations);
    yield 'choose';
    if (isApiError(candidate)) refusal ??= candidate;
    else candidates.push(candidate);
  }
  return candidates.length === 0 && refusal !== null ? refusal : candidates;
}

function* chooseFormat(
  { searches, ...each }: Resolved,
  wanted: Wanted,
  translations: Translations,
): Steps<Candidate | ApiError> {
  const { format, object, value, request, media, serverTools: sentTools, preferences } = wanted;
  const { formats, dialect, kind } = each.provider;
  const unmet = unmetPreference(preferences, each);
  if (unmet !== null) return noProvider(`provider.${unmet}`);
  const native = kind.ownFormat === null && formats.includes(format.name);
  const plain = !kind.capabilities.routesBetweenVendors;
  const tools = searches ? withOneSearch(sentTools) : sentTools;
  const serverTools = tools === null ? null : placeTools(tools, { ...each, format, native });
  if (serverTools !== null && 'noRunner' in serverTools) return noRunner(serverTools.noRunner, each.model);
  if (serverTools !== null && 'noStepsLeft' in serverTools) return noStep(serverTools.noStepsLeft);
  const unlessUnsupported = (candidate: Candidate, asked: Pick<AskedBody, 'format' | 'body' | 'value'>) => {
    const unsupported = findUnsupportedByDialect(dialect, { ...asked, media, plain });
    return unsupported === null ? candidate : cannotBeSent(unsupported);
  };
  if (native) {
    const candidate = { ...each, format, translated: null, serverTools };
    return unlessUnsupported(candidate, { format: format.name, body: object, value });
  }
  const to = kind.ownFormat ?? (formats.includes('chat') ? 'chat' : 'messages');
  const cap = Math.min(request.outputTokensCap ?? Number.MAX_SAFE_INTEGER, modelOutputTokens(each));
  const { upstreamModel } = each.endpoint;
  const asked = { upstreamModel, outputTokensCap: cap, reasonsByEffort: reasonsByEffort(upstreamModel) };
  const translated = yield* translate(wanted, translations, kind, to, asked);
  if (isApiError(translated)) return translated;
  if (typeof to !== 'string') return { ...each, format: ownFormat, translated, serverTools };
  const candidate = { ...each, format: callFormats[to], translated, serverTools };
  return unlessUnsupported(candidate, { format: to, body: translated, value: null });
}

/** Many fallbacks are sent the same translation, so it is made once. */
interface Translations {
  done: Map<string, JsonObject | ApiError>;
  marks: NumberMarks;
  /** The caller's request with marked numbers; `null`: not made yet. */
  source: Readonly<Record<string, unknown>> | null;
}

function* translate(
  { format, object, value }: Wanted,
  translations: Translations,
  { name }: ProviderKind,
  to: TranslationTarget,
  asked: AskedModel,
): Steps<JsonObject | ApiError> {
  const { done, marks } = translations;
  const target = typeof to === 'string' ? to : `own ${name} ${asked.upstreamModel}`;
  const key = `${target} ${asked.outputTokensCap} ${asked.reasonsByEffort}`;
  const known = done.get(key);
  if (known !== undefined) return known;
  if (translations.source === null) {
    // What a provider runs by itself is written into the result.
    translations.source = withoutServerTools(withMarkedNumbers(object, value, format.name, marks));
    yield 'mark numbers';
  }
  const translated = translateRequest(translations.source, format.name, to, asked, marks);
  done.set(key, translated);
  yield 'translate';
  return translated;
}

/** The caller's request, and what was read of it. */
interface Wanted {
  format: CallFormat;
  object: JsonObject;
  value: Readonly<Record<string, unknown>>;
  request: CallRequest;
  media: MediaCount;
  serverTools: ServerTools | null;
  preferences: ProviderPreferences;
}

const noProvider = (param: string): ApiError =>
  apiError('no_provider', {
    param,
    message: `No provider of the model is known to meet \`${param}\`. Leave it out, or choose another model.`,
  });

const nameOf = ({ kind, sent, door }: ServerTool): string =>
  door === 'asked' ? `web ${kind}` : String(sent.type ?? sent.id);

const noStep = (tool: ServerTool): ApiError =>
  apiError('invalid_request', {
    param: 'max_tool_calls',
    message: `\`max_tool_calls\` leaves no step for \`${nameOf(tool)}\`. Raise it, or leave the tool out.`,
  });

function noRunner(tool: ServerTool, { id }: Model): ApiError {
  const { door } = tool;
  return apiError('tool_not_served', {
    param: door === 'asked' ? 'model' : `${door.list}[${door.index}]`,
    message: `The tool \`${nameOf(tool)}\` is not served with \`${shorten(id)}\`: none of its providers runs it in this format.`,
  });
}
