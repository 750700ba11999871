import { SECOND_MS } from '#core/clock.ts';
import type { connectKafka } from '#core/drivers/kafka.ts';
import { readGroupSizes } from '#core/drivers/kafka-group-sizes.ts';
import type { RedisClient } from '#core/drivers/redis.ts';
import { countShards } from '#core/ledger/cluster/redis-shard-count.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { VIDEO_MEMBER_LEASE_MS } from '#core/limits.ts';
import { marketGroup, marketReaders, PROJECTOR_GROUP, VIDEO_MEMBERS_KEY } from '#core/worker-names.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const CHECK = 'workers';

/** Whether settlement workers lead the shards: no call starts in one that nobody leads. */
export async function checkShards(redis: RedisClient): Promise<Finding> {
  const { led, open } = await countShards(redis, SHARDS);
  const found = `${open} of ${SHARDS} shards are open, ${led} are led by settlement workers`;
  if (led === SHARDS && open === SHARDS) return ok(CHECK, found);
  if (led === SHARDS)
    return warning(CHECK, found, 'Wait until they are rebuilt; if that lasts, read the log of the workers.');
  return problem(
    CHECK,
    found,
    'Start workers of the role settlement: make workers ROLES="settlement projector".',
  );
}

/** By what they tell Redis every few seconds. */
export async function checkVideoWorkers(redis: RedisClient): Promise<Finding> {
  const [toldAt, [seconds]] = await Promise.all([redis.hvals(VIDEO_MEMBERS_KEY), redis.time()]);
  const nowMs = Number(seconds) * SECOND_MS;
  const here = toldAt.filter((at) => Math.abs(nowMs - Number(at)) <= VIDEO_MEMBER_LEASE_MS).length;
  if (here > 0) return ok(CHECK, ofRole('video', here));
  return warning(
    CHECK,
    `${ofRole('video', 0)}: what is ordered is not made`,
    'Start one, unless nobody orders videos: make workers ROLES=video.',
  );
}

/** By the consumer groups in which they read. */
export async function checkReaders(
  kafka: ReturnType<typeof connectKafka>,
  { hasMarkets }: { hasMarkets: boolean },
): Promise<Finding[]> {
  const marketGroups = hasMarkets ? marketReaders.map(marketGroup) : [];
  const sizes = await readGroupSizes(kafka, [PROJECTOR_GROUP, ...marketGroups]);
  const fewest = (groups: readonly string[]) => Math.min(...groups.map((each) => sizes.get(each) ?? 0));
  const projector = fewest([PROJECTOR_GROUP]);
  return [
    projector > 0
      ? ok(CHECK, ofRole('projector', projector))
      : problem(
          CHECK,
          `${ofRole('projector', 0)}: history and usage are not written`,
          'Start one: make workers ROLES=projector.',
        ),
    ...(hasMarkets ? [describeMarket(fewest(marketGroups))] : []),
  ];
}

const describeMarket = (here: number): Finding =>
  here > 0
    ? ok(CHECK, ofRole('market', here))
    : warning(
        CHECK,
        `${ofRole('market', 0)}: books and candles stand still, and trades move no credit`,
        'Start one, make workers ROLES=market, or say market: off where nothing is traded.',
      );

const ofRole = (role: string, count: number): string =>
  `${count === 0 ? 'no process has' : count === 1 ? '1 process has' : `${count} processes have`} the role ${role}`;
