import type { Catalog, Endpoint, Prices } from '#core/catalog/catalog.ts';
import { splitModelId } from '#core/catalog/model-id.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import type { Candidate } from '../admit/call-plan.ts';
import type { CallRequest } from '../formats/call-format.ts';
import type { EndpointHealth } from './endpoint-health.ts';
import type { ProviderPreferences } from './provider-preferences.ts';
import { modelNotServed, refuseModel, unknownModel } from './refuse-model.ts';

/** The wanted model's endpoints, then those of the fallbacks. Every id has to be served, used or not. */
export function resolveModels(
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

/** An endpoint that may run the call, before it is known in which words. */
export interface Resolved
  extends Omit<
    Candidate,
    'format' | 'translated' | 'serverTools' | 'unrunTools' | 'betaFields' | 'leftOut' | 'hints' | 'editsChat'
  > {
  /** `:online`. */
  searches: boolean;
}

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
    return modelNotServed('model', id, param);
  // Spec: What the service does, 6. An id carries one suffix. A provider would refuse several as no model's id.
  if (own.length > 1) return unknownModel('model', id, param, [[base, ...edition, own[0]].join(':')]);

  const entry = own.length === 0 ? whole : catalog.find([base, ...edition].join(':'));
  switch (entry.status) {
    case 'served':
      // A search is asked for in so many words, with bounds.
      return {
        model: entry.model,
        suffixes: own.filter((suffix) => suffix !== 'online'),
        searches: own.includes('online'),
      };
    default:
      return refuseModel('model', entry, id, param);
  }
}

/** A preset of the operator's account, or whatever is an author's newest: what runs is decided after the hold. */
const namesAnother = (id: string): boolean => id.startsWith('~') || id.includes('@preset/');

/**
 * The endpoints of one model in the order in which they are tried: as the operator wrote them, or as a suffix or `provider.sort` steers.
 * `:floor` takes the cheapest, `:nitro` the one with most tokens a second lately, `:exacto` the one whose calls with tools
 * failed least. What is not known yet counts as the best, so that it becomes known.
 */
export function orderEndpoints<Each extends { endpoint: Endpoint }>(
  all: readonly Each[],
  steering: string | null,
  health: EndpointHealth,
): readonly Each[] {
  if (all.length < 2) return all;
  switch (steering) {
    case 'floor':
      return all.toSorted((a, b) => compare(priceOf(a.endpoint.prices), priceOf(b.endpoint.prices)));
    case 'nitro':
      return mostFirst(all, ({ endpoint }) => health.tokensPerMs(endpoint));
    case 'exacto':
      return mostFirst(all, ({ endpoint }) => health.toolSuccess(endpoint));
    default:
      return all;
  }
}

const priceOf = ({ prompt, completion }: Prices): bigint => prompt + completion;
const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);

function mostFirst<Each>(all: readonly Each[], of: (each: Each) => number | null): readonly Each[] {
  const value = (each: Each): number => of(each) ?? Number.POSITIVE_INFINITY;
  return all.toSorted((a, b) => {
    const [left, right] = [value(a), value(b)];
    return left === right ? 0 : right - left;
  });
}
