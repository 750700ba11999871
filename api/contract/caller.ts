import type { AgentStatus } from '#core/ledger/machine/state.ts';

/** Whose key it is. The status refuses only what starts a call. */
export interface Caller {
  agentId: number;
  keyId: number;
  agentStatus: AgentStatus;
}
