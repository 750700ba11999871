import { z } from 'zod';
import type { PriceOverride, Prices } from '#core/catalog/catalog.ts';
import { type AttoUsd, maxBigint, parseAttoUsd } from '#core/money.ts';

/** Price steps for longer prompts that one model may have in a provider's list. */
const OVERRIDES_MAX = 100;

/**
 * A decimal string. A bare number has been a float already, and `-1` means that the price is known too late.
 */
export const decimalPrice = z.string().transform((text, ctx): AttoUsd => {
  const atto = parseAttoUsd(text);
  if (atto !== null) return atto;
  ctx.addIssue('no price');
  return z.NEVER;
});
const optionalPrice = decimalPrice.nullish().transform((atto) => atto ?? null);

const tokenPrices = {
  audio: optionalPrice,
  input_cache_read: optionalPrice,
  input_cache_write: optionalPrice,
  input_cache_write_1h: optionalPrice,
};

/** Strict where a price is concerned: one that cannot be read makes the whole model unservable. */
export const pricingRow = z.object({
  ...tokenPrices,
  prompt: decimalPrice,
  completion: decimalPrice,
  request: optionalPrice,
  image: optionalPrice,
  image_token: optionalPrice,
  image_output: optionalPrice,
  audio_output: optionalPrice,
  web_search: optionalPrice,
  internal_reasoning: optionalPrice,
  overrides: z
    .array(
      z.object({
        ...tokenPrices,
        min_prompt_tokens: z.int().nonnegative().nullish(),
        prompt: optionalPrice,
        completion: optionalPrice,
      }),
    )
    .max(OVERRIDES_MAX)
    .nullish(),
});
type PricingRow = z.infer<typeof pricingRow>;

/** `discount` is ignored: whether the prices hold it already is not said, and without it the hold is safe. */
export function importPrices(row: PricingRow): Prices {
  return {
    prompt: row.prompt,
    completion: row.completion,
    request: row.request ?? 0n,
    cacheRead: row.input_cache_read,
    cacheWrite: row.input_cache_write,
    cacheWrite1h: row.input_cache_write_1h,
    // Lists name a zero where thinking costs what the answer costs.
    internalReasoning: row.internal_reasoning === 0n ? null : row.internal_reasoning,
    image: row.image,
    webSearch: row.web_search,
    overrides: [...otherTokens(row), ...(row.overrides ?? []).map(toOverride)],
  };
}

export const isFree = (prices: Prices): boolean =>
  prices.prompt === 0n && prices.completion === 0n && prices.request === 0n;

/**
 * Tokens of sound and images have prices of their own, and what share of a call they are is known only
 * after it. So, where dearer, they count as a price under unknown conditions: the hold covers them.
 */
function otherTokens(row: PricingRow): PriceOverride[] {
  const sound = [row.audio, ...(row.overrides ?? []).map((each) => each.audio)].reduce(dearest);
  const prompt = dearer(row.prompt, dearest(sound, row.image_token));
  const completion = dearer(row.completion, dearest(row.audio_output, row.image_output));
  if (prompt === null && completion === null) return [];
  return [
    { minPromptTokens: null, prompt, completion, cacheRead: null, cacheWrite: null, cacheWrite1h: null },
  ];
}

function toOverride(row: NonNullable<PricingRow['overrides']>[number]): PriceOverride {
  return {
    // A window of the day may begin while the call runs, so alone it is a condition that cannot be known.
    minPromptTokens: row.min_prompt_tokens ?? null,
    prompt: row.prompt,
    completion: row.completion,
    cacheRead: row.input_cache_read,
    cacheWrite: row.input_cache_write,
    cacheWrite1h: row.input_cache_write_1h,
  };
}

const dearest = (a: AttoUsd | null, b: AttoUsd | null): AttoUsd | null =>
  a === null ? b : b === null ? a : maxBigint(a, b);

const dearer = (than: AttoUsd, other: AttoUsd | null): AttoUsd | null =>
  other !== null && other > than ? other : null;
