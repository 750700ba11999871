import type { LedgerEvent } from '#core/events/ledger-event.ts';
import { followStored, LOG_START, type LogPosition } from '#core/ledger/cluster/effective-log.ts';
import type { LedgerLog } from '#core/ledger/cluster/ledger-log.ts';
import { foldEvent } from '#core/ledger/machine/apply.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import { spendableNanoUsd } from '#core/ledger/machine/lots.ts';
import type { AgentState } from '#core/ledger/machine/state.ts';

/** What the log says by itself, folded from its first record by the state machine: the truth to compare with. */
export class LogBook {
  readonly #log: LedgerLog;
  readonly #state = emptyLedger();
  readonly #positions: readonly LogPosition[];
  readonly #offsets: Map<number, bigint>;
  readonly #charges = new Map<string, bigint>();
  readonly #spendable = new Map<number, Set<bigint>>();
  readonly #problems: string[] = [];
  #reading: Promise<void> = Promise.resolve();

  constructor(log: LedgerLog, shards: number) {
    this.#log = log;
    this.#positions = Array.from({ length: shards }, () => ({ ...LOG_START }));
    this.#offsets = new Map(this.#positions.map((_, shard) => [shard, 0n]));
  }

  /** Up to the log's present end. Rejects where the log does not answer. */
  readOn(): Promise<void> {
    this.#reading = this.#reading.catch(() => undefined).then(() => this.#readOn());
    return this.#reading;
  }

  async #readOn(): Promise<void> {
    await this.#log.readToEnd(new Map(this.#offsets), (shard, record) => {
      const position = this.#positions[shard];
      if (position === undefined || record.offset < (this.#offsets.get(shard) ?? 0n)) return;
      this.#offsets.set(shard, record.offset + 1n);
      try {
        const event = followStored(position, record);
        if (event !== null) this.#fold(event);
      } catch (error) {
        this.#problems.push(`shard ${shard} cannot be folded at ${record.offset}: ${error}`);
      }
    });
  }

  #fold(event: LedgerEvent): void {
    foldEvent(this.#state, event);
    const agent = this.#state.agents.get(event.agentId);
    if (agent !== undefined) this.#note(agent, event.atMs);
    if (event.type !== 'settled') return;
    const name = callName(event.agentId, event.callId);
    if (this.#charges.has(name)) this.#problems.push(`call ${name} was settled twice`);
    this.#charges.set(name, BigInt(event.chargedNanoUsd));
  }

  #note(agent: AgentState, atMs: number): void {
    // Before its first credit an agent has nothing, which would be the least that it ever had.
    if (agent.grantedNanoUsd === 0n) return;
    const spendable = spendableNanoUsd(agent, atMs);
    const { agentId } = agent;
    const seen = this.#spendable.get(agentId) ?? new Set<bigint>();
    this.#spendable.set(agentId, seen.add(spendable));
    if (agent.lots.some((lot) => lot.freeNanoUsd < 0n || lot.heldNanoUsd < 0n)) {
      this.#problems.push(`agent ${agentId} was below zero`);
    }
  }

  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Of the calls that have ended, by their names. */
  get charges(): ReadonlyMap<string, bigint> {
    return this.#charges;
  }

  agent(agentId: number): AgentState {
    const agent = this.#state.agents.get(agentId);
    if (agent === undefined) throw new Error(`the log knows no agent ${agentId}`);
    return agent;
  }

  /** All that the agent could ever spend, each amount as it was after one of its events. */
  spendable(agentId: number): ReadonlySet<bigint> {
    return this.#spendable.get(agentId) ?? new Set();
  }
}

/** Two agents may have drawn the same id. */
export const callName = (agentId: number, callId: number): string => `${agentId}:${callId}`;
