import type { CallEnd, PendingPrice, TokenCounts } from '../events/ledger-event.ts';
import { attoToNanoUp, type NanoUsd } from '../money.ts';
import { tokenCost } from './token-cost.ts';

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
        estimated: true,
      };
  if (!pending.tokensKnown && pending.deliveredTokens === 0 && pending.promptRead !== true)
    return { nanoUsd: 0n, tokens: { prompt: 0, completion: 0, reasoning: null, cached: 0 } };
  const ofTokens = price.longPrompts?.findLast(({ overTokens }) => tokens.prompt > overTokens) ?? price;
  const { promptAtto, completionAtto, cacheReadAtto, cacheWriteAtto = promptAtto } = ofTokens;
  const atto = tokenCost(tokens, {
    prompt: BigInt(promptAtto),
    completion: BigInt(completionAtto),
    cacheRead: BigInt(cacheReadAtto),
    cacheWrite: BigInt(cacheWriteAtto),
    reasoning: BigInt(price.reasoningAtto ?? completionAtto),
  });
  return { nanoUsd: attoToNanoUp(atto + BigInt(price.requestAtto)), tokens };
}
