import type { HistoryRows, HistoryStore, UsageKey, UsageSum } from '#core/calls/history-store.ts';
import type { AgentStates } from '#core/ledger/cluster/agent-states.ts';
import type { Draw } from '../ledger/history/random.ts';
import type { SimProcess } from './sim-process.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface SimCopiesOptions {
  agents: AgentStates;
  time: VirtualTime;
  draw: Draw;
  count: (what: string) => void;
}

/**
 * The store that people read, with the copies of agents: away at times, and then nobody knows whether a write was done.
 * What is older never replaces what is newer.
 */
export class SimCopies {
  isUp = true;
  /** One request in so many gets no answer; 0: none. */
  failsOneIn = 0;
  readonly agents: AgentStates;
  readonly usage = new Map<string, UsageSum>();
  readonly entries = new Set<string>();
  readonly #options: SimCopiesOptions;

  constructor(options: SimCopiesOptions) {
    this.#options = options;
    this.agents = options.agents;
  }

  /** The copies of agents as one process has them. */
  agentsOf(process: SimProcess): AgentStates {
    const { agents } = this;
    return {
      readCheckpoint: (shard) => this.#ask(process, () => agents.readCheckpoint(shard)),
      readAgents: (shard, onAgent) => this.#ask(process, () => agents.readAgents(shard, onAgent)),
      writeAgents: (shard, at, changed) => this.#ask(process, () => agents.writeAgents(shard, at, changed)),
      writeCheckpoint: (shard, checkpoint) =>
        this.#ask(process, () => agents.writeCheckpoint(shard, checkpoint)),
    };
  }

  /** The history as one process has it. */
  historyOf(process: SimProcess): HistoryStore {
    return {
      write: (rows) => this.#ask(process, async () => this.#write(rows)),
      readUsage: (key) =>
        this.#ask(process, async () => structuredClone(this.usage.get(nameOf(key)) ?? null)),
    };
  }

  #write({ entries, usage }: HistoryRows): void {
    for (const { agentId, epoch, seq } of entries) this.entries.add(`${agentId} ${epoch} ${seq}`);
    for (const sum of usage) {
      const known = this.usage.get(nameOf(sum));
      const isOlder =
        known !== undefined &&
        (known.epoch > sum.epoch || (known.epoch === sum.epoch && known.seq > sum.seq));
      if (!isOlder) this.usage.set(nameOf(sum), { ...sum });
    }
  }

  #ask<T>(process: SimProcess, run: () => Promise<T>): Promise<T> {
    const { time, draw, count } = this.#options;
    return new Promise((resolve, reject) => {
      const later = (give: () => void): void =>
        void time.after(1 + draw(3), () => process.receive(give, draw(3)));
      time.after(1 + draw(draw(10) === 0 ? 300 : 3), () => {
        const fails = !this.isUp || (this.failsOneIn > 0 && draw(this.failsOneIn) === 0);
        // A write that timed out may have been done all the same.
        const done = !fails || draw(2) === 0 ? run() : null;
        if (!fails && done !== null) {
          void done.then((value) => later(() => resolve(value)));
          return;
        }
        count('a copy was not answered');
        later(() => reject(new Error('the store of the copies does not answer')));
      });
    });
  }
}

const nameOf = ({ agentId, day, model }: UsageKey): string => `${agentId} ${day} ${model}`;
