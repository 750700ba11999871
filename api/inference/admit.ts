import { isUtf8 } from 'node:buffer';
import type { Catalog, Endpoint, Model } from '#core/catalog/catalog.ts';
import { splitModelId } from '#core/catalog/model-id.ts';
import { isRecord } from '#core/is-record.ts';
import type { AgentStatus } from '#core/ledger/state.ts';
import { JSON_DEPTH_MAX, JSON_KEYS_MAX, JSON_VALUES_MAX } from '#core/limits.ts';
import { parseChatRequest } from '../contract/chat-request.ts';
import { type ApiError, apiError, isApiError } from '../contract/errors.ts';
import type { CallPlan, Candidate } from './call-plan.ts';
import { countMedia } from './content-policy.ts';
import { refuseFields } from './field-policy.ts';
import { countKeys, type JsonObject, readJsonObject } from './json-object.ts';
import { refuseAgent } from './refuse-start.ts';
import { refuseTools } from './tool-policy.ts';

export type Admitted = { ok: true; plan: CallPlan } | { ok: false; error: ApiError };

/** Chat templates add markers around the messages that the body's bytes do not hold. */
const TEMPLATE_TOKENS = 512;
const BYTES_PER_TOKEN_ESTIMATE = 4;

/**
 * What can be refused before anything is held, in the spec's order: the body, the agent, then model and tools. Everything
 * that decides the price is read here, once.
 */
export function admitChat(bytes: Buffer, agentStatus: AgentStatus, catalog: Catalog): Admitted {
  const parsed = parseBody(bytes);
  if (isApiError(parsed)) return { ok: false, error: parsed };
  const { object, value } = parsed;

  const checked = parseChatRequest(value);
  if (!checked.ok) return { ok: false, error: checked.error };
  const { request } = checked;

  const agentRefusal = refuseAgent(agentStatus);
  if (agentRefusal !== null) return { ok: false, error: agentRefusal };

  const media = countMedia(request.messages);
  if (isApiError(media)) return { ok: false, error: media };
  const refusal = refuseFields(value) ?? refuseTools(value);
  if (refusal !== null) return { ok: false, error: refusal };

  const models = resolveModels(catalog, request.model, request.models ?? []);
  if (isApiError(models)) return { ok: false, error: models };
  const [first] = models;
  if (first === undefined) return { ok: false, error: apiError('provider_unavailable') };

  const unread = media.files === 0 ? undefined : models.find((each) => !readsFiles(each));
  if (unread !== undefined) return { ok: false, error: noFiles(unread.model.id) };

  const caps = [request.max_tokens, request.max_completion_tokens].filter((cap) => typeof cap === 'number');
  const reasoningCap = isRecord(value.reasoning) ? value.reasoning.max_tokens : null;
  if (typeof reasoningCap === 'number' && caps.length > 0) caps.push(reasoningCap);
  const hasMedia = media.images + media.files + media.others > 0;
  return {
    ok: true,
    plan: {
      endpointName: 'chat/completions',
      body: object,
      stream: request.stream === true,
      showUsage: request.stream !== true || request.stream_options?.include_usage === true,
      model: first.model,
      candidates: models,
      // Media behind a link may fill the context, whichever model's it is.
      promptTokensMax: hasMedia ? Number.MAX_SAFE_INTEGER : promptBytes(object) + TEMPLATE_TOKENS,
      promptEstimateTokens: Math.ceil(bytes.length / BYTES_PER_TOKEN_ESTIMATE),
      outputTokensCap: caps.length === 0 ? null : Math.max(...caps),
      outputCapField:
        typeof request.max_completion_tokens === 'number' ? 'max_completion_tokens' : 'max_tokens',
      extraOutputTokens:
        value.prediction === undefined ? 0 : Buffer.byteLength(JSON.stringify(value.prediction)),
      images: media.images,
      choices: request.n ?? 1,
    },
  };
}

/**
 * Byte-level tokenizers never make more tokens than bytes. The caps are left out, so that a cap that we named as
 * fitting fits when it is sent.
 */
function promptBytes({ members }: JsonObject): number {
  let bytes = 0;
  for (const { key, startsAt, endsAt } of members) if (!CAP_FIELDS.has(key)) bytes += endsAt - startsAt;
  return bytes;
}

const CAP_FIELDS: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens']);

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

/** The wanted model's endpoints, then those of the fallbacks. Every id has to be served, used or not. */
function resolveModels(
  catalog: Catalog,
  wanted: string,
  fallbacks: readonly string[],
): readonly Candidate[] | ApiError {
  if (catalog.gatewayStopped()) return apiError('gateway_unavailable');
  const candidates: Candidate[] = [];
  let stopped = false;
  for (const [index, id] of [wanted, ...fallbacks].entries()) {
    const param = index === 0 ? 'model' : `models[${index - 1}]`;
    const found = resolveModel(catalog, id, param);
    if (isApiError(found)) return found;
    for (const endpoint of inOrder(found.model.endpoints, found.suffixes)) {
      const provider = catalog.provider(endpoint.providerId);
      if (provider === undefined || provider.stopped) stopped = true;
      else candidates.push({ model: found.model, endpoint, provider, suffixes: found.suffixes });
    }
  }
  if (candidates.length === 0 && stopped) return apiError('provider_unavailable');
  return candidates;
}

/** `:floor` asks for the cheapest first; a provider that knows the suffix sorts its own endpoints too. */
function inOrder(endpoints: readonly Endpoint[], suffixes: readonly string[]): readonly Endpoint[] {
  if (!suffixes.includes('floor') || endpoints.length < 2) return endpoints;
  return endpoints.toSorted((a, b) => {
    const difference = a.prices.prompt + a.prices.completion - b.prices.prompt - b.prices.completion;
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  });
}

const bodyBounds = { keysMax: JSON_KEYS_MAX, valuesMax: JSON_VALUES_MAX };

const STEERING: ReadonlySet<string> = new Set(['nitro', 'floor', 'exacto']);

function resolveModel(
  catalog: Catalog,
  id: string,
  param: string,
): { model: Model; suffixes: readonly string[] } | ApiError {
  const whole = catalog.find(id);
  if (whole.status === 'served') return { model: whole.model, suffixes: [] };
  const { base, suffixes } = splitModelId(id);
  const steering = suffixes.filter((suffix) => STEERING.has(suffix));
  const edition = suffixes.filter((suffix) => !STEERING.has(suffix));
  if (edition.includes('online')) {
    return apiError('tool_not_served', { param, message: 'Web search (`:online`) is not served yet.' });
  }
  if (edition.includes('free') || edition.includes('batch')) return modelNotServed(id, param);
  // Spec, What the service does, 6: an id carries one suffix. A provider would refuse several as no model's id.
  if (steering.length > 1) return unknownModel(id, param, [[base, ...edition, steering[0]].join(':')]);

  const entry = steering.length === 0 ? whole : catalog.find([base, ...edition].join(':'));
  switch (entry.status) {
    case 'served':
      return { model: entry.model, suffixes: steering };
    case 'not_served':
      return modelNotServed(id, param);
    case 'unavailable':
      return apiError('catalog_unavailable', { param });
    case 'unknown':
      return unknownModel(id, param, entry.nearest);
  }
}

/** Where a model reads no files, a router has them read by another service, for a price per page that no hold covers. */
const readsFiles = ({ model, provider }: Candidate): boolean =>
  provider.kind === 'openai' || model.inputModalities.includes('file');

const noFiles = (id: string): ApiError =>
  apiError('invalid_request', {
    param: 'messages',
    message: `The model \`${shorten(id)}\` reads no files. Send their text, or choose a model that lists \`file\` input.`,
  });

const modelNotServed = (id: string, param: string): ApiError =>
  apiError('model_not_served', { param, message: `The model \`${shorten(id)}\` is not served here.` });

function unknownModel(id: string, param: string, nearest: readonly string[]): ApiError {
  const hint =
    nearest.length === 0 ? '' : ` Did you mean ${nearest.map((name) => `\`${name}\``).join(' or ')}?`;
  return apiError('unknown_model', { param, message: `No model has the id \`${shorten(id)}\`.${hint}` });
}

const MODEL_ID_CHARS_SHOWN = 100;
const shorten = (id: string): string =>
  id.length > MODEL_ID_CHARS_SHOWN ? `${id.slice(0, MODEL_ID_CHARS_SHOWN)}…` : id;
