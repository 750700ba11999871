import type { CallEnd, PendingPrice } from '../../events/ledger-event.ts';

/**
 * Counts and durations come from providers and from clocks. One that is no whole number would make a record that
 * no reader accepts, and so stop the journal: it is written as 0 instead. Money is not touched by this.
 */
export function clampCallEnd(end: CallEnd): CallEnd {
  const { tokens } = end;
  const sound =
    isCount(end.durationMs) &&
    isCount(tokens.prompt) &&
    isCount(tokens.completion) &&
    isCount(tokens.cached) &&
    (tokens.reasoning === null || isCount(tokens.reasoning)) &&
    (end.httpStatus === null || Number.isSafeInteger(end.httpStatus));
  if (sound) return end;
  return {
    ...end,
    httpStatus: end.httpStatus === null ? null : count(end.httpStatus),
    durationMs: count(end.durationMs),
    tokens: {
      prompt: count(tokens.prompt),
      completion: count(tokens.completion),
      cached: count(tokens.cached),
      reasoning: tokens.reasoning === null ? null : count(tokens.reasoning),
      ...(tokens.estimated === undefined ? {} : { estimated: tokens.estimated }),
    },
  };
}

export function soundPending(pending: PendingPrice): PendingPrice {
  if (isCount(pending.deliveredTokens)) return pending;
  return { ...pending, deliveredTokens: count(pending.deliveredTokens) };
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

const count = (value: number): number => (isCount(value) ? value : 0);
