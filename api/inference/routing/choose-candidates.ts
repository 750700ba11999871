import type { Endpoint, FormatName, Model, Provider } from '#core/catalog/catalog.ts';
import type { Dialect } from '#core/catalog/dialect.ts';
import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import type { AskedDialect, AskedModel } from '#core/conversation/conversation.ts';
import { JSON_KEYS_MAX, JSON_VALUES_MAX } from '#core/limits.ts';
import { isSteps, runAtOnce, SHORT_BODY_BYTES, type Steps, type Work } from '#core/steps.ts';
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
import { fitParameters, type ParameterFit } from '../formats/open-parameters.ts';
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
import { type OfferedTools, placeOf, placeOfferedTools } from './place-offered-tools.ts';
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
    const way = wayTo(each, wanted);
    let candidate: Candidate | ApiError;
    if (isApiError(way)) candidate = way;
    else if (way.isNative) {
      const parameters = wanted.format.name === 'messages' ? null : fitParameters(way.dialect, wanted.value);
      yield 'fit parameters';
      candidate = inOwnWords(way, wanted, parameters);
    } else candidate = yield* inOtherWords(way, wanted, translations);
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

/** How an endpoint is asked. */
interface Way extends AskedThere {
  resolved: Resolved;
  /** Its server is no router. */
  plain: boolean;
  /** In the caller's own format. */
  isNative: boolean;
  offered: OfferedTools;
}

function wayTo(resolved: Resolved, { format, value, serverTools, preferences }: Wanted): Way | ApiError {
  const unmet = unmetPreference(preferences, resolved);
  if (unmet !== null) return noProvider(`provider.${unmet}`);
  const { endpoint, provider } = resolved;
  const { kind } = provider;
  const { dialect, asked } = askedThere(resolved);
  const plain = !kind.capabilities.routesBetweenVendors;
  const isNative = kind.ownFormat === null && passes(format.name, provider, { dialect, plain, value });
  const offered = placeOfferedTools(
    resolved.searches ? withOneSearch(serverTools) : serverTools,
    { endpoint, provider, format, native: isNative },
    { choice: value.tool_choice, requiresAll: preferences.requiresParameters },
  );
  if ('noRunner' in offered) return noRunner(offered.noRunner, resolved.model);
  if ('noStepsLeft' in offered) return noStep(offered.noStepsLeft);
  if ('fault' in offered) return offered.fault;
  return { resolved, dialect, asked, plain, isNative, offered };
}

function inOwnWords(way: Way, wanted: Wanted, parameters: ParameterFit | null): Candidate | ApiError {
  const { format, object, value, betas } = wanted;
  const isMessages = format.name === 'messages';
  const betaFields = isMessages ? betaFieldsIn(value, betas) : NONE;
  const losesLine = isMessages && losesBillingLine(value.system, way.resolved.endpoint.upstreamModel);
  return fitted(
    { ...candidateBy(way), format, translated: null, betaFields },
    { format: format.name, body: object, value, parameters },
    { leftOut: betaFields, hints: losesLine ? [BILLING_LINE] : NONE },
    way,
    wanted,
  );
}

function* inOtherWords(way: Way, wanted: Wanted, translations: Translations): Steps<Candidate | ApiError> {
  const { formats, kind } = way.resolved.provider;
  const to = kind.ownFormat ?? (formats.includes('chat') ? 'chat' : 'messages');
  const { outputTokensCap } = wanted.request;
  const cap = Math.min(outputTokensCap ?? Number.MAX_SAFE_INTEGER, modelOutputTokens(way.resolved));
  const asked = { ...way.asked, outputTokensCap: cap };
  const translated = yield* translate(wanted, translations, kind, to, asked);
  if (isApiError(translated)) return translated;
  const { object: body, leftOut, hints, toolNames, argumentNames, sentBetaFields } = translated;
  const candidate = {
    ...candidateBy(way),
    translated: body,
    translatedTokensMax: translated.promptTokensMax,
    toolNames,
    argumentNames,
    sentBetaFields,
    betaFields: NONE,
  };
  if (typeof to !== 'string') {
    const names = { leftOut: [...way.offered.leftOutNames, ...leftOut], hints, editsChat: false };
    return withAllRequired({ ...candidate, format: ownFormat, ...names }, wanted);
  }
  return fitted(
    { ...candidate, format: callFormats[to] },
    { format: to, body, value: null, parameters: null },
    { leftOut, hints },
    way,
    wanted,
  );
}

const NONE: readonly string[] = [];

const candidateBy = ({
  resolved: { model, endpoint, provider, suffixes },
  offered: { placed, leftOut },
}: Way): Pick<Candidate, 'model' | 'endpoint' | 'provider' | 'suffixes' | 'serverTools' | 'unrunTools'> => ({
  model,
  endpoint,
  provider,
  suffixes,
  serverTools: placed,
  unrunTools: leftOut,
});

/** Finds out what a server of the dialect is not sent, in which the body that it is asked with may differ from the caller's. */
function fitted(
  candidate: Omit<Candidate, 'leftOut' | 'hints' | 'editsChat'>,
  asked: Pick<AskedBody, 'format' | 'body' | 'value' | 'parameters'>,
  before: Pick<Candidate, 'leftOut' | 'hints'>,
  { dialect, plain, offered }: Way,
  wanted: Wanted,
): Candidate | ApiError {
  const fit = fitToDialect(dialect, { ...asked, media: wanted.media, plain });
  if (fit.refused !== null) return cannotBeSent(fit.refused);
  const { editsChat, addedTokens } = fit;
  const leftOut = [...offered.leftOutNames, ...before.leftOut, ...fit.leftOut];
  const hints = [...before.hints, ...fit.hints];
  return withAllRequired({ ...candidate, leftOut, hints, editsChat, addedTokens }, wanted);
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
  { preferences, value }: Pick<Wanted, 'preferences' | 'value'>,
): Candidate | ApiError {
  const [param] = candidate.leftOut;
  if (!preferences.requiresParameters || param === undefined) return candidate;
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
    const reading = withWholeCharacters(object, value);
    const whole = isSteps(reading) ? yield* reading : reading;
    const marking = withMarkedNumbers(whole.object, whole.value, format.name, marks);
    // What a provider runs by itself is written into the result.
    translations.source = withoutServerTools(isSteps(marking) ? yield* marking : marking);
    yield 'graft numbers';
  }
  const steps = translateInSteps(translations.source, format.name, to, asked, marks);
  const translated = object.bytes.length <= SHORT_BODY_BYTES ? runAtOnce(steps) : yield* steps;
  done.set(keyOf, translated);
  yield 'translate';
  return translated;
}

/** The caller's request without halves of characters where it has very many, because they are dear to print. */
function withWholeCharacters(object: JsonObject, value: Wanted['value']): Work<Sent> {
  const whole = wholeCharacters(object.bytes);
  return isSteps(whole) ? readAgain(whole, object, value) : { object, value };
}

type Sent = Pick<Wanted, 'object' | 'value'>;

function* readAgain(whole: Steps<Buffer>, object: JsonObject, value: Wanted['value']): Steps<Sent> {
  const bytes = yield* whole;
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
