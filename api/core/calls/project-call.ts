import type { LedgerEvent } from '../events/ledger-event.ts';
import type { LedgerState } from '../ledger/machine/state.ts';
import type { CallRecord } from './call-record.ts';

/**
 * The call's row in the history after this event, or `null` when the event ends no call. `state` is the ledger
 * before the event, which still has the call's hold. A later row of the same call replaces the earlier one.
 */
export function projectCall(state: LedgerState, event: LedgerEvent): CallRecord | null {
  if (event.type !== 'settled' && event.type !== 'finished') return null;
  const agent = state.agents.get(event.agentId);
  const hold = agent?.holds.get(event.callId);
  const key = hold && agent?.keys.get(hold.keyId);
  if (hold === undefined || key === undefined) return null;
  const { end } = event;
  const settled = event.type === 'settled';
  return {
    callId: hold.callId,
    agentId: event.agentId,
    startedAtMs: hold.startedAtMs,
    durationMs: end.durationMs,
    key: { keyId: key.keyId, label: key.label, prefix: key.prefix },
    call: hold.call,
    outcome: settled ? end.outcome : 'pending',
    httpStatus: end.httpStatus,
    errorCode: end.errorCode,
    tokens: end.tokens,
    reservedNanoUsd: hold.nanoUsd,
    chargedNanoUsd: settled ? BigInt(event.chargedNanoUsd) : 0n,
  };
}
