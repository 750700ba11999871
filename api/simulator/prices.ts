import { type AttoUsd, attoUsd, maxBigint } from '#core/money.ts';

/** Prices as OpenRouter's rows carry them: dollars per single unit, as decimal text. `-1`: known after routing. */
export interface PriceList {
  prompt: string;
  completion: string;
  request?: string;
  image?: string;
  internal_reasoning?: string;
  input_cache_read?: string;
  input_cache_write?: string;
  input_cache_write_1h?: string;
  /** A search of the model's own. */
  web_search?: string;
  overrides?: readonly PriceOverride[];
}

/** For prompts of strictly more than `min_prompt_tokens`; keys that are missing keep the plain price. */
export interface PriceOverride {
  min_prompt_tokens: number;
  prompt?: string;
  completion?: string;
  input_cache_read?: string;
  input_cache_write?: string;
}

export interface TokenUse {
  promptTokens: number;
  /** Part of `promptTokens`. */
  cachedTokens: number;
  completionTokens: number;
  /** Part of `completionTokens`. */
  reasoningTokens: number;
  images: number;
}

/** Exact; nothing is rounded here. */
export type Pricer = (use: TokenUse) => AttoUsd;

interface AttoPrices {
  prompt: AttoUsd;
  completion: AttoUsd;
  request: AttoUsd;
  image: AttoUsd;
  reasoning: AttoUsd;
  cacheRead: AttoUsd;
  /** Every token of the prompt at the dearest: read plainly, from a cache, or written to one. */
  dearestInput: AttoUsd;
}

export const createPricer = (list: PriceList): Pricer => pricer(list, cost);

/** All tokens at the dearest of their prices: what a provider may bill at the most. */
export const createDearestPricer = (list: PriceList): Pricer => pricer(list, dearestCost);

function pricer(list: PriceList, costBy: typeof cost): Pricer {
  const plain = attoPrices(list);
  const overrides = (list.overrides ?? []).map((override) => ({
    minPromptTokens: override.min_prompt_tokens,
    prices: attoPrices({ ...list, ...override }),
  }));
  return (use) => {
    // Several entries may apply; the later one wins.
    const override = overrides.findLast((entry) => use.promptTokens > entry.minPromptTokens);
    return costBy(override?.prices ?? plain, use);
  };
}

function cost(prices: AttoPrices, use: TokenUse): AttoUsd {
  return (
    BigInt(use.promptTokens - use.cachedTokens) * prices.prompt +
    BigInt(use.cachedTokens) * prices.cacheRead +
    BigInt(use.completionTokens - use.reasoningTokens) * prices.completion +
    BigInt(use.reasoningTokens) * prices.reasoning +
    BigInt(use.images) * prices.image +
    prices.request
  );
}

function dearestCost(prices: AttoPrices, use: TokenUse): AttoUsd {
  return (
    BigInt(use.promptTokens) * prices.dearestInput +
    BigInt(use.completionTokens) * maxBigint(prices.completion, prices.reasoning) +
    BigInt(use.images) * prices.image +
    prices.request
  );
}

function attoPrices(list: PriceList): AttoPrices {
  const completion = atto(list.completion);
  const prompt = atto(list.prompt);
  return {
    prompt,
    completion,
    request: atto(list.request ?? '0'),
    image: atto(list.image ?? '0'),
    reasoning: list.internal_reasoning === undefined ? completion : atto(list.internal_reasoning),
    cacheRead: list.input_cache_read === undefined ? prompt : atto(list.input_cache_read),
    dearestInput: [list.input_cache_read, list.input_cache_write, list.input_cache_write_1h]
      .map((text) => (text === undefined ? prompt : atto(text)))
      .reduce(maxBigint, prompt),
  };
}

/** A router's `-1` never prices a call: its calls run on another model. */
const atto = (text: string): AttoUsd => (text === '-1' ? 0n : attoUsd(text));
