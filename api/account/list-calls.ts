import type { CallHistory } from '#core/calls/call-history.ts';
import type { CallRecord } from '#core/calls/call-record.ts';
import { openCall } from '#core/calls/open-call.ts';
import type { Clock } from '#core/clock.ts';
import type { CallId } from '#core/ids.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { type CallPage, shapeCallRecord, writeCallCursor } from '../contract/call-entry.ts';
import { readAccount } from './read-account.ts';

export interface CallsDeps {
  ledger: Pick<Ledger, 'readAgent'>;
  history: Pick<CallHistory, 'list'>;
  clock: Pick<Clock, 'now'>;
}

export interface CallsAsked {
  agentId: number;
  /** Only this key's calls. */
  keyId: number | undefined;
  limit: number;
  /** The last call of the page before. */
  beforeCallId: CallId | undefined;
}

export type ListCallsResult =
  | { ok: true; page: CallPage }
  | { ok: false; reason: 'unknown_key' | 'unavailable' };

/**
 * Newest first by their ids, which never change: a call that starts or ends meanwhile moves no other to another page. Open
 * holds are read before the history, which wins, so that a call that ends in between is seen once.
 */
export async function listCalls(
  deps: CallsDeps,
  { agentId, keyId, limit, beforeCallId }: CallsAsked,
): Promise<ListCallsResult> {
  const agent = await readAccount(deps, agentId);
  if (agent === 'unavailable') return { ok: false, reason: 'unavailable' };
  const keys = new Map(agent.keys.map((key) => [key.keyId, key]));
  if (keyId !== undefined && !keys.has(keyId)) return { ok: false, reason: 'unknown_key' };
  // One more than the page has tells whether another follows.
  const wanted = limit + 1;
  const ended = await deps.history.list({
    agentId,
    limit: wanted,
    ...(keyId === undefined ? {} : { keyId }),
    ...(beforeCallId === undefined ? {} : { beforeCallId }),
  });
  if (ended === 'unavailable') return { ok: false, reason: 'unavailable' };
  const nowMs = deps.clock.now();
  const open = agent.holds
    .filter((hold) => keyId === undefined || hold.keyId === keyId)
    .filter(({ callId }) => beforeCallId === undefined || callId < beforeCallId)
    .map((hold) => openCall(hold, keys.get(hold.keyId), nowMs));
  return { ok: true, page: toPage(merge(open, ended).slice(0, wanted), limit) };
}

function merge(open: readonly CallRecord[], ended: readonly CallRecord[]): CallRecord[] {
  const byId = new Map([...open, ...ended].map((call) => [call.callId, call]));
  return [...byId.values()].sort((a, b) => b.callId - a.callId);
}

function toPage(found: readonly CallRecord[], limit: number): CallPage {
  const calls = found.slice(0, limit);
  const last = found.length > limit ? calls.at(-1) : undefined;
  return {
    calls: calls.map(shapeCallRecord),
    next: last === undefined ? null : writeCallCursor(last.callId),
  };
}
