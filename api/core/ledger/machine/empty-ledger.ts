import { GivenUpCalls } from './given-up-calls.ts';
import { KeyVersions } from './key-versions.ts';
import { OpenCallMap } from './open-call-map.ts';
import { RecentlySettled } from './recently-settled.ts';
import type { AgentState, LedgerState } from './state.ts';
import { VideoTable } from './video-table.ts';

export const emptyLedger = (): LedgerState => ({ agents: new Map(), keysByHash: new Map() });

/** An agent before its first event: version 0, no status from any source, so inactive. */
export function newAgent(agentId: number, name: string, createdAtMs: number): AgentState {
  return {
    agentId,
    version: 0,
    name,
    token: null,
    createdAtMs,
    statusBySource: new Map(),
    lots: [],
    grantedNanoUsd: 0n,
    chargedNanoUsd: 0n,
    expiredNanoUsd: 0n,
    movedInNanoUsd: 0n,
    movedOutNanoUsd: 0n,
    startsTatUs: 0,
    leases: new OpenCallMap(),
    holds: new OpenCallMap(),
    done: new RecentlySettled(),
    givenUp: new GivenUpCalls(),
    keys: new Map(),
    keyVersions: new KeyVersions(),
    chargedToday: { periodStartMs: 0, nanoUsd: 0n },
    grants: new Map(),
    trades: new Map(),
    mcpKeysMadeAtMs: [],
    uploads: new Map(),
    videos: new VideoTable(),
    stored: new Map(),
    prunedAtMs: createdAtMs,
  };
}

/** Puts a restored agent, with its keys' hashes, into a ledger that is being rebuilt. */
export function addAgent(state: LedgerState, agent: AgentState): void {
  state.agents.set(agent.agentId, agent);
  for (const key of agent.keys.values()) {
    state.keysByHash.set(key.hash, { agentId: agent.agentId, keyId: key.keyId });
  }
}
