import type { LedgerEvent } from '#core/events/ledger-event.ts';
import type { StoredRecord } from '#core/ledger/cluster/ledger-log.ts';
import { decodeLogRecord } from '#core/ledger/cluster/log-record.ts';
import { type Broken, OracleAgent } from './oracle-agent.ts';

export interface ShardOracle {
  epoch: number;
  seq: number;
  /** By seq, as they were stored. */
  events: string[];
  agents: Map<number, OracleAgent>;
}

export interface LogOracleOptions {
  shards: number;
  broken: Broken;
  count: (what: string) => void;
  /** What counts, after it was counted. `trueMs`: no clock is in between. */
  onEvent: (event: LedgerEvent, trueMs: number) => void;
}

/** What the log amounts to, from what its partitions were given, by rules of its own. */
export class LogOracle {
  readonly shards: ShardOracle[];
  readonly #options: LogOracleOptions;

  constructor(options: LogOracleOptions) {
    this.#options = options;
    this.shards = Array.from({ length: options.shards }, () => ({
      epoch: 0,
      seq: 0,
      events: [],
      agents: new Map(),
    }));
  }

  agent(agentId: number): OracleAgent | undefined {
    return this.shards[agentId % this.shards.length]?.agents.get(agentId);
  }

  /** Whether the log has it, and for good: nothing is ever taken from it. */
  has(agentId: number, name: string): boolean {
    return this.agent(agentId)?.done.has(name) ?? false;
  }

  onStored(shardNumber: number, { bytes, appendedAtMs }: StoredRecord): void {
    const shard = this.shards[shardNumber];
    if (shard === undefined) throw new RangeError(`no shard ${shardNumber}`);
    const { broken, count } = this.#options;
    const record = decodeLogRecord(bytes);
    if (record.type === 'heartbeat') return;
    if (record.type === 'mark') {
      if (record.epoch <= shard.epoch) {
        count('void mark');
        return;
      }
      if (record.epoch !== shard.epoch + 1) broken('EPOCH_GAP', { record, epoch: shard.epoch });
      shard.epoch = record.epoch;
      count('epoch');
      return;
    }
    if (record.epoch < shard.epoch) {
      count('void event');
      return;
    }
    if (record.epoch > shard.epoch) broken('EVENT_BEFORE_MARK', { record, epoch: shard.epoch });
    const text = JSON.stringify(record.event);
    if (record.seq <= shard.seq) {
      if (shard.events[record.seq] !== text)
        broken('TWO_HISTORIES', { record, has: shard.events[record.seq] });
      count('duplicate event');
      return;
    }
    if (record.seq !== shard.seq + 1) broken('SEQ_GAP', { record, seq: shard.seq });
    shard.seq = record.seq;
    shard.events[record.seq] = text;
    this.#take(shard, record.event, appendedAtMs);
  }

  #take(shard: ShardOracle, event: LedgerEvent, trueMs: number): void {
    const agent = shard.agents.get(event.agentId) ?? new OracleAgent(event.agentId);
    shard.agents.set(event.agentId, agent);
    this.#options.count(`event ${event.type}`);
    agent.take(event, trueMs, this.#options.broken);
    this.#options.onEvent(event, trueMs);
  }
}
