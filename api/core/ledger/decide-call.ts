import type { LedgerEventOf } from '../events/ledger-event.ts';
import { idTimeMs } from '../ids.ts';
import { HOLD_LEASE_MS, ORPHAN_MARGIN_MS } from '../limits.ts';
import { minBigint } from '../money.ts';
import type { Finish, FinishResult, Renew, RenewResult, Settle, SettleResult } from './command.ts';
import { changed, type Decision, type GivenUpCall, requireAmount, unchanged } from './decision.ts';
import { findDone } from './done-calls.ts';
import { soundEnd, soundPending } from './sound-end.ts';
import type { AgentState, Hold, LedgerState } from './state.ts';

/** The largest amount that an event can carry: a provider's absurd cost must not stop the journal. */
const OVERRUN_MAX = 99_999_999_999_999_999_999n;

/** A call that has finished has left its slot for good: only its price is open. */
export function decideRenew(state: LedgerState, command: Renew, nowMs: number): Decision<RenewResult> {
  const agent = state.agents.get(command.agentId);
  const hold = agent?.holds.get(command.callId);
  if (agent === undefined || hold === undefined || hold.pending !== null) {
    return unchanged({ ok: false, reason: 'no_hold' });
  }
  const { agentId, callId, generationId, holdsSlot } = command;
  const endsAtMs = holdsSlot ? nowMs + HOLD_LEASE_MS : nowMs;
  const lease = hold.kind === 'video' ? null : { agentId, callId, endsAtMs };
  if (generationId === null || generationId === hold.generationId) {
    return { ...unchanged({ ok: true }), lease };
  }
  const event: LedgerEventOf<'renewed'> = {
    v: 1,
    type: 'renewed',
    agentId,
    version: agent.version + 1,
    atMs: nowMs,
    callId,
    generationId,
  };
  return { ...changed({ ok: true }, event), lease };
}

export function decideFinish(state: LedgerState, command: Finish, nowMs: number): Decision<FinishResult> {
  const agent = state.agents.get(command.agentId);
  if (agent === undefined) return unchanged({ ok: false, reason: 'no_hold' });
  const hold = agent.holds.get(command.callId);
  if (hold === undefined) {
    const done = findDone(agent, command.callId, nowMs);
    if (done === null) return unchanged({ ok: false, reason: 'no_hold' });
    return unchanged({ ok: false, reason: 'done', chargedNanoUsd: done.chargedNanoUsd });
  }
  if (hold.pending !== null) return unchanged({ ok: true, repeated: true });
  const event: LedgerEventOf<'finished'> = {
    v: 1,
    type: 'finished',
    agentId: command.agentId,
    version: agent.version + 1,
    atMs: nowMs,
    callId: command.callId,
    end: soundEnd(command.end),
    pending: soundPending(command.pending),
  };
  return changed({ ok: true, repeated: false }, event);
}

/** Charges the cost, at most what was held: prepaid credit never owes. */
export function decideSettle(state: LedgerState, command: Settle, nowMs: number): Decision<SettleResult> {
  const agent = state.agents.get(command.agentId);
  if (agent === undefined) return unchanged({ ok: false, reason: 'no_hold' });
  const hold = agent.holds.get(command.callId);
  if (hold === undefined) {
    const done = findDone(agent, command.callId, nowMs);
    if (done === null)
      return { ...unchanged({ ok: false, reason: 'no_hold' }), givenUp: releaseOf(command, nowMs) };
    return unchanged({ ok: true, repeated: true, chargedNanoUsd: done.chargedNanoUsd });
  }
  if (command.cause === 'orphan' && !isOrphan(hold, nowMs)) {
    return unchanged({ ok: false, reason: 'not_orphaned' });
  }
  return chargeHold(agent, hold, command, nowMs);
}

/** A call that pays nothing was given up; one that pays was confirmed, so its start cannot be on its way any more. */
function releaseOf({ agentId, callId, costNanoUsd, cause }: Settle, nowMs: number): GivenUpCall | null {
  return cause === 'end' && costNanoUsd === 0n ? { agentId, callId, atMs: nowMs } : null;
}

/**
 * A lapsed lease says nothing; a pending price has the settlement loop, however long that takes. The start is dated by its
 * process, too: a ledger whose clock was five minutes behind at that moment would else end calls that still run.
 */
function isOrphan({ callId, startedAtMs, timeLimitMs, pending }: Hold, nowMs: number): boolean {
  const startedByMs = Math.max(startedAtMs, idTimeMs(callId));
  return pending === null && nowMs >= startedByMs + timeLimitMs + ORPHAN_MARGIN_MS;
}

function chargeHold(agent: AgentState, hold: Hold, command: Settle, nowMs: number): Decision<SettleResult> {
  // An orphan is the gateway's own failure, which is free whatever the command says.
  const cost = command.cause === 'orphan' ? 0n : command.costNanoUsd;
  requireAmount(cost);
  const charged = minBigint(cost, hold.nanoUsd);
  const overrun = cost - charged;
  const event: LedgerEventOf<'settled'> = {
    v: 1,
    type: 'settled',
    agentId: agent.agentId,
    version: agent.version + 1,
    atMs: nowMs,
    callId: hold.callId,
    chargedNanoUsd: String(charged),
    overrunNanoUsd: String(minBigint(overrun, OVERRUN_MAX)),
    end: soundEnd(command.end),
    ...results(hold, command),
  };
  return changed({ ok: true, repeated: false, chargedNanoUsd: charged, overrunNanoUsd: overrun }, event);
}

/** What was made, where something can have been made: an orphan's process did not end it. */
function results(
  hold: Hold,
  { cause, video, stored }: Settle,
): Pick<SettledEvent, 'video' | 'stored'> | null {
  if (cause === 'orphan') return null;
  if (hold.videoId !== null && video !== undefined) return { video };
  return hold.kind === 'image' && stored !== undefined ? { stored } : null;
}

type SettledEvent = LedgerEventOf<'settled'>;
