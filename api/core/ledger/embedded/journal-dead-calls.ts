import type { CallEnd } from '../../events/ledger-event.ts';
import type { CallId } from '../../ids.ts';
import type { NanoUsd } from '../../money.ts';
import type { Finish, Settle } from '../command.ts';
import type { Hold, LedgerState } from '../machine/state.ts';

/** A call that the process before this one left running. */
export interface CrashedCall {
  agentId: number;
  callId: CallId;
  /** What was held for it. */
  nanoUsd: NanoUsd;
}

export interface DeadCalls {
  /** Charged 0: what the provider may have billed for them is the operator's loss. */
  released: CrashedCall[];
  /** The provider can be asked what they cost: their price is pending. */
  pending: CrashedCall[];
}

/**
 * In embedded mode calls run in the process that decides, and one process owns the folder: whatever runs when a
 * process starts is dead. So it is ended at once, and not only past its time limit, which protects calls of other
 * pods. A video runs on at its provider and is left alone.
 */
export function endDeadCalls(
  state: LedgerState,
  lastAtMs: number,
  execute: (command: Finish | Settle) => void,
): DeadCalls {
  const dead: DeadCalls = { released: [], pending: [] };
  for (const agent of state.agents.values()) {
    for (const hold of [...agent.holds.values()]) {
      if (hold.pending !== null || hold.kind === 'video') continue;
      const call = { agentId: agent.agentId, callId: hold.callId, nanoUsd: hold.nanoUsd };
      if (hold.generationId === null) {
        execute(release(agent.agentId, hold, lastAtMs));
        dead.released.push(call);
      } else {
        execute(leavePending(agent.agentId, hold, lastAtMs));
        dead.pending.push(call);
      }
    }
  }
  return dead;
}

const NO_TOKENS = { prompt: 0, completion: 0, reasoning: null, cached: 0 };

/** Spec: Errors, `gateway_error`: the reserve is released. */
function release(agentId: number, hold: Hold, lastAtMs: number): Settle {
  return {
    type: 'settle',
    agentId,
    callId: hold.callId,
    costNanoUsd: 0n,
    cause: 'end',
    end: { ...endAt(hold, lastAtMs), outcome: 'failed', httpStatus: 500, errorCode: 'gateway_error' },
  };
}

/** The answer had begun: for the caller the connection ended, and it pays what the provider records. */
function leavePending(agentId: number, hold: Hold, lastAtMs: number): Finish {
  const { generationId, price } = hold;
  return {
    type: 'finish',
    agentId,
    callId: hold.callId,
    end: { ...endAt(hold, lastAtMs), outcome: 'stopped', httpStatus: null, errorCode: null },
    pending: { price, generationId, tokensKnown: false, deliveredTokens: 0 },
  };
}

/** When the process died is not known: no later than the next thing that it would have written. */
const endAt = (hold: Hold, lastAtMs: number): Pick<CallEnd, 'tokens' | 'durationMs'> => ({
  tokens: NO_TOKENS,
  durationMs: Math.max(0, lastAtMs - hold.startedAtMs),
});
