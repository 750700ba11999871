import type { TokenCounts } from '../events/ledger-event.ts';
import type { AttoUsd } from '../money.ts';

/** What one call's tokens cost, exactly. Thinking is part of the completion; both caches are part of the prompt. */
export function tokenCost(tokens: TokenCounts, prices: TokenPrices): AttoUsd {
  const { prompt, completion, cached, cacheWritten = 0 } = tokens;
  const reasoning = Math.min(tokens.reasoning ?? 0, completion);
  return (
    BigInt(prompt - cached - cacheWritten) * prices.prompt +
    BigInt(cached) * prices.cacheRead +
    BigInt(cacheWritten) * prices.cacheWrite +
    BigInt(completion - reasoning) * prices.completion +
    BigInt(reasoning) * prices.reasoning
  );
}

/** Per token. */
export interface TokenPrices {
  prompt: AttoUsd;
  completion: AttoUsd;
  cacheRead: AttoUsd;
  cacheWrite: AttoUsd;
  reasoning: AttoUsd;
}
