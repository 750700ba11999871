import { MINUTE_MS, startOfDayMs } from '../../clock.ts';
import type { LedgerEvent } from '../../events/ledger-event.ts';
import { applyFinished, applyRenewed, applyReserved, applySettled } from './call.ts';
import { applyExpired, applyGranted } from './credit.ts';
import type { Decision } from './decision.ts';
import { newAgent } from './empty-ledger.ts';
import { isAhead } from './is-ahead.ts';
import { applyKeyPut, applyKeyRevoked } from './key.ts';
import { LedgerEventError, LedgerGapError } from './ledger-errors.ts';
import { applyMovedIn, applyMovedOut, applyMoveRefused } from './move.ts';
import type { AgentState, LedgerState } from './state.ts';
import { forgetStored } from './stored-images.ts';
import { applyUploadStarted, forgetUploads } from './upload.ts';
import { applyVideoClaimed, applyVideoSubmitted, applyVideoWithdrawn } from './video.ts';

/**
 * Changes the state that it is given; the only thing that does. It never re-decides: an event says what happened.
 * Throws `LedgerGapError` or `LedgerEventError`, and then has changed nothing.
 */
export function apply(state: LedgerState, event: LedgerEvent): void {
  const known = state.agents.get(event.agentId);
  const expected = (known?.version ?? 0) + 1;
  if (event.version !== expected) throw new LedgerGapError(event, expected);
  const agent = known ?? firstOf(event);
  change(state, agent, event);
  agent.version = event.version;
  if (known === undefined) state.agents.set(agent.agentId, agent);
  else prune(agent, event.atMs);
}

/** For a fold over a log that may repeat itself. */
export function foldEvent(state: LedgerState, event: LedgerEvent): 'applied' | 'skipped' {
  const version = state.agents.get(event.agentId)?.version ?? 0;
  if (event.version <= version) return 'skipped';
  apply(state, event);
  return 'applied';
}

/**
 * Keeps a running call's slot or ends its lease, and marks a call that was given up. Neither is journaled: after a fold, slots end where
 * their reserve put them, and a start that was late before a crash cannot arrive after it.
 */
export function applyUnjournaled(state: LedgerState, { lease, givenUp }: Unjournaled): void {
  if (lease !== null) state.agents.get(lease.agentId)?.leases.set(lease.callId, lease.endsAtMs);
  if (givenUp !== null) state.agents.get(givenUp.agentId)?.givenUp.note(givenUp.callId, givenUp.atMs);
}

type Unjournaled = Pick<Decision<unknown>, 'lease' | 'givenUp'>;

/** Credit and the refusal of a trade may name an agent that nobody has announced: it is made, inactive. */
function firstOf(event: LedgerEvent): AgentState {
  switch (event.type) {
    case 'agent_set':
    case 'granted':
    case 'moved_in':
    case 'move_refused':
      return newAgent(event.agentId, `agent ${event.agentId}`, event.atMs);
    default:
      throw new LedgerEventError(event, 'no such agent');
  }
}

function change(state: LedgerState, agent: AgentState, event: LedgerEvent): void {
  switch (event.type) {
    case 'reserved':
      applyReserved(agent, event);
      break;
    case 'settled':
      applySettled(agent, event);
      break;
    case 'renewed':
      applyRenewed(agent, event);
      break;
    case 'finished':
      applyFinished(agent, event);
      break;
    case 'granted':
      applyGranted(agent, event);
      break;
    case 'expired':
      applyExpired(agent, event);
      break;
    case 'moved_out':
      applyMovedOut(agent, event);
      break;
    case 'move_refused':
      applyMoveRefused(agent, event);
      break;
    case 'moved_in':
      applyMovedIn(agent, event);
      break;
    case 'key_put':
      applyKeyPut(state, agent, event);
      break;
    case 'key_revoked':
      applyKeyRevoked(agent, event);
      break;
    case 'upload_started':
      applyUploadStarted(agent, event);
      break;
    case 'video_claimed':
      applyVideoClaimed(agent, event);
      break;
    case 'video_submitted':
      applyVideoSubmitted(agent, event);
      break;
    case 'video_withdrawn':
      applyVideoWithdrawn(agent, event);
      break;
    case 'agent_set': {
      const { source, sourceVersion, status } = event;
      agent.statusBySource.set(source, { sourceVersion, status });
      agent.name = event.name;
      agent.token = event.token;
      break;
    }
    default:
      event satisfies never;
  }
}

/**
 * Clears away what no longer counts, by the event's own time, so that every fold forgets the same at the same
 * event. Ended calls and videos once a minute, because it walks through an hour of them; grants, trades, uploads and
 * images once a day, when lots end.
 */
export function prune(agent: AgentState, atMs: number): void {
  if (atMs - agent.prunedAtMs < MINUTE_MS && !isAhead(agent.prunedAtMs, atMs)) return;
  agent.done.forget(atMs);
  agent.videos.forget(atMs);
  if (startOfDayMs(atMs) > agent.prunedAtMs) {
    for (const [grantId, keptUntilMs] of agent.grants) if (keptUntilMs <= atMs) agent.grants.delete(grantId);
    for (const [name, trade] of agent.trades) if (trade.keptUntilMs <= atMs) agent.trades.delete(name);
    forgetUploads(agent, atMs);
    forgetStored(agent, atMs);
  }
  agent.prunedAtMs = atMs;
}
