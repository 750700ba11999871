import kafkajs from 'kafkajs';
import { describe, expect, test } from 'vitest';
import { SECOND_MS } from '#core/clock.ts';
import { AppendLanes, type ShardTexts } from '#core/ledger/cluster/append-lanes.ts';
import { isKafkaRefusal } from '#core/ledger/cluster/kafka-ledger-log.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { until } from '../../support/gateway.ts';

class Refusal extends Error {}

function protocolError(type: string, retriable: boolean): Error {
  return new kafkajs.KafkaJSProtocolError(Object.assign(new Error(type), { type, code: 1, retriable }));
}

/** As the client tells what it would have tried again; `null`: no answer came. */
function wrapped(type: string | null, retriable: boolean): Error {
  const cause =
    type === null
      ? new kafkajs.KafkaJSRequestTimeoutError('no answer', {
          ...{ broker: '', clientId: '', correlationId: 1, createdAt: 1, sentAt: 1, pendingDuration: 1 },
        })
      : protocolError(type, retriable);
  return new kafkajs.KafkaJSNumberOfRetriesExceeded(cause, { retryCount: 0, retryTime: 0 });
}

interface Request {
  of: string[];
  answer(): void;
  fail(error: Error): void;
}

/** Shards below 10 are led by `a`, the others by `b`. */
async function startLanes(options: { leaders?: () => Promise<ReadonlyMap<number, string>> } = {}) {
  const clock = createFakeClock(0);
  const requests: Request[] = [];
  let learned = 0;
  const known = new Map(Array.from({ length: 20 }, (_, shard) => [shard, shard < 10 ? 'a' : 'b']));
  const lanes = new AppendLanes({
    clock,
    send: (some: readonly ShardTexts[]) =>
      new Promise<void>((resolve, reject) => {
        const of = some.map(({ shard, texts }) => `${shard}: ${texts.map((text) => text.slice(0, 9))}`);
        requests.push({ of, answer: resolve, fail: reject });
      }),
    leaders: async () => {
      learned++;
      return (options.leaders ?? (async () => known))();
    },
    isRefusal: (error) => error instanceof Refusal,
  });
  return {
    clock,
    requests,
    learned: () => learned,
    append: (shard: number, ...texts: string[]) =>
      lanes.append(shard, texts).then(
        () => 'stored',
        (error: Error) => error.message,
      ),
    /** The next request that is asked for. */
    async request(): Promise<Request> {
      await until(() => requests.length > 0);
      const [first] = requests.splice(0, 1);
      if (first === undefined) throw new Error('no request');
      return first;
    },
    /** Leaders are asked for with the first append. */
    async warm(): Promise<void> {
      const first = this.append(0, 'first');
      (await this.request()).answer();
      await first;
    },
  };
}

describe('appends of a process that publishes many shards', () => {
  test('those with one leader share its next request, in their order; those of another wait for nobody', async () => {
    const lanes = await startLanes();
    await lanes.warm();
    const told = [lanes.append(1, 'one')];
    const first = await lanes.request();
    expect(first.of).toEqual(['1: one']);
    // Its leader is busy: these wait, and go together.
    told.push(lanes.append(2, 'two', 'three'), lanes.append(3, 'four'), lanes.append(1, 'five'));
    const elsewhere = lanes.append(11, 'eleven');
    const other = await lanes.request();
    expect(other.of).toEqual(['11: eleven']);
    other.answer();
    expect(await elsewhere).toBe('stored');
    expect(lanes.requests).toEqual([]);
    first.answer();
    const next = await lanes.request();
    expect(next.of).toEqual(['2: two,three', '3: four', '1: five']);
    next.answer();
    expect(await Promise.all(told)).toEqual(['stored', 'stored', 'stored', 'stored']);
  });

  test('what one answer of Redis sets off at once goes in one request from the first on', async () => {
    const lanes = await startLanes();
    await lanes.warm();
    const told = [1, 2, 3].map((shard) => lanes.append(shard, 'x'));
    const only = await lanes.request();
    expect(only.of).toEqual(['1: x', '2: x', '3: x']);
    only.answer();
    expect(await Promise.all(told)).toEqual(['stored', 'stored', 'stored']);
  });

  test('a record that the log refuses fails its own shard alone', async () => {
    const lanes = await startLanes();
    await lanes.warm();
    const told = [1, 2, 3].map((shard) => lanes.append(shard, 'x'));
    (await lanes.request()).fail(new Refusal('too large'));
    for (const expected of ['1: x', '2: x', '3: x']) {
      const alone = await lanes.request();
      expect(alone.of).toEqual([expected]);
      if (expected === '2: x') alone.fail(new Refusal('too large'));
      else alone.answer();
    }
    expect(await Promise.all(told)).toEqual(['stored', 'too large', 'stored']);
  });

  test('a shard whose records are refused goes alone for five seconds, so that others are not sent twice', async () => {
    const lanes = await startLanes();
    await lanes.warm();
    const told = [1, 2].map((shard) => lanes.append(shard, 'x'));
    (await lanes.request()).fail(new Refusal('no leader'));
    (await lanes.request()).answer();
    (await lanes.request()).fail(new Refusal('no leader'));
    expect(await Promise.all(told)).toEqual(['stored', 'no leader']);
    // Leaders are learned anew by whoever comes first.
    lanes.clock.advance(SECOND_MS);
    const pair = async () => {
      const both = [1, 2].map((shard) => lanes.append(shard, 'y'));
      const first = await lanes.request();
      const requests = first.of.length === 1 ? [first, await lanes.request()] : [first];
      for (const { answer } of requests) answer();
      await Promise.all(both);
      return requests.length;
    };
    await pair();
    expect(await pair()).toBe(2);
    lanes.clock.advance(4 * SECOND_MS);
    expect(await pair()).toBe(1);
  });

  test.each([
    ['its partition has no leader', wrapped('NOT_LEADER_FOR_PARTITION', true), true],
    ['it has too few replicas', wrapped('NOT_ENOUGH_REPLICAS', true), true],
    ['its record is too large', protocolError('MESSAGE_TOO_LARGE', false), true],
    ['the broker did not answer', wrapped(null, true), false],
    ['the connection was lost', new kafkajs.KafkaJSConnectionError('lost'), false],
  ])('of a shard, that %s is told from what befalls all of a request', (_, error, isRefusal) => {
    expect(isKafkaRefusal(error)).toBe(isRefusal);
  });

  test('a leader that does not answer is not waited for once more for each of its shards', async () => {
    const lanes = await startLanes();
    await lanes.warm();
    const told = [1, 2].map((shard) => lanes.append(shard, 'x'));
    (await lanes.request()).fail(new Error('no answer'));
    expect(await Promise.all(told)).toEqual(['no answer', 'no answer']);
    expect(lanes.requests).toEqual([]);
  });

  test('a request holds no more than four mebibytes, but one that is larger goes alone', async () => {
    const lanes = await startLanes();
    await lanes.warm();
    const large = 'x'.repeat(3 * 1024 * 1024);
    const told = [lanes.append(1, large), lanes.append(2, large), lanes.append(3, large, large)];
    for (const shard of [1, 2, 3]) {
      const alone = await lanes.request();
      expect(alone.of.map((text) => text.slice(0, 2))).toEqual([`${shard}:`]);
      alone.answer();
    }
    expect(await Promise.all(told)).toEqual(['stored', 'stored', 'stored']);
  });

  test('without known leaders each shard goes by itself; after a failure they are asked for anew, once a second', async () => {
    let asked = 0;
    const lanes = await startLanes({
      async leaders() {
        if (++asked === 1) throw new Error('nobody there');
        return new Map([
          [1, 'a'],
          [2, 'a'],
        ]);
      },
    });
    const both = async () => {
      const told = [lanes.append(1, 'x'), lanes.append(2, 'x')];
      const first = await lanes.request();
      const requests = [first];
      if (first.of.length === 1) requests.push(await lanes.request());
      for (const { answer } of requests) answer();
      await Promise.all(told);
      return requests.map(({ of }) => of);
    };
    expect(await both()).toEqual([['1: x'], ['2: x']]);
    expect(await both()).toEqual([['1: x'], ['2: x']]);
    expect(lanes.learned()).toBe(1);
    lanes.clock.advance(SECOND_MS);
    await both();
    await both();
    expect(lanes.learned()).toBe(2);
    expect(await both()).toEqual([['1: x', '2: x']]);
    expect(lanes.learned()).toBe(2);
  });
});
