import type { CallEnd, PendingPrice, TokenCounts } from '../events/ledger-event.ts';
import { attoToNanoUp, type NanoUsd } from '../money.ts';

/** The ladder's lower rungs for a call whose provider told nothing in time: known tokens, else estimates. */
export function costFromSavedPrice(
  end: CallEnd,
  pending: PendingPrice,
): { nanoUsd: NanoUsd; tokens: TokenCounts } {
  const { price } = pending;
  const tokens: TokenCounts = pending.tokensKnown
    ? end.tokens
    : {
        prompt: price.promptEstimateTokens,
        completion: pending.deliveredTokens,
        reasoning: null,
        cached: 0,
      };
  if (!pending.tokensKnown && pending.deliveredTokens === 0)
    return { nanoUsd: 0n, tokens: { prompt: 0, completion: 0, reasoning: null, cached: 0 } };
  const atto =
    BigInt(tokens.prompt - tokens.cached) * BigInt(price.promptAtto) +
    BigInt(tokens.cached) * BigInt(price.cacheReadAtto) +
    BigInt(tokens.completion) * BigInt(price.completionAtto) +
    BigInt(price.requestAtto);
  return { nanoUsd: attoToNanoUp(atto), tokens };
}
