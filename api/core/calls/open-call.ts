import type { HoldView, KeyView } from '../ledger/ledger.ts';
import type { CallRecord } from './call-record.ts';

/** A call that still runs, or waits for its price, as lists show it: the history has it only once it has ended. */
export function openCall(hold: HoldView, key: KeyView | undefined, nowMs: number): CallRecord {
  const { callId, agentId, keyId, startedAtMs, call, pending, nanoUsd } = hold;
  return {
    callId,
    agentId,
    startedAtMs,
    durationMs: pending?.end.durationMs ?? Math.max(0, nowMs - startedAtMs),
    key: { keyId, label: key?.label ?? '', prefix: key?.prefix ?? '' },
    call,
    outcome: pending === null ? 'running' : 'pending',
    httpStatus: pending?.end.httpStatus ?? null,
    errorCode: pending?.end.errorCode ?? null,
    tokens: pending?.end.tokens ?? { prompt: 0, completion: 0, reasoning: null, cached: 0 },
    reservedNanoUsd: nanoUsd,
    chargedNanoUsd: 0n,
  };
}
