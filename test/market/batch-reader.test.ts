import { expect, test } from 'vitest';
import { type ApartRecord, BatchReader, type ReadBatch } from '#core/events/batch-reader.ts';
import type { BatchHandler, BatchOutcome, FeedBatch, RecordOutcome } from '#core/events/feed-record.ts';
import { oneByOne } from '#core/events/one-by-one.ts';
import { until } from '../support/gateway.ts';

const DONE: RecordOutcome = { outcome: 'done' };
const AGAIN: RecordOutcome = { outcome: 'try_again' };

interface Read {
  resolved: bigint[];
  committed: bigint[];
  pauses: number[];
  beats: number;
}

function setUp(handler: Partial<BatchHandler>, { recordsAtOnce = 1_000 } = {}) {
  const apart: ApartRecord[] = [];
  const logged: string[] = [];
  let counted = 0;
  const note = (event: string) => void logged.push(event);
  const ports = { keepApart: async (record: ApartRecord) => void apart.push(record) };
  const reader = new BatchReader({
    topic: 'a.topic',
    handler: { handle: async (batch) => allDone(batch), forget: () => undefined, ...handler },
    recordsAtOnce,
    keepApart: (record) => ports.keepApart(record),
    log: { info: note, warn: note, error: note },
    onRecords: (count) => {
      counted += count;
    },
  });
  function batchOf(partition: number, offsets: readonly number[], more: Partial<ReadBatch> = {}) {
    const read: Read = { resolved: [], committed: [], pauses: [], beats: 0 };
    const batch: ReadBatch = {
      partition,
      records: offsets.map((offset) => ({
        offset: BigInt(offset),
        key: null,
        timeMs: 1_000 * offset,
        bytes: Buffer.from(String(offset)),
      })),
      atEnd: true,
      mayGoOn: () => true,
      heartbeat: async () => {
        read.beats += 1;
      },
      resolve: (offset) => void read.resolved.push(offset),
      commit: async (offset) => void read.committed.push(offset),
      pause: (waitMs) => void read.pauses.push(waitMs),
      ...more,
    };
    return { batch, read };
  }
  return { reader, ports, apart, logged, batchOf, counted: () => counted };
}

function allDone({ records }: FeedBatch): BatchOutcome {
  const last = records.at(-1);
  return { outcomes: records.map(() => DONE), resumeOffset: last === undefined ? null : last.offset + 1n };
}

const offsetsOf = ({ records }: FeedBatch): number[] => records.map(({ offset }) => Number(offset));

test('a large batch comes to its handler in bounded ones, in order, and only the last says that nothing waits', async () => {
  const seen: [number[], boolean | undefined][] = [];
  const { reader, batchOf, counted } = setUp(
    {
      handle: async (batch) => {
        seen.push([offsetsOf(batch), batch.atEnd]);
        return allDone(batch);
      },
    },
    { recordsAtOnce: 2 },
  );
  const { batch, read } = batchOf(0, [5, 6, 8, 9, 12]);
  await reader.read(batch);
  expect(seen).toEqual([
    [[5, 6], false],
    [[8, 9], false],
    [[12], true],
  ]);
  expect(read).toEqual({ resolved: [6n, 9n, 12n], committed: [7n, 10n, 13n], pauses: [], beats: 3 });
  expect(counted()).toBe(5);
  const more = batchOf(0, [13], { atEnd: false });
  await reader.read(more.batch);
  expect(seen.at(-1)).toEqual([[13], false]);
});

test('the place that is kept is the handler’s, however far it has read', async () => {
  const { reader, batchOf } = setUp({
    handle: async ({ records }) => ({
      outcomes: records.map(() => DONE),
      resumeOffset: (records[0]?.offset ?? 0n) < 10n ? null : 7n,
    }),
  });
  const first = batchOf(0, [5, 6]);
  await reader.read(first.batch);
  expect(first.read).toMatchObject({ resolved: [6n], committed: [] });
  const second = batchOf(0, [10, 11]);
  await reader.read(second.batch);
  expect(second.read).toMatchObject({ resolved: [11n], committed: [7n] });
  const third = batchOf(0, [12]);
  await reader.read(third.batch);
  // It is kept there already.
  expect(third.read).toMatchObject({ resolved: [12n], committed: [] });
});

test('what is to be tried again comes again with all behind it, after waits that grow up to five seconds', async () => {
  const isAway = { until: 8 };
  const { reader, batchOf } = setUp({
    handle: async ({ records }) => {
      const at = records.findIndex(({ offset }) => offset === 6n);
      if (at === -1 || --isAway.until <= 0) return allDone({ partition: 0, records });
      return { outcomes: [...records.slice(0, at).map(() => DONE), AGAIN], resumeOffset: 6n };
    },
  });
  const pauses: number[] = [];
  const first = batchOf(0, [5, 6, 7]);
  await reader.read(first.batch);
  expect(first.read).toMatchObject({ resolved: [5n], committed: [6n] });
  pauses.push(...first.read.pauses);
  for (let i = 0; i < 6; i++) {
    const { batch, read } = batchOf(0, [6, 7]);
    await reader.read(batch);
    expect(read.resolved).toEqual([]);
    pauses.push(...read.pauses);
  }
  expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  const { batch, read } = batchOf(0, [6, 7]);
  await reader.read(batch);
  expect(read).toMatchObject({ resolved: [7n], pauses: [] });
  isAway.until = 2;
  const later = batchOf(0, [6]);
  await reader.read(later.batch);
  expect(later.read.pauses).toEqual([250]);
});

test('how long the oldest record waits is known while one is tried again, or more stands behind what was read', async () => {
  const isAway = { now: true };
  const { reader, batchOf } = setUp({
    handle: async (batch) => {
      const at = batch.records.findIndex(({ offset }) => offset === 6n);
      if (at === -1 || !isAway.now) return allDone(batch);
      return { outcomes: [...batch.records.slice(0, at).map(() => DONE), AGAIN], resumeOffset: 6n };
    },
  });
  expect(reader.waitsSinceMs).toBeNull();
  await reader.read(batchOf(0, [5, 6, 7]).batch);
  await reader.read(batchOf(1, [8, 9], { atEnd: false }).batch);
  expect(reader.waitsSinceMs).toBe(6_000);
  isAway.now = false;
  await reader.read(batchOf(0, [6, 7]).batch);
  expect(reader.waitsSinceMs).toBe(9_000);
  await reader.read(batchOf(1, [10]).batch);
  expect(reader.waitsSinceMs).toBeNull();
  isAway.now = true;
  await reader.read(batchOf(0, [6]).batch);
  expect(reader.waitsSinceMs).toBe(6_000);
  // Another process reads it now.
  reader.share([1], 'member');
  expect(reader.waitsSinceMs).toBeNull();
});

test('a handler that throws has its records again, and only the exception is logged', async () => {
  const { reader, batchOf, logged } = setUp({
    handle: async () => {
      throw new Error('a fault');
    },
  });
  const { batch, read } = batchOf(0, [5, 6]);
  await reader.read(batch);
  expect(read).toEqual({ resolved: [], committed: [], pauses: [250], beats: 0 });
  expect(logged).toEqual(['handling records of a feed failed, will retry']);
});

test('a record that is kept apart is safe there before the place behind it is kept', async () => {
  const order: string[] = [];
  const { reader, ports, batchOf } = setUp({
    handle: async ({ records }) => ({
      outcomes: [DONE, { outcome: 'dead_letter', reason: 'of a stranger' }, DONE],
      resumeOffset: (records.at(-1)?.offset ?? 0n) + 1n,
    }),
  });
  ports.keepApart = async ({ partition, offset, reason }) => {
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${partition}/${offset}: ${reason}`);
  };
  const { batch } = batchOf(3, [5, 6, 7], {
    resolve: () => void order.push('resolved'),
    commit: async () => void order.push('committed'),
  });
  await reader.read(batch);
  expect(order).toEqual(['3/6: of a stranger', 'resolved', 'committed']);
});

test('a record that cannot be kept apart now is not passed over', async () => {
  const { reader, ports, batchOf } = setUp({
    handle: async () => ({
      outcomes: [{ outcome: 'dead_letter', reason: 'of a stranger' }],
      resumeOffset: 6n,
    }),
  });
  ports.keepApart = () => Promise.reject(new Error('no broker'));
  const { batch, read } = batchOf(0, [5]);
  await expect(reader.read(batch)).rejects.toThrow('no broker');
  expect(read).toMatchObject({ resolved: [], committed: [] });
});

test('a partition that went elsewhere is forgotten, and one that stayed is read on from where it was', async () => {
  const forgotten: number[] = [];
  const { reader, batchOf } = setUp({ forget: (partition) => void forgotten.push(partition) });
  expect(reader.share([0, 1], 'member-1')).toEqual(new Map());
  await reader.read(batchOf(0, [5, 6]).batch);
  await reader.read(batchOf(1, [8]).batch);
  expect(reader.share([0], 'member-1')).toEqual(new Map([[0, 7n]]));
  await until(() => forgotten.length === 1);
  expect(forgotten).toEqual([1]);
  expect(reader.share([0, 1], 'member-1')).toEqual(new Map([[0, 7n]]));
});

test('a member that was thrown out for a while begins anew everywhere: others may have read on', async () => {
  const forgotten: number[] = [];
  const { reader, batchOf } = setUp({ forget: (partition) => void forgotten.push(partition) });
  reader.share([0, 1], 'member-1');
  await reader.read(batchOf(0, [5]).batch);
  await reader.read(batchOf(1, [8]).batch);
  expect(reader.share([0, 1], 'member-2')).toEqual(new Map());
  await until(() => forgotten.length === 2);
  expect(forgotten).toEqual([0, 1]);
});

test('a handler is never asked to forget, or to go on, while it is still at work in a partition', async () => {
  const order: string[] = [];
  const gates: (() => void)[] = [];
  const { reader, batchOf } = setUp({
    handle: async (batch) => {
      order.push(`begins ${offsetsOf(batch)}`);
      await new Promise<void>((resolve) => void gates.push(resolve));
      order.push(`ends ${offsetsOf(batch)}`);
      return allDone(batch);
    },
    forget: () => void order.push('forgets'),
  });
  const stale = batchOf(0, [5, 6]);
  const reading = reader.read(stale.batch);
  await until(() => gates.length === 1);
  reader.forgetAll();
  const fresh = batchOf(0, [3]);
  const again = reader.read(fresh.batch);
  gates.shift()?.();
  await reading;
  await until(() => gates.length === 1);
  gates.shift()?.();
  await again;
  expect(order).toEqual(['begins 5,6', 'ends 5,6', 'forgets', 'begins 3', 'ends 3']);
  // What was forgotten while it was at work says nothing of the place any more.
  expect(stale.read).toMatchObject({ resolved: [], committed: [] });
  expect(fresh.read).toMatchObject({ resolved: [3n], committed: [4n] });
});

test('one that is no longer ours, or has been stopped, is read no further', async () => {
  const seen: number[][] = [];
  let isOurs = true;
  const { reader, batchOf } = setUp(
    {
      handle: async (batch) => {
        seen.push(offsetsOf(batch));
        isOurs = false;
        return allDone(batch);
      },
    },
    { recordsAtOnce: 1 },
  );
  await reader.read(batchOf(0, [5, 6], { mayGoOn: () => isOurs }).batch);
  expect(seen).toEqual([[5]]);
  reader.stop();
  await reader.read(batchOf(0, [6]).batch);
  expect(seen).toEqual([[5]]);
});

test('records that are dealt with one by one stop at the first that waits', async () => {
  const seen: string[] = [];
  const handler = oneByOne(async (bytes) => {
    seen.push(String(bytes));
    return String(bytes) === '6' ? AGAIN : DONE;
  });
  const records = [5, 6, 7].map((offset) => ({ offset: BigInt(offset), bytes: Buffer.from(String(offset)) }));
  expect(await handler.handle({ partition: 0, records })).toEqual({
    outcomes: [DONE, AGAIN],
    resumeOffset: 6n,
  });
  expect(seen).toEqual(['5', '6']);
});
