import { expect, test } from 'vitest';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import type { RedisScripts, ScriptReply } from '#core/ledger/cluster/redis-scripts.ts';
import { ShardPublisher } from '#core/ledger/cluster/shard-publisher.ts';
import { PUBLISHER_LEASE_MS } from '#core/limits.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { createMemoryAgentStates } from '../../support/memory-agent-states.ts';
import { createMemoryLog } from '../../support/memory-log.ts';

const REPLIES: Partial<Record<string, ScriptReply>> = {
  position: ['OK', '1', '0', '0', 'nonce'],
  outbox: ['OK', '1', []],
};

const passesOn = (clock: FakeClock, publisher: ShardPublisher) => async (ms: number) => {
  for (let left = ms; left > 0; left -= 100) {
    publisher.wake();
    clock.advance(100);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
};

test('a publisher that Redis has been out of reach for leads no longer, and says once why', async () => {
  const clock = createFakeClock();
  const log = createMemoryLog(1, undefined, () => clock.now());
  const errors: string[] = [];
  let isAway = false;
  const scripts: RedisScripts = {
    async run(name) {
      if (isAway) throw new Error('Connection is closed.');
      return REPLIES[name] ?? ['OK'];
    },
  };
  const publisher = new ShardPublisher({
    shard: 0,
    keys: new ShardKeys(0),
    scripts,
    log,
    states: createMemoryAgentStates(),
    clock,
    logger: { info() {}, warn() {}, error: (event) => void errors.push(event) },
    recoverer: 'a',
    tailFrom: 0n,
  });
  const pass = passesOn(clock, publisher);

  await pass(500);
  expect(publisher.isLeading).toBe(true);
  isAway = true;
  await pass(PUBLISHER_LEASE_MS + 2_000);
  expect(publisher.isLeading).toBe(false);
  expect(errors).toEqual(['a shard could not be published, it is tried again']);
  isAway = false;
  await pass(PUBLISHER_LEASE_MS);
  expect(publisher.isLeading).toBe(true);
  isAway = true;
  await pass(1_000);
  expect(errors).toHaveLength(2);
  isAway = false;
  await publisher.stop();
});

test('the worker that leads a shard hears each time that the shard is open again, because it may have missed events', async () => {
  const clock = createFakeClock();
  let isShut = false;
  const opened: number[] = [];
  const publisher = new ShardPublisher({
    shard: 7,
    keys: new ShardKeys(7),
    scripts: {
      async run(name) {
        if (isShut && name !== 'lease') throw new Error('Connection is closed.');
        return name === 'ack' ? ['OK', '1', []] : (REPLIES[name] ?? ['OK']);
      },
    },
    log: createMemoryLog(8, undefined, () => clock.now()),
    states: createMemoryAgentStates(),
    clock,
    logger: { info() {}, warn() {}, error() {} },
    recoverer: 'a',
    tailFrom: 0n,
    onOpen: (shard) => void opened.push(shard),
  });
  const pass = passesOn(clock, publisher);
  await pass(500);
  expect(opened).toEqual([7]);
  isShut = true;
  await pass(500);
  expect(opened).toEqual([7]);
  isShut = false;
  await pass(2_000);
  expect([publisher.isOpen, opened]).toEqual([true, [7, 7]]);
  await publisher.stop();
});
