import { z } from 'zod';
import type { LookedUpPrice } from '#core/calls/look-up-price.ts';
import type { PriceRecord } from '#core/catalog/provider-kind.ts';
import { BALANCE_CAP_NANO_USD } from '#core/limits.ts';
import { nanoToAtto, parseAttoUsd } from '#core/money.ts';

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

/** The router's record of one answer. It answers 404 for some time after the call. */
export const price: PriceRecord = {
  path: (generationId) => `/generation?id=${encodeURIComponent(generationId)}`,
  read(record) {
    const parsed = generation.safeParse(record);
    return parsed.success ? readPrice(parsed.data.data) : null;
  },
};

const COST_MAX = nanoToAtto(BALANCE_CAP_NANO_USD);

function readPrice(data: z.infer<typeof generation>['data']): LookedUpPrice | null {
  const own = parseAttoUsd(String(data.total_cost));
  // If the operator has a key of its own at the vendor, the router bills only its fee.
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
