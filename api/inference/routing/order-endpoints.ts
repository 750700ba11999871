import type { Endpoint, Prices } from '#core/catalog/catalog.ts';
import type { EndpointHealth } from './endpoint-health.ts';

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
