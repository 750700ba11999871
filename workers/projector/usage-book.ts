import type { HistoryStore, UsageKey, UsageSum } from '#core/calls/history-store.ts';
import type { NanoUsd } from '#core/money.ts';

/** Sums of usage that a shard's projection keeps in memory. Others are read again. */
export const USAGE_SUMS_KEPT = 4_000;

/** A call whose cost is known. */
export interface CountedCall extends UsageKey {
  modelName: string;
  tokens: number;
  chargedNanoUsd: NanoUsd;
  /** Of the event that settled it. */
  epoch: number;
  seq: number;
}

/**
 * Sums of usage, each read once and then counted on here. A sum says up to which event it goes, so whoever counts the
 * same log again, from wherever, comes to the same sum.
 */
export class UsageBook {
  readonly #read: HistoryStore['readUsage'];
  /** The one used last comes last. */
  readonly #sums = new Map<string, UsageSum>();

  constructor(read: HistoryStore['readUsage']) {
    this.#read = read;
  }

  /** To be done before they are counted. May be repeated. */
  async load(calls: readonly CountedCall[]): Promise<void> {
    const missing = new Map<string, UsageKey>();
    for (const call of calls) if (!this.#sums.has(nameOf(call))) missing.set(nameOf(call), call);
    // All or none: a read that comes late, after another has failed, must not undo what was counted since.
    const read = await Promise.all(
      Array.from(missing, async ([name, { agentId, day, model }]) => {
        const key = { agentId, day, model };
        return { name, sum: (await this.#read(key)) ?? { ...key, ...NOTHING } };
      }),
    );
    for (const { name, sum } of read) this.#sums.set(name, sum);
  }

  /** The sums that have changed, to be written before anything else is counted. */
  count(calls: readonly CountedCall[]): UsageSum[] {
    const changed = new Set<UsageSum>();
    for (const call of calls) {
      const name = nameOf(call);
      const sum = this.#sums.get(name);
      if (sum === undefined) throw new Error('a sum of usage was not loaded');
      this.#sums.delete(name);
      this.#sums.set(name, sum);
      if (call.seq <= sum.seq) continue;
      sum.modelName = call.modelName;
      sum.calls += 1;
      sum.tokens += call.tokens;
      sum.chargedNanoUsd += call.chargedNanoUsd;
      sum.epoch = call.epoch;
      sum.seq = call.seq;
      changed.add(sum);
    }
    for (const name of this.#sums.keys()) {
      if (this.#sums.size <= USAGE_SUMS_KEPT) break;
      this.#sums.delete(name);
    }
    return [...changed];
  }
}

const NOTHING = { modelName: '', calls: 0, tokens: 0, chargedNanoUsd: 0n, epoch: 0, seq: 0 };

const nameOf = ({ agentId, day, model }: UsageKey): string => `${agentId} ${day} ${model}`;
