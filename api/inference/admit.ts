import { isUtf8 } from 'node:buffer';
import { type Catalog, type Model, reportsCost } from '#core/catalog/catalog.ts';
import { splitModelId } from '#core/catalog/model-id.ts';
import type { AgentStatus } from '#core/ledger/state.ts';
import { JSON_DEPTH_MAX, JSON_KEYS_MAX, JSON_VALUES_MAX } from '#core/limits.ts';
import { type ApiError, apiError, isApiError } from '../contract/errors.ts';
import type { CallPlan, Candidate } from './call-plan.ts';
import { findDialectGap } from './dialect-gap.ts';
import { estimateTokens, modelOutputTokens } from './estimate.ts';
import { keepDigits } from './exact-json.ts';
import type { CallFormat, CallRequest } from './formats/call-format.ts';
import { callFormats } from './formats/call-formats.ts';
import { countKeys, type JsonObject, readJsonObject } from './json-object.ts';
import type { MediaCount } from './linked-media.ts';
import { printedNumberBytes } from './printed-numbers.ts';
import { refuseAgent } from './refuse-start.ts';
import type { EndpointHealth } from './routing/endpoint-health.ts';
import { orderEndpoints } from './routing/order-endpoints.ts';
import {
  type ProviderPreferences,
  readPreferences,
  unmetPreference,
} from './routing/provider-preferences.ts';
import { placeTools } from './server-tools/place-tools.ts';
import { readServerTools, withOneSearch } from './server-tools/read-server-tools.ts';
import type { ServerTool, ServerTools } from './server-tools/server-tools.ts';
import { withoutServerTools } from './server-tools/without-server-tools.ts';
import { cannotBeSent, translateRequest } from './translation/translate-request.ts';

/** What is known of those who may run a call. */
export interface Routes {
  catalog: Catalog;
  health: EndpointHealth;
  /** By the monotonic clock. */
  nowMs: number;
}

export type Admitted = { ok: true; plan: CallPlan } | { ok: false; error: ApiError };

/** Chat templates add markers around the messages that the body's bytes do not hold. */
const TEMPLATE_TOKENS = 512;

/**
 * What can be refused before anything is held, in the spec's order: the body, the agent, then model and tools. Everything
 * that decides the price is read here, once.
 */
export function admitCall(
  format: CallFormat,
  bytes: Buffer,
  agentStatus: AgentStatus,
  { catalog, health, nowMs }: Routes,
): Admitted {
  const parsed = parseBody(bytes);
  if (isApiError(parsed)) return { ok: false, error: parsed };
  const { object, value } = parsed;

  const checked = format.readRequest(value);
  if (!checked.ok) return { ok: false, error: checked.error };
  const { request } = checked;

  const agentRefusal = refuseAgent(agentStatus);
  if (agentRefusal !== null) return { ok: false, error: agentRefusal };

  const media = format.countMedia(value);
  if (isApiError(media)) return { ok: false, error: media };
  const refusal = format.refuseFields(value) ?? format.refuseTools(value);
  if (refusal !== null) return { ok: false, error: refusal };

  const preferences = readPreferences(value.provider);
  const resolved = resolveModels(catalog, health, request, preferences);
  if (isApiError(resolved)) return { ok: false, error: resolved };

  const unread = media.files === 0 ? undefined : resolved.find((each) => !readsFiles(each));
  if (unread !== undefined) return { ok: false, error: noFiles(unread.model.id) };

  const serverTools = readServerTools(value);
  if (serverTools !== null && isApiError(serverTools)) return { ok: false, error: serverTools };
  const chosen = chooseFormats(resolved, { format, object, value, request, media, serverTools, preferences });
  if (isApiError(chosen)) return { ok: false, error: chosen };
  const candidates = restingLeftOut(chosen, health, nowMs);
  if (isApiError(candidates)) return { ok: false, error: candidates };
  const [first] = candidates;
  if (first === undefined) return { ok: false, error: apiError('provider_unavailable') };

  const hasMedia = media.images + media.files + media.others > 0;
  const { stream, showUsage, outputTokensCap, outputCapField, extraOutputTokens, choices, hasTools } =
    request;
  return {
    ok: true,
    plan: {
      format,
      body: object,
      stream,
      showUsage,
      model: first.model,
      candidates,
      // Media behind a link may fill the context, whichever model's it is.
      promptTokensMax: hasMedia
        ? Number.MAX_SAFE_INTEGER
        : promptBytes(object, format.capFields) + printedNumberBytes(bytes, value) + TEMPLATE_TOKENS,
      promptEstimateTokens: estimateTokens(bytes.length),
      outputTokensCap,
      outputCapField,
      extraOutputTokens,
      images: media.images,
      choices,
      hasTools,
    },
  };
}

/**
 * Byte-level tokenizers never make more tokens than bytes. The caps are left out, so that a cap that we named as
 * fitting fits when it is sent.
 */
function promptBytes({ members }: JsonObject, capFields: ReadonlySet<string>): number {
  let bytes = 0;
  for (const { key, startsAt, endsAt } of members) if (!capFields.has(key)) bytes += endsAt - startsAt;
  return bytes;
}

function parseBody(bytes: Buffer): { object: JsonObject; value: Record<string, unknown> } | ApiError {
  if (!isUtf8(bytes)) return badBody('The body is not valid UTF-8.');
  const read = readJsonObject(bytes, bodyBounds);
  if (read === 'too_deep') return badBody(`The body nests deeper than ${JSON_DEPTH_MAX} levels.`);
  if (read === 'too_many_keys') return badBody(`The body has more than ${JSON_KEYS_MAX} keys.`);
  if (read === 'too_many_values') return badBody(`The body has more than ${JSON_VALUES_MAX} values.`);
  if (read === 'not_json') return badBody('The body is not valid JSON.');
  if (read === 'not_an_object') return badBody('The body has to be a JSON object.');
  const { object, value } = read;
  // V8 misreads such keys once another body has prepared it (nodejs/node issue 63785): what JSON.parse shows us as
  // a harmless name may be `tools` to the provider.
  if (object.disguisedKey !== null)
    return badBody(`Write the key \`${object.disguisedKey.slice(0, KEY_CHARS_SHOWN)}\` without escapes.`);
  if (countKeys(value) !== object.keyCount) return badBody('A key stands twice in one object of the body.');
  return read;
}

const KEY_CHARS_SHOWN = 64;
const badBody = (message: string): ApiError => apiError('invalid_request', { message });

type Resolved = Omit<Candidate, 'format' | 'translated' | 'serverTools'> & { searches: boolean };

/**
 * In which format each provider is asked: the caller's own where it speaks that. One that could not be told all of the
 * request is left out; where that leaves none, the caller hears what could not be told.
 */
function chooseFormats(resolved: readonly Resolved[], wanted: Wanted): readonly Candidate[] | ApiError {
  const candidates: Candidate[] = [];
  let refusal: ApiError | null = null;
  for (const each of resolved) {
    const candidate = chooseFormat(each, wanted);
    if (isApiError(candidate)) refusal ??= candidate;
    else candidates.push(candidate);
  }
  return candidates.length === 0 && refusal !== null ? refusal : candidates;
}

function chooseFormat(
  { searches, ...each }: Resolved,
  { format, object, value, request, media, serverTools: sentTools, preferences }: Wanted,
): Candidate | ApiError {
  const { formats, dialect } = each.provider;
  const unmet = unmetPreference(preferences, each);
  if (unmet !== null) return noProvider(`provider.${unmet}`);
  const native = formats.includes(format.endpoint);
  const wanted = searches ? withOneSearch(sentTools) : sentTools;
  const serverTools = wanted === null ? null : placeTools(wanted, { ...each, format, native });
  if (serverTools !== null && 'unrun' in serverTools) return noRunner(serverTools.unrun, each.model);
  if (native) {
    const gap = findDialectGap(dialect, { format: format.endpoint, body: object, value, media });
    return gap === null ? { ...each, format, translated: null, serverTools } : cannotBeSent(gap);
  }
  const to = formats.includes('chat/completions') ? 'chat/completions' : 'messages';
  const cap = Math.min(request.outputTokensCap ?? Number.MAX_SAFE_INTEGER, modelOutputTokens(each));
  const exact = keepDigits(object.bytes, value);
  const told = serverTools === null ? exact : withoutServerTools(exact);
  const translated = translateRequest(told, format.endpoint, to, cap);
  if (isApiError(translated)) return translated;
  const gap = findDialectGap(dialect, { format: to, body: translated, value: null, media });
  return gap === null ? { ...each, format: callFormats[to], translated, serverTools } : cannotBeSent(gap);
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

function noRunner({ kind, sent, door }: ServerTool, { id }: Model): ApiError {
  const name = door === 'asked' ? `web ${kind}` : String(sent.type ?? sent.id);
  return apiError('tool_not_served', {
    param: door === 'asked' ? 'model' : `${door.list}[${door.index}]`,
    message: `The tool \`${name}\` is not served with \`${shorten(id)}\`: none of its providers runs it in this format.`,
  });
}

/** The wanted model's endpoints, then those of the fallbacks. Every id has to be served, used or not. */
function resolveModels(
  catalog: Catalog,
  health: EndpointHealth,
  { model: wanted, fallbacks }: CallRequest,
  { steering, allowFallbacks }: ProviderPreferences,
): readonly Resolved[] | ApiError {
  if (catalog.gatewayStopped()) return apiError('gateway_unavailable');
  const candidates: Resolved[] = [];
  let stopped = false;
  for (const [index, id] of [wanted, ...fallbacks].entries()) {
    const param = index === 0 ? 'model' : `models[${index - 1}]`;
    const found = resolveModel(catalog, id, param);
    if (isApiError(found)) return found;
    const running: Resolved[] = [];
    for (const endpoint of found.model.endpoints) {
      const provider = catalog.provider(endpoint.providerId);
      if (provider === undefined || provider.stopped) stopped = true;
      else running.push({ ...found, endpoint, provider });
    }
    const ordered = orderEndpoints(running, found.suffixes[0] ?? steering, health);
    candidates.push(...(allowFallbacks ? ordered : ordered.slice(0, 1)));
  }
  if (candidates.length === 0 && stopped) return apiError('provider_unavailable');
  return candidates;
}

/** Who has failed time and again is left out while it rests. */
function restingLeftOut(
  candidates: readonly Candidate[],
  health: EndpointHealth,
  nowMs: number,
): readonly Candidate[] | ApiError {
  let retryAfterMs: number | null = null;
  const awake = candidates.filter((each) => {
    const restMs = health.restMs(each.endpoint, nowMs);
    if (restMs !== null) retryAfterMs = Math.min(retryAfterMs ?? restMs, restMs);
    return restMs === null;
  });
  if (awake.length > 0 || retryAfterMs === null) return awake;
  return apiError('provider_unavailable', { retryAfterMs });
}

const bodyBounds = { keysMax: JSON_KEYS_MAX, valuesMax: JSON_VALUES_MAX };

const SUFFIXES: ReadonlySet<string> = new Set(['nitro', 'floor', 'exacto', 'online']);

function resolveModel(
  catalog: Catalog,
  id: string,
  param: string,
): Pick<Resolved, 'model' | 'suffixes' | 'searches'> | ApiError {
  const whole = catalog.find(id);
  if (whole.status === 'served') return { model: whole.model, suffixes: [], searches: false };
  const { base, suffixes } = splitModelId(id);
  const own = suffixes.filter((suffix) => SUFFIXES.has(suffix));
  const edition = suffixes.filter((suffix) => !SUFFIXES.has(suffix));
  if (edition.includes('free') || edition.includes('batch') || namesAnother(id))
    return modelNotServed(id, param);
  // Spec, What the service does, 6: an id carries one suffix. A provider would refuse several as no model's id.
  if (own.length > 1) return unknownModel(id, param, [[base, ...edition, own[0]].join(':')]);

  const entry = own.length === 0 ? whole : catalog.find([base, ...edition].join(':'));
  switch (entry.status) {
    case 'served':
      // A search is asked for in so many words, with bounds.
      return {
        model: entry.model,
        suffixes: own.filter((suffix) => suffix !== 'online'),
        searches: own.includes('online'),
      };
    case 'not_served':
      return modelNotServed(id, param);
    case 'unavailable':
      return apiError('catalog_unavailable', { param });
    case 'unknown':
      return unknownModel(id, param, entry.nearest);
  }
}

/** A preset of the operator's account, or whatever is an author's newest: what runs is decided after the hold. */
const namesAnother = (id: string): boolean => id.startsWith('~') || id.includes('@preset/');

/** Where a model reads no files, a router has them read by another service, for a price per page that no hold covers. */
const readsFiles = ({ model, provider }: Resolved): boolean =>
  !reportsCost(provider) || model.inputModalities.includes('file');

const noFiles = (id: string): ApiError =>
  apiError('invalid_request', {
    param: 'messages',
    message: `The model \`${shorten(id)}\` reads no files. Send their text, or choose a model that lists \`file\` input.`,
  });

const modelNotServed = (id: string, param: string): ApiError =>
  apiError('model_not_served', { param, message: `The model \`${shorten(id)}\` is not served here.` });

function unknownModel(id: string, param: string, nearest: readonly string[]): ApiError {
  const hint =
    nearest.length === 0
      ? ' `GET /models` lists those that are served.'
      : ` Did you mean ${nearest.map((name) => `\`${name}\``).join(' or ')}?`;
  return apiError('unknown_model', { param, message: `No model has the id \`${shorten(id)}\`.${hint}` });
}

const MODEL_ID_CHARS_SHOWN = 100;
const shorten = (id: string): string =>
  id.length > MODEL_ID_CHARS_SHOWN ? `${id.slice(0, MODEL_ID_CHARS_SHOWN)}…` : id;
