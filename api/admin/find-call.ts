import type { CallRecord } from '#core/calls/call-record.ts';
import type { HoldView, KeyView } from '#core/ledger/ledger.ts';
import type { AdminDeps } from './context.ts';

export interface FoundCall {
  record: CallRecord;
  generationId: string | null;
}

/** Open holds are read before the history: a call that ends in between is found in one of the two. */
export async function findCall(
  { ledger, history, clock }: Pick<AdminDeps, 'ledger' | 'history' | 'clock'>,
  callId: number,
): Promise<FoundCall | null | 'ledger_unavailable' | 'history_unavailable'> {
  const holds = await ledger.listHolds();
  const ended = await history.find(callId);
  if (holds === 'unavailable') return 'ledger_unavailable';
  const hold = holds.find((each) => each.callId === callId);
  if (ended !== null && ended !== 'unavailable') {
    return { record: ended, generationId: hold?.generationId ?? null };
  }
  if (hold === undefined) return ended === null ? null : 'history_unavailable';
  const agent = await ledger.readAgent(hold.agentId);
  if (agent === 'unavailable') return 'ledger_unavailable';
  const key = agent?.keys.find((each) => each.keyId === hold.keyId);
  return { record: toOpenCall(hold, key, clock.now()), generationId: hold.generationId };
}

function toOpenCall(hold: HoldView, key: KeyView | undefined, nowMs: number): CallRecord {
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
