import { expect, it } from 'vitest';
import { SECOND_MS } from '#core/clock.ts';
import { StartWaits } from '#core/start-waits.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function start() {
  const clock = createFakeClock();
  const said: string[] = [];
  const note = (event: string, fields?: { cause?: string }) =>
    void said.push(fields?.cause === undefined ? event : `${event}: ${fields.cause}`);
  const waits = new StartWaits(clock, { info: note, warn: note, error: note });
  let answer: () => Promise<string> = async () => 'there';
  const begin = () =>
    waits.until({
      store: 'Redis',
      attempt: () => answer(),
      isAway: (error) => error instanceof Error && error.message !== 'wrong password',
    });
  const answers = (next: () => Promise<string>) => {
    answer = next;
  };
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed++) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(SECOND_MS);
    }
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { waits, said, begin, answers, pass };
}

const refused = async () => {
  throw new Error('connect ECONNREFUSED');
};

it('a store that is there is not waited for, and nothing is said', async () => {
  const { begin, said } = start();
  expect(await begin()).toBe('there');
  expect(said).toEqual([]);
});

it('a store that is away is asked each second; why is said at once, again every half minute, and when it changes', async () => {
  const { begin, answers, pass, said, waits } = start();
  answers(refused);
  const found = begin();
  await pass(65);
  const line = 'the start waits for Redis: connect ECONNREFUSED';
  expect(said).toEqual([line, line, line]);
  expect([...waits.reasons]).toEqual([['Redis', 'connect ECONNREFUSED']]);
  answers(async () => {
    throw new Error('LOADING Redis is loading');
  });
  await pass(1);
  expect(said.at(-1)).toBe('the start waits for Redis: LOADING Redis is loading');
  answers(async () => 'there');
  await pass(1);
  expect(await found).toBe('there');
  expect(said.at(-1)).toBe('Redis is there');
  expect(waits.reasons.size).toBe(0);
});

it('reasons that take turns are each said once in half a minute, by however many they are waited for', async () => {
  const { begin, answers, pass, said, waits } = start();
  let asked = 0;
  answers(async () => {
    asked += 1;
    throw new Error(Math.floor(asked / 2) % 2 === 0 ? 'connect ECONNREFUSED' : 'connection is closed');
  });
  const both = Promise.all([begin(), begin()]);
  await pass(25);
  expect([asked, said.toSorted()]).toEqual([
    52,
    ['the start waits for Redis: connect ECONNREFUSED', 'the start waits for Redis: connection is closed'],
  ]);
  let isOnesTurn = false;
  answers(async () => {
    isOnesTurn = !isOnesTurn;
    return isOnesTurn ? 'there' : refused();
  });
  await pass(1);
  expect([...waits.reasons.keys()]).toEqual(['Redis']);
  answers(async () => 'there');
  await pass(1);
  await both;
  expect([said.slice(2), waits.reasons.size]).toEqual([['Redis is there'], 0]);
});

it('nothing is asked any more once the process ends', async () => {
  const { begin, answers, pass, waits } = start();
  let asked = 0;
  answers(async () => {
    asked += 1;
    throw new Error('connect ECONNREFUSED');
  });
  void begin();
  await pass(2);
  waits.close();
  const before = asked;
  await pass(5);
  expect(asked).toBe(before);
});

it('what no waiting mends ends the wait, also one that has begun', async () => {
  const { begin, answers, pass, waits } = start();
  answers(refused);
  const found = begin();
  const failed = expect(found).rejects.toThrow('wrong password');
  await pass(2);
  answers(async () => {
    throw new Error('wrong password');
  });
  await pass(1);
  await failed;
  expect(waits.reasons.size).toBe(0);
});

it('who asks is told each thing that is waited for of a store, once', async () => {
  const { waits, pass } = start();
  for (const topic of ['ledger.v1', 'dex.trades.v1', 'ledger.v1']) {
    const attempt = async () => {
      throw new Error(`it has no topic ${topic}`);
    };
    void waits.until({ store: 'Kafka', attempt, isAway: () => true });
  }
  await pass(1);
  expect(waits.reasons.get('Kafka')).toBe('it has no topic ledger.v1; it has no topic dex.trades.v1');
  waits.close();
});
