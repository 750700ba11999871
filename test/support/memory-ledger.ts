import type { Clock } from '#core/clock.ts';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';
import type { Executed, Ledger } from '#core/ledger/ledger.ts';
import {
  findKey,
  findLiveKey,
  findVideo,
  findVideoByKey,
  openVideos,
} from '#core/ledger/machine/agent-queries.ts';
import { toAgentSummary, toAgentView, toHoldView } from '#core/ledger/machine/agent-view.ts';
import { apply, applyUnjournaled } from '#core/ledger/machine/apply.ts';
import { decide } from '#core/ledger/machine/decide.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import { agentsWithEnded } from '#core/ledger/machine/lots.ts';
import type { LedgerState } from '#core/ledger/machine/state.ts';

/** The port straight over `decide` and `apply`: everything is durable at once, and nothing outlives the process. */
export interface MemoryLedger extends Ledger {
  readonly state: LedgerState;
  readonly journal: readonly LedgerEvent[];
  /** Its time goes on from its clock's, even if that is earlier. */
  setTimeBack(): void;
}

export function createMemoryLedger(options: { clock: Clock }): MemoryLedger {
  const state = emptyLedger();
  const journal: LedgerEvent[] = [];
  let open = true;
  let lastMs = 0;

  function now(): number {
    lastMs = Math.max(lastMs, options.clock.now());
    return lastMs;
  }

  return {
    state,
    journal,
    setTimeBack() {
      lastMs = options.clock.now();
    },
    async execute<C extends Command>(command: C): Promise<Executed<ResultOf<C>>> {
      const durable = Promise.resolve('durable' as const);
      if (!open) return { result: { ok: false, reason: 'unavailable' }, durable };
      const decision = decide(state, command, now());
      for (const event of decision.events) {
        apply(state, event);
        journal.push(event);
      }
      applyUnjournaled(state, decision);
      return { result: decision.result, durable };
    },
    async findKey(hashes) {
      return open ? findKey(state, hashes) : 'unavailable';
    },
    recallKey: (hashes) => (open ? findLiveKey(state, hashes) : null),
    async readAgent(agentId) {
      if (!open) return 'unavailable';
      const agent = state.agents.get(agentId);
      return agent === undefined ? null : toAgentView(agent, now());
    },
    async listAgents() {
      return open ? Array.from(state.agents.values(), toAgentSummary) : 'unavailable';
    },
    async listEnded(byMs) {
      return open ? agentsWithEnded(state, byMs) : 'unavailable';
    },
    async listHolds() {
      if (!open) return 'unavailable';
      const agents = [...state.agents.values()];
      return agents.flatMap((agent) =>
        Array.from(agent.holds.values(), (hold) => toHoldView(agent.agentId, hold)),
      );
    },
    async readVideo(agentId, videoId) {
      return open ? findVideo(state.agents.get(agentId), videoId, now()) : 'unavailable';
    },
    async findVideoByKey(agentId, idempotencyKey) {
      return open ? findVideoByKey(state.agents.get(agentId), idempotencyKey, now()) : 'unavailable';
    },
    async listOpenVideos() {
      return open ? openVideos(state) : 'unavailable';
    },
    async close() {
      open = false;
    },
  };
}
