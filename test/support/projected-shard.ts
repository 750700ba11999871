import type { HistoryStore } from '#core/calls/history-store.ts';
import { type Clock, systemClock } from '#core/clock.ts';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import type { AgentStates } from '#core/ledger/cluster/agent-states.ts';
import type { StoredRecord } from '#core/ledger/cluster/ledger-log.ts';
import { eventRecordText, markRecordText } from '#core/ledger/cluster/log-record.ts';
import type { Log } from '#core/log.ts';
import { ShardProjection } from '../../workers/projector/shard-projection.ts';

/** A shard's log as its projection reads it: a mark of epoch 1, then the events. */
export class ProjectedShard {
  readonly shard: number;
  readonly #records: StoredRecord[] = [];
  #seq = 0;

  constructor(shard: number) {
    this.shard = shard;
    this.appendText(markRecordText(1, 'nonce 1'));
  }

  get end(): bigint {
    return BigInt(this.#records.length);
  }

  append(...events: readonly LedgerEvent[]): this {
    for (const event of events) this.appendText(eventRecordText(1, ++this.#seq, JSON.stringify(event)));
    return this;
  }

  from(offset: bigint, to: bigint = this.end): StoredRecord[] {
    return this.#records.slice(Number(offset), Number(to));
  }

  appendText(text: string): this {
    this.#records.push({ offset: this.end, appendedAtMs: 0, bytes: Buffer.from(text) });
    return this;
  }
}

export interface ProjectionTaps {
  states: AgentStates;
  history: HistoryStore;
  clock?: Clock;
  log?: Log;
}

/** One process's projection of a shard. */
export function newProjection(shard: number, taps: ProjectionTaps): ShardProjection {
  const log = { info() {}, warn() {}, error() {} };
  const totals = { events: 0, calls: 0 };
  return new ShardProjection({ clock: systemClock, log, shard, totals, onClosed() {}, ...taps });
}

export async function openProjection(shard: number, taps: ProjectionTaps): Promise<ShardProjection> {
  const projection = newProjection(shard, taps);
  await projection.load();
  return projection;
}

/** Everything that it has not read yet. */
export const readAll = (projection: ShardProjection, shard: ProjectedShard): Promise<void> =>
  projection.read(shard.from(projection.next), shard.end);
