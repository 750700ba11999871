import { expect, test } from 'vitest';
import {
  type BatchHandler,
  type FeedBatch,
  parseFeedRecord,
  type RecordOutcome,
} from '#core/events/feed-record.ts';
import { marketTrade } from '#core/events/market-trade.ts';
import { FedTopic } from '../../workers/market/fed-topic.ts';
import { trade } from './market-records.ts';

const DONE: RecordOutcome = { outcome: 'done' };
const AGAIN: RecordOutcome = { outcome: 'try_again' };
const WRONG: RecordOutcome = { outcome: 'dead_letter', reason: 'of a stranger' };
const REJECTED: RecordOutcome = { outcome: 'done', rejected: 'seller_lacks_credit' };

function setUp(...answers: ((batch: FeedBatch) => Promise<RecordOutcome[]>)[]) {
  const counted = { records: 0, deadLetters: 0 };
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  const topic = new FedTopic({
    topic: 'a.topic',
    handlers: answers.map(
      (answer): BatchHandler => ({
        handle: async (batch) => ({ outcomes: await answer(batch), resumeOffset: null }),
        forget: () => undefined,
      }),
    ),
    counts: {
      onRecords: (count) => {
        counted.records += count;
      },
      onDeadLetter: () => {
        counted.deadLetters += 1;
      },
    },
    log: { info: note, warn: note, error: note },
  });
  return { topic, counted, logged };
}

test('each record’s outcome is answered in order, the worst that any of its readers says', async () => {
  const { topic, counted } = setUp(
    async () => [DONE, DONE, DONE, AGAIN],
    async () => [DONE, REJECTED, WRONG, DONE, DONE],
  );
  expect(await topic.feed([1, 2, 3, 4, 5])).toEqual([
    { outcome: 'done' },
    { outcome: 'rejected', reason: 'seller_lacks_credit' },
    { outcome: 'dead_letter', reason: 'of a stranger' },
    { outcome: 'try_again' },
    { outcome: 'try_again' },
  ]);
  expect(counted).toEqual({ records: 3, deadLetters: 1 });
});

test('a feeder is told that a trade has moved nothing, though no candle has it either', async () => {
  const { topic } = setUp(
    async () => [WRONG, WRONG],
    async () => [REJECTED, DONE],
  );
  expect(await topic.feed([1, 2])).toEqual([
    { outcome: 'rejected', reason: 'seller_lacks_credit' },
    { outcome: 'dead_letter', reason: 'of a stranger' },
  ]);
});

test('a reader that throws has all of it again, and the others’ work is not undone', async () => {
  const { topic, logged } = setUp(
    async () => [DONE],
    async () => {
      throw new Error('a fault');
    },
  );
  expect(await topic.feed([1])).toEqual([{ outcome: 'try_again' }]);
  expect(logged).toEqual(['handling records of a feed failed']);
  await topic.idle();
});

test('two feeders of one topic take turns, and no record has the place of another', async () => {
  const order: string[] = [];
  const offsets: bigint[] = [];
  const gates: (() => void)[] = [];
  const { topic } = setUp(async ({ records }) => {
    order.push('begins');
    offsets.push(...records.map(({ offset }) => offset));
    await new Promise<void>((resolve) => void gates.push(resolve));
    order.push('ends');
    return records.map(() => DONE);
  });
  const first = topic.feed([1, 2]);
  const second = topic.feed([1, 2]);
  const ended = topic.idle().then(() => order.push('idle'));
  for (let i = 0; i < 2; i++) {
    while (gates.length === 0) await new Promise((resolve) => setImmediate(resolve));
    gates.shift()?.();
  }
  await Promise.all([first, second, ended]);
  expect(order).toEqual(['begins', 'ends', 'begins', 'ends', 'idle']);
  expect(offsets).toEqual([0n, 1n, 2n, 3n]);
});

test('a record is keyed by its market, as an exchange keys it, also where the rest of it cannot be read', async () => {
  const keys: (string | undefined)[] = [];
  const { topic } = setUp(async ({ records }) => {
    keys.push(...records.map(({ key }) => key?.toString()));
    return records.map(() => DONE);
  });
  await topic.feed([{ market: 'credit-2026-11-25', size: '-1' }, { market: 7 }, null, 'credit']);
  expect(keys).toEqual(['credit-2026-11-25', undefined, undefined, undefined]);
});

test('a record that is nested without end is kept apart, and the others of its request are dealt with', async () => {
  const { topic } = setUp(async ({ records }) =>
    records.map(({ bytes }) => (parseFeedRecord(marketTrade, bytes).ok ? DONE : WRONG)),
  );
  const good = trade('credit-2026-11-25', 1);
  const deep: unknown = JSON.parse(`${'{"1":'.repeat(200_000)}1${'}'.repeat(200_000)}`);
  expect(await topic.feed([good, deep, { ...good, market: deep }, good])).toEqual([DONE, WRONG, WRONG, DONE]);
});
