import type { FeedCounts } from '#core/events/feed-metrics.ts';
import type { BatchHandler, FeedBatch, RecordOutcome } from '#core/events/feed-record.ts';
import { isRecord } from '#core/is-record.ts';
import { limitTasks } from '#core/limit-tasks.ts';
import type { Log } from '#core/log.ts';
import type { FedRecord } from '#core/market/direct-feeds.ts';

export interface FedTopicOptions {
  topic: string;
  /** Of all its readers. */
  handlers: readonly BatchHandler[];
  counts: FeedCounts;
  log: Log;
}

/** All that is fed here is of one partition: one after the other. */
const PARTITION = 0;
const TRY_AGAIN: RecordOutcome = { outcome: 'try_again' };

/** A topic whose records come to this process itself, to the same handlers that Kafka's go to. */
export class FedTopic {
  readonly #options: FedTopicOptions;
  readonly #inTurn = limitTasks(1);
  /** A record that comes again is a new one to the handlers: they know it by what is in it. */
  #nextOffset = 0n;

  constructor(options: FedTopicOptions) {
    this.#options = options;
  }

  feed(records: readonly unknown[]): Promise<FedRecord[]> {
    return this.#inTurn(() => this.#feed(records));
  }

  /** Resolves after all that was fed before. */
  idle(): Promise<void> {
    return this.#inTurn(async () => {});
  }

  async #feed(records: readonly unknown[]): Promise<FedRecord[]> {
    const batch = {
      partition: PARTITION,
      records: records.map((record) => ({
        offset: this.#nextOffset++,
        bytes: print(record),
        ...keyOf(record),
      })),
    };
    const { handlers, counts } = this.#options;
    const all = await Promise.all(handlers.map((handler) => this.#outcomesOf(handler, batch)));
    const fed = records.map((_, i) => combine(all.map((outcomes) => outcomes[i] ?? TRY_AGAIN)));
    counts.onRecords(fed.filter(({ outcome }) => outcome !== 'try_again').length);
    for (const { outcome } of fed) if (outcome === 'dead_letter') counts.onDeadLetter();
    return fed;
  }

  async #outcomesOf(handler: BatchHandler, batch: FeedBatch): Promise<readonly RecordOutcome[]> {
    try {
      return (await handler.handle(batch)).outcomes;
    } catch (error) {
      const { topic, log } = this.#options;
      log.error('handling records of a feed failed', { topic, error });
      return [];
    }
  }
}

/** As an exchange keys it. What cannot be read is of this market at least, whose book then stops. */
const keyOf = (record: unknown): { key?: Buffer } =>
  isRecord(record) && typeof record.market === 'string' ? { key: Buffer.from(record.market) } : {};

/** What is nested without end can be read, but not written again. No record of any feed is. */
function print(record: unknown): Buffer {
  try {
    return Buffer.from(JSON.stringify(record));
  } catch {
    return Buffer.from('nested without end');
  }
}

/** What one reader cannot do now has to come again for all of them; the others know it then. */
function combine(outcomes: readonly RecordOutcome[]): FedRecord {
  if (outcomes.some(({ outcome }) => outcome === 'try_again')) return { outcome: 'try_again' };
  // First, because its feeder is told of it nowhere else.
  for (const outcome of outcomes) {
    if (outcome.outcome === 'done' && outcome.rejected !== undefined) {
      return { outcome: 'rejected', reason: outcome.rejected };
    }
  }
  return outcomes.find(({ outcome }) => outcome === 'dead_letter') ?? { outcome: 'done' };
}
