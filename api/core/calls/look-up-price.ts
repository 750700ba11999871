import { z } from 'zod';
import { type Catalog, reportsCost } from '../catalog/catalog.ts';
import type { FetchProviderJson } from '../catalog/import-source.ts';
import type { TokenCounts } from '../events/ledger-event.ts';
import { BALANCE_CAP_NANO_USD } from '../limits.ts';
import { type AttoUsd, nanoToAtto, parseAttoUsd } from '../money.ts';

/** What the provider's own record says of one answer. */
export interface LookedUpPrice {
  /** Dollars it charged us, without the operator's margin. */
  attoUsd: AttoUsd;
  tokens: TokenCounts | null;
}

/** `null`: not there yet, not reachable, or not sane: ask again, for as long as it is worth it. */
export type LookUpPrice = (providerId: string, generationId: string) => Promise<LookedUpPrice | null>;

const tokens = z.int().nonnegative().max(1_000_000_000).nullish();

const generation = z.object({
  data: z.object({
    total_cost: z.number().nonnegative(),
    is_byok: z.boolean().nullish(),
    upstream_inference_cost: z.number().nonnegative().nullish(),
    native_tokens_prompt: tokens,
    native_tokens_completion: tokens,
    native_tokens_reasoning: tokens,
    native_tokens_cached: tokens,
  }),
});

/** Only routers keep such records; `GET /generation` answers 404 for some time after the call. */
export function createLookUpPrice(catalog: Catalog, fetchJson: FetchProviderJson): LookUpPrice {
  return async (providerId, generationId) => {
    const provider = catalog.provider(providerId);
    if (provider === undefined || !reportsCost(provider)) return null;
    try {
      const path = `/generation?id=${encodeURIComponent(generationId)}`;
      const parsed = generation.safeParse(await fetchJson(provider, path));
      return parsed.success ? readPrice(parsed.data.data) : null;
    } catch {
      return null;
    }
  };
}

const COST_MAX = nanoToAtto(BALANCE_CAP_NANO_USD);

function readPrice(data: z.infer<typeof generation>['data']): LookedUpPrice | null {
  const own = parseAttoUsd(String(data.total_cost));
  // With the operator's own key at the provider, the router's bill holds only its fee.
  const upstream = data.is_byok === true ? parseAttoUsd(String(data.upstream_inference_cost)) : 0n;
  if (own === null || upstream === null || own + upstream > COST_MAX) return null;
  const prompt = data.native_tokens_prompt;
  const completion = data.native_tokens_completion;
  const counted = typeof prompt === 'number' && typeof completion === 'number';
  return {
    attoUsd: own + upstream,
    tokens: counted
      ? {
          prompt,
          completion,
          reasoning: data.native_tokens_reasoning ?? null,
          cached: Math.min(data.native_tokens_cached ?? 0, prompt),
        }
      : null,
  };
}
