import { REFUSED_START_BYTES } from '#core/limits.ts';
import { type ErrorCode, errorTable } from '../contract/errors.ts';
import type { Gateway } from './gateway.ts';

/** A refusal costs an agent no money, so it has a rate of its own, by the work that its body made. */
export function countRefusedStart(
  { refusedStarts, limits, clock }: Pick<Gateway, 'refusedStarts' | 'limits' | 'clock'>,
  agentId: number,
  bodyBytes: number,
  code: ErrorCode,
): void {
  const { status } = errorTable[code];
  // An outage of ours is not the agent's doing, nor is what comes with a key that it has revoked; and who is told to wait
  // has to find the wait to be true.
  if (status >= 500 || code === 'invalid_api_key') return;
  const ofBody = status === 429 ? 0 : Math.floor(bodyBytes / REFUSED_START_BYTES);
  refusedStarts.spend(agentId, clock.monotonicMs(), Math.min(1 + ofBody, limits().burst));
}
