import { describe, expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { realPorts } from './ports.ts';
import { beginHistory, comeToRest } from './run-history.ts';
import { SimWorld } from './sim-world.ts';

async function calmWorld(seed: number): Promise<SimWorld> {
  const world = new SimWorld({ seed, ports: realPorts, agents: 4, trace: null });
  await beginHistory(world);
  return world;
}

const outboxes = (world: SimWorld): number[] =>
  world.groups.flatMap((group) => group.shards.map((shard) => group.store(shard).outbox.length));

const openShards = (world: SimWorld): boolean[] =>
  world.groups.flatMap((group) => group.shards.map((shard) => group.isOpen(shard)));

describe('a shard', () => {
  test('whose log no longer has what its node heard of last, as after idle weeks, still gets its events to the log', async () => {
    const world = await calmWorld(1);
    // Heartbeats move the log and its copies on, and no event moves the place that the node knows.
    await world.runFor(12 * MINUTE_MS);
    for (let shard = 0; shard < world.shards; shard++) {
      world.broker.trim(shard, BigInt(world.broker.records(shard).length));
    }
    for (const worker of world.workers) world.kill(worker);
    await world.runFor(10 * SECOND_MS);
    for (const agentId of world.agentIds) world.startOp('grant', agentId);
    await world.runFor(MINUTE_MS);
    expect(world.violation).toBeNull();
    expect(outboxes(world)).toEqual([0, 0]);
    expect(world.ops.every(({ done }) => done)).toBe(true);
  });

  test('that was rebuilt while its Redis believed that it is tomorrow starts calls today', async () => {
    const world = await calmWorld(2);
    for (const group of world.groups) group.primary.skewMs = DAY_MS;
    for (const agentId of world.agentIds) world.startOp('grant', agentId);
    await world.runFor(5 * SECOND_MS);
    for (const group of world.groups) group.promote(group.primary.data, false);
    await world.runFor(20 * SECOND_MS);
    expect(openShards(world)).toEqual([true, true]);
    for (const group of world.groups) group.primary.skewMs = 0;
    for (const agentId of world.agentIds) world.startCall('small', agentId);
    await world.runFor(5 * SECOND_MS);
    expect(world.calls.map(({ refusal }) => refusal)).toEqual([null, null, null, null]);
  });

  /** A log that is away for longer than calls may run; their pods have results, and ask again and again. */
  async function afterLongOutage(): Promise<string[]> {
    const broken: string[] = [];
    for (let seed = 1; seed <= 5; seed++) {
      const world = await calmWorld(seed);
      for (let i = 0; i < 12; i++) world.startCall('usual');
      await world.runFor(300);
      for (let shard = 0; shard < world.shards; shard++) world.broker.setUp(shard, false);
      await world.runFor(16 * MINUTE_MS);
      for (const group of world.groups) group.promote(group.primary.data, false);
      for (let shard = 0; shard < world.shards; shard++) world.broker.setUp(shard, true);
      await comeToRest(world);
      const taken = world.calls.filter(({ orphaned, podDied }) => orphaned && !podDied);
      if (taken.length > 0) broken.push(`seed ${seed}`);
    }
    return broken;
  }

  test('that was away for longer than its calls may run leaves them to the pods that have run them', async () => {
    expect(await afterLongOutage()).toEqual([]);
  });
});
