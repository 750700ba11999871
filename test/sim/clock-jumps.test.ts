import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { CLOCK_APART_MAX_MS } from '#core/limits.ts';
import { checkAtEnd } from './final-checks.ts';
import { realPorts } from './ports.ts';
import { beginHistory, comeToRest } from './run-history.ts';
import { SimWorld } from './sim-world.ts';

const PLENTY_NANO_USD = 1_000_000_000_000n;
/** One Redis or one for each shard; in none of them the day turns within three hours, so that no credit ends by then. */
const SEEDS = [1, 8, 9];
/** These begin two minutes before midnight. */
const LATE_SEEDS = [3, 12];

async function calmWorld(seed: number): Promise<SimWorld> {
  const world = new SimWorld({ seed, ports: realPorts, agents: 4, doubtsJumps: true, trace: null });
  await beginHistory(world, PLENTY_NANO_USD);
  return world;
}

const wrongClocks = {
  'one API process': ({ pods: [first] }: SimWorld) => [first?.process],
  'one worker': ({ workers: [first] }: SimWorld) => [first?.process],
  Redis: ({ groups }: SimWorld) => groups.map(({ primary }) => primary),
  everything: (world: SimWorld) => [
    ...world.hosts.map(({ process }) => process),
    ...world.groups.map(({ primary }) => primary),
  ],
} satisfies Record<string, (world: SimWorld) => ({ skewMs: number } | undefined)[]>;

function setSkew(world: SimWorld, whose: keyof typeof wrongClocks, skewMs: number): void {
  for (const clock of wrongClocks[whose](world)) if (clock !== undefined) clock.skewMs = skewMs;
}

/** Calls of every agent, and grants and moves between them, until `ms` are over. */
async function liveFor(world: SimWorld, ms: number): Promise<void> {
  const untilMs = world.time.nowMs + ms;
  while (world.time.nowMs < untilMs && world.violation === null) {
    for (const agentId of world.agentIds) world.startCall('small', agentId);
    world.startOp(world.draw(2) === 0 ? 'grant' : 'move', 1);
    await world.runFor(10 * SECOND_MS);
  }
}

/** The reasons for which calls of every agent are refused: `null` for a call that starts. */
async function refusals(world: SimWorld, callsEach = 3): Promise<Set<string | null>> {
  const before = world.calls.length;
  for (let i = 0; i < callsEach; i++) for (const agentId of world.agentIds) world.startCall('small', agentId);
  await world.runFor(5 * SECOND_MS);
  return new Set(world.calls.slice(before).map(({ refusal }) => refusal));
}

/** Every identity, the log against Redis and its copies, every call ended once; the oracle saw no credit end early. */
async function expectAllRight(world: SimWorld): Promise<void> {
  await comeToRest(world);
  expect(world.violation).toBeNull();
  checkAtEnd(world);
  expect(world.violation).toBeNull();
}

/** As `faregate clock repair` does: it closes the shards, and workers rebuild them. */
async function repair(world: SimWorld): Promise<void> {
  const [host] = world.pods;
  if (host === undefined) throw new Error('no process');
  for (const { meta, outbox } of host.keys) {
    const [, epoch] = await settledIn(world, host.connection.run('position', [meta, outbox], []));
    await settledIn(world, host.connection.run('fence', [meta], [Number(epoch) + 1]));
  }
  await world.runFor(20 * SECOND_MS);
}

async function settledIn<T>(world: SimWorld, answer: Promise<T>): Promise<T> {
  await world.runFor(SECOND_MS);
  return answer;
}

const mostAheadMs = (world: SimWorld): number => Math.max(...world.pods.map(({ times }) => times.aheadMs));

describe.each(Object.keys(wrongClocks) as (keyof typeof wrongClocks)[])('the clock of %s', (whose) => {
  test.each([
    ['two hours ahead', 2 * HOUR_MS],
    ['three days ahead', 3 * DAY_MS],
    ['two hours behind', -2 * HOUR_MS],
  ])(
    'that was %s for two minutes refuses no call once it is right, and ends no credit early',
    async (_, skewMs) => {
      for (const seed of [...SEEDS, ...LATE_SEEDS]) {
        const world = await calmWorld(seed);
        setSkew(world, whose, skewMs);
        await liveFor(world, 2 * MINUTE_MS);
        setSkew(world, whose, 0);
        await world.runFor(SECOND_MS);
        expect(await refusals(world), `seed ${seed}`).toEqual(new Set([null]));
        expect(mostAheadMs(world)).toBeLessThan(CLOCK_APART_MAX_MS);
        await expectAllRight(world);
      }
    },
  );
});

test('an API process or a worker that is wrong alone refuses no call while it is wrong, either', async () => {
  for (const whose of ['one API process', 'one worker'] as const) {
    for (const skewMs of [2 * HOUR_MS, 3 * DAY_MS, -2 * HOUR_MS]) {
      const world = await calmWorld(9);
      setSkew(world, whose, skewMs);
      expect(await refusals(world)).toEqual(new Set([null]));
      await world.runFor(MINUTE_MS);
      expect(await refusals(world)).toEqual(new Set([null]));
      await expectAllRight(world);
    }
  }
});

describe('a cluster whose clocks were all two hours ahead until they were believed', () => {
  async function wrongAndBelieved(seed: number): Promise<SimWorld> {
    const world = await calmWorld(seed);
    setSkew(world, 'everything', 2 * HOUR_MS);
    await liveFor(world, 7 * MINUTE_MS);
    expect(await refusals(world)).toEqual(new Set([null]));
    setSkew(world, 'everything', 0);
    await world.runFor(6 * MINUTE_MS);
    return world;
  }

  test('starts no call when they are right again, and sees that its shards are ahead', async () => {
    const world = await wrongAndBelieved(9);
    expect(await refusals(world)).toEqual(new Set(['clock_apart']));
    expect(mostAheadMs(world)).toBeGreaterThan(HOUR_MS);
    await expectAllRight(world);
  });

  test('starts calls at once after the repair, with every amount as it was', async () => {
    for (const seed of SEEDS) {
      const world = await wrongAndBelieved(seed);
      await repair(world);
      expect(mostAheadMs(world), `seed ${seed}`).toBeLessThan(CLOCK_APART_MAX_MS);
      // The rate of starts counts as used up: it lets the first call through.
      expect(await refusals(world, 1), `seed ${seed}`).toEqual(new Set([null]));
      for (let i = 0; i < 3; i++) {
        await world.runFor(MINUTE_MS);
        expect(await refusals(world), `seed ${seed}`).toEqual(new Set([null]));
      }
      await expectAllRight(world);
    }
  });
});
