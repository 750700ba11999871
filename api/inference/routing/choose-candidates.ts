import type { Endpoint, FormatName, Model, Provider } from '#core/catalog/catalog.ts';
import type { Dialect } from '#core/catalog/dialect.ts';
import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import type { AskedDialect, AskedModel } from '#core/conversation/conversation.ts';
import { JSON_KEYS_MAX, JSON_VALUES_MAX } from '#core/limits.ts';
import type { Steps } from '#core/steps.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import { BILLING_LINE } from '../../providers/billing-line.ts';
import type { Candidate } from '../admit/call-plan.ts';
import type { CallFormat, CallRequest } from '../formats/call-format.ts';
import { callFormats } from '../formats/call-formats.ts';
import { isOfSigner } from '../formats/call-signature.ts';
import { needsShellAsFunction } from '../formats/caller-shells.ts';
import { type AskedBody, fitToDialect } from '../formats/fit-to-dialect.ts';
import { needsFunctions } from '../formats/function-tools.ts';
import { betaFieldsIn } from '../formats/leave-out-beta-fields.ts';
import { losesBillingLine } from '../formats/leave-out-billing-line.ts';
import { dialectAt } from '../formats/model-dialect.ts';
import { fitParameters } from '../formats/open-parameters.ts';
import { ownFormat } from '../formats/own-format.ts';
import { COMMON_EFFORTS, reasonsByEffort } from '../formats/reasoning-words.ts';
import { type JsonObject, readJsonObjectInSteps } from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { wholeCharacters } from '../json/whole-characters.ts';
import type { MediaCount } from '../linked-images/linked-media.ts';
import { modelOutputTokens } from '../price/estimate.ts';
import { withOneSearch } from '../server-tools/read-server-tools.ts';
import type { ServerTool, ServerTools } from '../server-tools/server-tools.ts';
import { withoutServerTools } from '../server-tools/tool-types.ts';
import { claudeLimits } from '../translation/claude-limits.ts';
import { gptLimits } from '../translation/gpt-limits.ts';
import {
  cannotBeSent,
  type TranslatedRequest,
  type TranslationTarget,
  translateInSteps,
} from '../translation/translate-request.ts';
import { withMarkedNumbers } from '../translation/unread-values.ts';
import { placeOf, placeOfferedTools } from './place-offered-tools.ts';
import { type ProviderPreferences, unmetPreference } from './provider-preferences.ts';
import { shorten } from './refuse-model.ts';
import type { Resolved } from './resolve-models.ts';
import { shownValue } from './shown-value.ts';

/**
 * In which format each provider is asked: the caller's own where it speaks that. Of one model those come first that are sent
 * every field of the request. Where none can be sent what the meaning hangs on, the caller hears what that is.
 */
export function* chooseCandidates(
  resolved: readonly Resolved[],
  wanted: Wanted,
): Steps<readonly Candidate[] | ApiError> {
  const candidates: Candidate[] = [];
  let refusal: ApiError | null = null;
  const translations: Translations = { done: new Translated(), marks: new NumberMarks(), source: null };
  for (const each of resolved) {
    const candidate = yield* chooseFormat(each, wanted, translations);
    yield 'choose';
    if (isApiError(candidate)) refusal ??= candidate;
    else candidates.push(candidate);
  }
  return candidates.length === 0 && refusal !== null ? refusal : wholeFirst(candidates);
}

/** The models keep their order, and so do endpoints that are sent alike. */
function wholeFirst(candidates: readonly Candidate[]): readonly Candidate[] {
  const isWhole = ({ leftOut }: Candidate): boolean => leftOut.length === 0;
  if (candidates.every(isWhole)) return candidates;
  const models = [...new Set(candidates.map(({ model }) => model))];
  return models.flatMap((model) => {
    const ofModel = candidates.filter((candidate) => candidate.model === model);
    return [...ofModel.filter(isWhole), ...ofModel.filter((candidate) => !isWhole(candidate))];
  });
}

function* chooseFormat(
  { searches, ...each }: Resolved,
  wanted: Wanted,
  translations: Translations,
): Steps<Candidate | ApiError> {
  const { format, object, value, request, media, serverTools: sentTools, preferences, betas } = wanted;
  const { formats, kind } = each.provider;
  const { dialect, asked: askedModel } = askedThere(each);
  const unmet = unmetPreference(preferences, each);
  if (unmet !== null) return noProvider(`provider.${unmet}`);
  const plain = !kind.capabilities.routesBetweenVendors;
  const native = kind.ownFormat === null && passes(format.name, each.provider, { dialect, plain, value });
  const tools = searches ? withOneSearch(sentTools) : sentTools;
  const demand = { choice: value.tool_choice, requiresAll: preferences.requiresParameters };
  const offered = placeOfferedTools(tools, { ...each, format, native }, demand);
  if ('noRunner' in offered) return noRunner(offered.noRunner, each.model);
  if ('noStepsLeft' in offered) return noStep(offered.noStepsLeft);
  if ('fault' in offered) return offered.fault;
  const { placed: serverTools, leftOut: unrun, leftOutNames: unrunNames } = offered;
  const fitted = (
    candidate: Omit<Candidate, 'leftOut' | 'hints' | 'editsChat'>,
    asked: Pick<AskedBody, 'format' | 'body' | 'value' | 'parameters'>,
    before: Pick<Candidate, 'leftOut' | 'hints'>,
  ): Candidate | ApiError => {
    const { refused, leftOut, hints, ...edits } = fitToDialect(dialect, { ...asked, media, plain });
    if (refused !== null) return cannotBeSent(refused);
    const names = {
      leftOut: [...unrunNames, ...before.leftOut, ...leftOut],
      hints: [...before.hints, ...hints],
    };
    return withAllRequired({ ...candidate, ...names, ...edits }, preferences, value);
  };
  if (native) {
    const betaFields = format.name === 'messages' ? betaFieldsIn(value, betas) : [];
    const candidate = { ...each, format, translated: null, serverTools, unrunTools: unrun, betaFields };
    const hints =
      format.name === 'messages' && losesBillingLine(value.system, each.endpoint.upstreamModel)
        ? [BILLING_LINE]
        : [];
    const before = { leftOut: betaFields, hints };
    const parameters = format.name === 'messages' ? null : fitParameters(dialect, value);
    yield 'fit parameters';
    return fitted(candidate, { format: format.name, body: object, value, parameters }, before);
  }
  const to = kind.ownFormat ?? (formats.includes('chat') ? 'chat' : 'messages');
  const cap = Math.min(request.outputTokensCap ?? Number.MAX_SAFE_INTEGER, modelOutputTokens(each));
  const asked = { ...askedModel, outputTokensCap: cap };
  const translated = yield* translate(wanted, translations, kind, to, asked);
  if (isApiError(translated)) return translated;
  const { object: body, leftOut, hints, toolNames, argumentNames, sentBetaFields } = translated;
  const inWords = {
    translated: body,
    translatedTokensMax: translated.promptTokensMax,
    toolNames,
    argumentNames,
    sentBetaFields,
  };
  const sent = { ...each, ...inWords, serverTools, unrunTools: unrun, betaFields: [] };
  if (typeof to !== 'string') {
    const names = { leftOut: [...unrunNames, ...leftOut], hints, editsChat: false };
    return withAllRequired({ ...sent, format: ownFormat, ...names }, preferences, value);
  }
  return fitted(
    { ...sent, format: callFormats[to] },
    { format: to, body, value: null, parameters: null },
    { leftOut, hints },
  );
}

/** Whether a provider is asked in the caller's own format: it speaks that, and takes all tools of the request in it. */
function passes(
  format: FormatName,
  { formats }: Pick<Provider, 'formats'>,
  { dialect, plain, value }: { dialect: Dialect; plain: boolean; value: Wanted['value'] },
): boolean {
  if (!formats.includes(format)) return false;
  if (format === 'chat') return !needsFunctions(dialect, value);
  const hasOther = formats.some((other) => other !== 'responses');
  return format !== 'responses' || !hasOther || !needsShellAsFunction(dialect, plain, value);
}

interface AskedThere {
  dialect: Dialect;
  asked: Omit<AskedModel, 'outputTokensCap'>;
}

/** How a model is asked at one endpoint. It is told by names, so it is found out once. */
function askedThere({ endpoint, provider }: Pick<Resolved, 'endpoint' | 'provider'>): AskedThere {
  const dialect = dialectAt({ endpoint, provider });
  const known = askedModels.get(endpoint);
  if (known?.dialect === dialect) return known;
  const { upstreamModel } = endpoint;
  const asked = {
    upstreamModel,
    reasonsByEffort: reasonsByEffort(upstreamModel),
    dialect: askedDialect(dialect, upstreamModel),
  };
  const found = { dialect, asked };
  askedModels.set(endpoint, found);
  return found;
}

const askedModels = new WeakMap<Endpoint, AskedThere>();

const askedDialect = (dialect: Dialect, upstreamModel: string): AskedDialect => {
  const { reasoningMember, efforts, callIds, signsCalls, takesReasoningDetails, turns } = dialect;
  const { fields, refusedFields, takesSchemas, takesSchemaChoices, restsByThinking, chatTags } = dialect;
  return {
    reasoningMember,
    // A caller of another format means a word of that format's scale.
    efforts: efforts ?? COMMON_EFFORTS,
    callIds: callIds.chat ?? null,
    // A router passes on the signatures of such a model, and wants them back.
    signsCalls: signsCalls || (takesReasoningDetails && isOfSigner(upstreamModel)),
    takesReasoningDetails,
    takesThinkingParts: dialect.takesThinkingParts,
    // A server of which much is known takes what stands in its list alone.
    takesVerbosity: !refusedFields.has('verbosity') && (fields === null || fields.chat.has('verbosity')),
    turns: { ...turns, systemFirst: turns.systemFirst ?? true },
    ...{ takesSchemas, takesSchemaChoices, restsByThinking, chatTags },
  };
};

/** Refuses a candidate that a field is kept from, where the caller wants every field heeded. */
function withAllRequired(
  candidate: Candidate,
  { requiresParameters }: ProviderPreferences,
  value: Readonly<Record<string, unknown>>,
): Candidate | ApiError {
  const [param] = candidate.leftOut;
  if (!requiresParameters || param === undefined) return candidate;
  return apiError('no_provider', {
    param: shorten(param),
    message: `No provider of this model takes \`${shorten(param)}\`${shownValue(value, param)}, and \`provider.require_parameters\` asks for one that does. Leave one of the two out, or choose another model.`,
  });
}

/** Many fallbacks are sent the same translation, so it is made once. */
interface Translations {
  done: Translated;
  marks: NumberMarks;
  /** The caller's request with marked numbers; `null`: not made yet. */
  source: Readonly<Record<string, unknown>> | null;
}

/** Translations by their keys, which take longer to print than the rest of a small call: most calls have one, and need none. */
class Translated {
  #first: { keyOf: () => string; translated: TranslatedRequest | ApiError } | null = null;
  readonly #byKey = new Map<string, TranslatedRequest | ApiError>();

  get(keyOf: () => string): TranslatedRequest | ApiError | undefined {
    if (this.#first === null) return undefined;
    if (this.#byKey.size === 0) this.#byKey.set(this.#first.keyOf(), this.#first.translated);
    return this.#byKey.get(keyOf());
  }

  set(keyOf: () => string, translated: TranslatedRequest | ApiError): void {
    if (this.#first === null) this.#first = { keyOf, translated };
    else this.#byKey.set(keyOf(), translated);
  }
}

function translationKey(kind: string, to: TranslationTarget, asked: AskedModel): string {
  const target = typeof to === 'string' ? to : `own ${kind} ${asked.upstreamModel}`;
  const { upstreamModel, reasonsByEffort: byEffort, outputTokensCap, dialect } = asked;
  const limits = to === 'chat' ? gptLimits(upstreamModel) : claudeLimits(upstreamModel);
  return `${target} ${outputTokensCap} ${JSON.stringify([byEffort, limits, dialect])}`;
}

function* translate(
  { format, object, value }: Wanted,
  translations: Translations,
  { name }: ProviderKind,
  to: TranslationTarget,
  asked: AskedModel,
): Steps<TranslatedRequest | ApiError> {
  const { done, marks } = translations;
  const keyOf = (): string => translationKey(name, to, asked);
  const known = done.get(keyOf);
  if (known !== undefined) return known;
  if (translations.source === null) {
    const whole = yield* withWholeCharacters(object, value);
    // What a provider runs by itself is written into the result.
    translations.source = withoutServerTools(
      yield* withMarkedNumbers(whole.object, whole.value, format.name, marks),
    );
    yield 'graft numbers';
  }
  const translated = yield* translateInSteps(translations.source, format.name, to, asked, marks);
  done.set(keyOf, translated);
  yield 'translate';
  return translated;
}

/** The caller's request without halves of characters where it has very many, because they are dear to print. */
function* withWholeCharacters(
  object: JsonObject,
  value: Wanted['value'],
): Steps<Pick<Wanted, 'object' | 'value'>> {
  const bytes = yield* wholeCharacters(object.bytes);
  if (bytes === object.bytes) return { object, value };
  const read = yield* readJsonObjectInSteps(bytes, { keysMax: JSON_KEYS_MAX, valuesMax: JSON_VALUES_MAX });
  return typeof read === 'string' ? { object, value } : read;
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
  betas: string | null;
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
  return apiError('tool_not_served', {
    param: placeOf(tool),
    message: `The tool \`${nameOf(tool)}\` is not served with \`${shorten(id)}\`: none of its providers runs it in this format.`,
  });
}
