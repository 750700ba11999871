import type { HandleRecord } from './feed-record.ts';
import { type BatchFeedOptions, type Feed, startKafkaBatchFeed } from './kafka-batch-feed.ts';
import { oneByOne } from './one-by-one.ts';

export interface FeedOptions extends Omit<BatchFeedOptions, 'handler' | 'recordsAtOnce'> {
  handle: HandleRecord;
}

/** A topic whose place is kept after every record: a record that waits has none before it dealt with again. */
export const startKafkaFeed = ({ handle, ...options }: FeedOptions): Promise<Feed> =>
  startKafkaBatchFeed({ ...options, handler: oneByOne(handle), recordsAtOnce: 1 });
