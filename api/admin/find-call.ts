import type { CallRecord } from '#core/calls/call-record.ts';
import { openCall } from '#core/calls/open-call.ts';
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
  return { record: openCall(hold, key, clock.now()), generationId: hold.generationId };
}
