import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { pick } from '../ledger/history/random.ts';
import type { NodeData, RedisGroup } from './sim-redis.ts';
import type { SimWorld } from './sim-world.ts';

const CALLS_IN_STALL = 6;

/** What goes wrong once, by name, and how often beside the others. Whatever it leaves behind, healing mends. */
export const faults = {
  'redis restarts with everything': {
    weight: 4,
    strike: (world) => replace(world, groupOf(world), 'all', false),
  },
  'redis restarts with an older file': {
    weight: 4,
    strike: (world) => replace(world, groupOf(world), 'older', false),
  },
  'redis restarts empty': { weight: 2, strike: (world) => replace(world, groupOf(world), 'nothing', false) },
  'a replica is promoted behind': {
    weight: 4,
    strike: (world) => replace(world, groupOf(world), 'older', false),
  },
  'split brain, the replica up to date': {
    weight: 3,
    strike: (world) => replace(world, groupOf(world), 'all', true),
  },
  'split brain, the replica behind': {
    weight: 5,
    strike: (world) => replace(world, groupOf(world), 'older', true),
  },
  'fail-back without a restart': { weight: 4, strike: failBack },
  FLUSHALL: {
    weight: 2,
    strike: (world) => {
      for (const store of groupOf(world).primary.data.values()) store.flush();
    },
  },
  'redis out of memory': {
    weight: 2,
    strike: (world) => {
      const { primary } = groupOf(world);
      primary.full = true;
      world.time.after(SECOND_MS + world.draw(20 * SECOND_MS), () => {
        primary.full = false;
      });
    },
  },
  'redis slow': {
    weight: 2,
    strike: (world) => {
      const { primary } = groupOf(world);
      primary.slowMs = 20 + world.draw(600);
      world.time.after(SECOND_MS + world.draw(10 * SECOND_MS), () => {
        primary.slowMs = 0;
      });
    },
  },
  "redis' clock steps": {
    weight: 3,
    strike: (world) => {
      const byMs = pick(world.draw, [
        2 * SECOND_MS,
        59 * SECOND_MS,
        290 * SECOND_MS,
        10 * MINUTE_MS,
        2 * HOUR_MS,
        DAY_MS,
      ]);
      const { primary } = groupOf(world);
      primary.skewMs = world.draw(2) === 0 ? byMs : -byMs;
      const lastsMs = world.draw(3) === 0 ? 30 * MINUTE_MS : MINUTE_MS;
      world.time.after(SECOND_MS + world.draw(lastsMs), () => {
        primary.skewMs = 0;
      });
    },
  },
  "a process' clock is wrong": {
    weight: 2,
    strike: (world) => {
      const byMs = pick(world.draw, [2 * SECOND_MS, 4 * MINUTE_MS, 10 * MINUTE_MS]);
      const { process } = pick(world.draw, world.hosts);
      process.skewMs = world.draw(2) === 0 ? byMs : -byMs;
      world.time.after(SECOND_MS + world.draw(MINUTE_MS), () => {
        process.skewMs = 0;
      });
    },
  },
  'the log is down': {
    weight: 4,
    strike: (world) => {
      const shards = world.draw(2) === 0 ? [world.draw(world.shards)] : [0, 1];
      const ms = world.draw(6) === 0 ? world.draw(3 * MINUTE_MS) : world.draw(8 * SECOND_MS);
      for (const shard of shards) {
        world.broker.setUp(shard, false);
        world.time.after(ms, () => world.broker.setUp(shard, true));
      }
    },
  },
  'the log is slow': {
    weight: 3,
    strike: (world) => {
      world.broker.slowMs = pick(world.draw, [200, 1_000, 4_000]);
      world.time.after(SECOND_MS + world.draw(10 * SECOND_MS), () => {
        world.broker.slowMs = 0;
      });
    },
  },
  'a worker is killed': { weight: 3, strike: (world) => world.kill(pick(world.draw, world.workers)) },
  'a pod is killed': { weight: 3, strike: (world) => world.kill(pick(world.draw, world.pods)) },
  'a pod is told to end': { weight: 2, strike: (world) => world.drain(pick(world.draw, world.pods)) },
  'a pod stands still': {
    weight: 2,
    strike: (world) => {
      const pod = pick(world.draw, world.pods);
      for (const call of world.calls) if (call.podName === pod.process.name) call.stoodStill = true;
      pod.process.standStill(pauseMs(world));
    },
  },
  'a worker stands still': {
    weight: 2,
    strike: (world) => pick(world.draw, world.workers).process.standStill(pauseMs(world)),
  },
  'a projector is replaced': { weight: 2, strike: (world) => world.replaceProjector(false) },
  'a projector lives on': { weight: 2, strike: (world) => world.replaceProjector(true) },
  'a projector stands still, and another takes over': {
    weight: 2,
    strike: (world) => {
      for (const { process } of world.projectors) process.standStill(SECOND_MS + world.draw(MINUTE_MS));
      world.replaceProjector(true);
    },
  },
  'a process goes back to an old primary': {
    weight: 2,
    strike: (world) => {
      const group = groupOf(world);
      const old = group.liveNodes.find((node) => node !== group.primary);
      if (old === undefined) return;
      world.count('went back to an old primary');
      for (const host of world.hosts) if (world.draw(3) === 0) host.connection.stickTo(group, old);
    },
  },
  'what a process has sent arrives late': {
    weight: 4,
    strike: (world) => {
      const alive = world.hosts.filter(({ process }) => process.alive);
      if (alive.length === 0) return;
      const host = pick(world.draw, alive);
      const stall = () =>
        host.connection.stall(
          SECOND_MS + world.draw(3 * SECOND_MS),
          6 * SECOND_MS + world.draw(40 * SECOND_MS),
        );
      if (world.draw(2) === 0) {
        world.startLateChange(host, stall);
        return;
      }
      stall();
      // Some of them by this very process.
      for (let i = 0; i < CALLS_IN_STALL; i++) world.startCall('small');
    },
  },
  'the copies are away': {
    weight: 2,
    strike: (world) => {
      world.copies.isUp = false;
      world.time.after(SECOND_MS + world.draw(20 * SECOND_MS), () => {
        world.copies.isUp = true;
      });
    },
  },
  'all machines stand still': {
    weight: 2,
    strike: (world) => {
      for (const call of world.calls) if (call.refusal !== null) call.stoodStill = true;
      world.standStill(world.draw(4) === 0 ? world.draw(30 * MINUTE_MS) : world.draw(90 * SECOND_MS));
    },
  },
} satisfies Record<string, { weight: number; strike: (world: SimWorld) => void }>;

export type FaultName = keyof typeof faults;

/** Each as often as it weighs; or one of these, each as often as the others. */
export function strike(world: SimWorld, among?: readonly FaultName[]): void {
  const name = pick(world.draw, among ?? wheel);
  world.count(`fault: ${name}`);
  faults[name].strike(world);
}

const names = Object.keys(faults) as FaultName[];
const wheel = names.flatMap((name) => Array<FaultName>(faults[name].weight).fill(name));

const groupOf = (world: SimWorld): RedisGroup => pick(world.draw, world.groups);

const pauseMs = (world: SimWorld): number =>
  world.draw(5) === 0 ? world.draw(30 * MINUTE_MS) : world.draw(10 * SECOND_MS);

function replace(
  world: SimWorld,
  group: RedisGroup,
  what: 'all' | 'older' | 'nothing',
  split: boolean,
): void {
  const { draw, time } = world;
  const old = group.primary;
  const node = group.promote(dataOf(world, group, what), split && old.alive);
  if (draw(10) === 0) node.skewMs = pick(draw, [-2 * SECOND_MS, 59 * SECOND_MS, 4 * MINUTE_MS]);
  for (const host of world.hosts) {
    if (split && draw(2) === 0) host.connection.stickTo(group, old);
    else time.after(draw(500), () => host.connection.resubscribe());
  }
  if (!split) return;
  // Somebody cuts the old primary off in the end; until then it may be what a fail-back goes to.
  time.after(SECOND_MS + draw(20 * SECOND_MS), () => {
    if (group.primary !== old) group.cutOff(old);
    for (const host of world.hosts) host.connection.resubscribe();
  });
}

/** The old primary takes the new one's data, as far as it has come, and is the primary again, without a restart. */
function failBack(world: SimWorld): void {
  const group = groupOf(world);
  const old = group.liveNodes.find((node) => node !== group.primary);
  if (old === undefined) {
    world.count('no node to fail back to');
    return;
  }
  world.count('failed back');
  group.failBack(old, dataOf(world, group, world.draw(3) === 0 ? 'older' : 'all'));
  for (const host of world.hosts) host.connection.resubscribe();
}

function dataOf(world: SimWorld, group: RedisGroup, what: 'all' | 'older' | 'nothing'): NodeData {
  const moments = world.moments.get(group) ?? [];
  if (what === 'nothing') return group.empty();
  return what === 'older' && moments.length > 0 ? pick(world.draw, moments) : group.primary.data;
}
