/** Where no Kafka brings the records of markets: whoever has them brings them to this process itself. */
export interface DirectFeeds {
  /** In their order; they may come twice, as from Kafka. `unknown_topic`: nobody here reads it. */
  feed(topic: string, records: readonly unknown[]): Promise<FedRecord[] | 'unknown_topic'>;
  /** Markets whose book waits for its next snapshot, or its first. */
  wantedSnapshots(): Promise<readonly string[]>;
}

export type FedRecord =
  | { outcome: 'done' }
  /** It was traded, but no credit moved. */
  | { outcome: 'rejected'; reason: string }
  /** Nobody can make sense of it. It is not kept. */
  | { outcome: 'dead_letter'; reason: string }
  /** What it needs is away: it is to come again, with all behind it. */
  | { outcome: 'try_again' };
