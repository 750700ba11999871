import type { Catalog } from '#core/catalog/catalog.ts';
import type { AgentStatus } from '#core/ledger/machine/state.ts';
import { TOOL_ENTRIES_MAX, TOOL_KEYS_MAX } from '#core/limits.ts';
import { isSteps, runAtOnce, type Steps } from '#core/steps.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import type { CallFormat, CallRequest } from '../formats/call-format.ts';
import { refuseAgent } from '../hold/refuse-start.ts';
import type { JsonObject } from '../json/json-object.ts';
import type { LinkRules, MediaCount } from '../linked-images/linked-media.ts';
import { refuseSpellings } from '../policy/member-policy.ts';
import { refuseManyToolKeys } from '../policy/tool-bounds.ts';
import { estimateTokens } from '../price/estimate.ts';
import { printedNumberBytes, promptBytes, tokensBesideText } from '../price/prompt-bound.ts';
import { promptTextBytes } from '../price/prompt-text.ts';
import { chooseCandidates } from '../routing/choose-candidates.ts';
import type { EndpointHealth } from '../routing/endpoint-health.ts';
import { readPreferences } from '../routing/provider-preferences.ts';
import { shorten } from '../routing/refuse-model.ts';
import { type Resolved, resolveModels } from '../routing/resolve-models.ts';
import { skipOpenEndpoints } from '../routing/skip-open-endpoints.ts';
import { readServerTools } from '../server-tools/read-server-tools.ts';
import type { CallPlan } from './call-plan.ts';
import { parseBodyInSteps } from './parse-body.ts';

/** What is known of those who may run a call. */
export interface Routes {
  catalog: Catalog;
  health: EndpointHealth;
  links: LinkRules;
  /** Betas of the messages format that the caller switched on; `null` or missing: none. */
  betas?: string | null;
  /** Whether the client reads usage in streams that it has not asked for it; missing: no. */
  readsUsage?: boolean;
}

export type Admitted = { ok: true; plan: CallPlan } | { ok: false; error: ApiError };

/**
 * What can be refused before anything is held, in the spec's order: the body, the agent, then model and tools. Everything
 * that decides the price is read here, once.
 */
export const admitCall = (
  format: CallFormat,
  bytes: Buffer,
  agentStatus: AgentStatus,
  routes: Routes,
): Admitted => runAtOnce(admitInSteps(format, bytes, agentStatus, routes));

/** The same for a large body. The worst of four megabytes take some ten to thirty milliseconds a step. */
export function* admitInSteps(
  format: CallFormat,
  bytes: Buffer,
  agentStatus: AgentStatus,
  routes: Routes,
): Steps<Admitted> {
  const parse = parseBodyInSteps(bytes);
  const parsed = isSteps(parse) ? yield* parse : parse;
  if (isApiError(parsed)) return { ok: false, error: parsed };
  const { object, value } = parsed;
  const mayHaveManyToolKeys = object.keyCount > TOOL_KEYS_MAX || object.valueCount > TOOL_ENTRIES_MAX;
  const tooLarge = mayHaveManyToolKeys ? refuseManyToolKeys(value) : null;
  if (tooLarge !== null) return { ok: false, error: tooLarge };
  const checked = format.readRequest(value);
  if (!checked.ok) return checked;

  yield 'schema';
  const agentRefusal = refuseAgent(agentStatus);
  if (agentRefusal !== null) return { ok: false, error: agentRefusal };

  const spelling = object.hasFoldableKey ? refuseSpellings(format.name, value) : null;
  if (spelling !== null) return { ok: false, error: spelling };
  yield 'spellings';
  const media = format.countMedia(value, routes.links);
  if (isApiError(media)) return { ok: false, error: media };
  yield 'media';
  const refusal = format.refuseFields(value) ?? format.refuseTools(value);
  if (refusal !== null) return { ok: false, error: refusal };
  yield 'check';
  return yield* planCall({ format, object, value, request: checked.request, media }, routes);
}

/** A body that no rule for its own content refuses. */
interface ReadCall {
  format: CallFormat;
  object: JsonObject;
  value: Readonly<Record<string, unknown>>;
  request: CallRequest;
  media: MediaCount;
}

/** Which endpoints may run the call, in which words, and what it may cost. */
function* planCall(
  { format, object, value, request, media }: ReadCall,
  { catalog, health, betas = null, readsUsage = false }: Routes,
): Steps<Admitted> {
  const preferences = readPreferences(value.provider);
  const resolved = resolveModels(catalog, health, request, preferences);
  if (isApiError(resolved)) return { ok: false, error: resolved };

  const unread = media.files === 0 ? undefined : resolved.find((each) => !readsFiles(each));
  if (unread !== undefined) return { ok: false, error: noFiles(unread.model.id) };

  const serverTools = readServerTools(value);
  if (serverTools !== null && isApiError(serverTools)) return { ok: false, error: serverTools };
  const chosen = yield* chooseCandidates(resolved, {
    format,
    object,
    value,
    request,
    media,
    serverTools,
    preferences,
    betas,
  });
  if (isApiError(chosen)) return { ok: false, error: chosen };
  const candidates = skipOpenEndpoints(chosen, health);
  if (isApiError(candidates)) return { ok: false, error: candidates };
  const [first] = candidates;
  if (first === undefined) return { ok: false, error: apiError('provider_unavailable') };

  // Media behind a link may fill the context, whichever model's it is.
  let promptTokensMax = Number.MAX_SAFE_INTEGER;
  if (media.firstAt === null) {
    const numberBytes = printedNumberBytes(object, value);
    yield 'numbers';
    promptTokensMax = promptBytes(object, format.capFields) + numberBytes + tokensBesideText(value);
    yield 'layout';
  }
  const plan: CallPlan = {
    format,
    ...request,
    showUsage: request.showUsage ?? readsUsage,
    body: object,
    model: first.model,
    candidates,
    promptTokensMax,
    promptEstimateTokens: estimateTokens(promptTextBytes(value)),
    betas,
    images: media.images,
    linkedImages: media.linkedImages,
  };
  yield 'estimate';
  return { ok: true, plan };
}

/** If a model reads no files, some providers have them read by another service, at a price per page that no hold covers. */
const readsFiles = ({ model, provider }: Resolved): boolean =>
  !provider.kind.capabilities.readsFilesForModels || model.inputModalities.includes('file');

const noFiles = (id: string): ApiError =>
  apiError('invalid_request', {
    param: 'messages',
    message: `The model \`${shorten(id)}\` reads no files. Send their text, or choose a model that lists \`file\` input.`,
  });
