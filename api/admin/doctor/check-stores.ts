import { type Clock, SECOND_MS } from '#core/clock.ts';
import { connectCassandra, isCassandraAway } from '#core/drivers/cassandra.ts';
import { requireSchema, SchemaTooOldError, schemaVersion } from '#core/drivers/cassandra-schema.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { requireTopics, TopicsMissingError } from '#core/drivers/kafka-topics.ts';
import { isRedisAway, openRedis, type RedisClient } from '#core/drivers/redis.ts';
import { inWords } from '#core/in-words.ts';
import { checkLedgerTopic, LEDGER_TOPIC } from '#core/ledger/cluster/kafka-ledger-topic.ts';
import { checkRedis } from '#core/ledger/cluster/redis-check.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import type { ClusterStorage } from '../../config/storage-settings.ts';
import { toCassandraOptions, toKafkaOptions, toRedisAddress } from '../../config/store-options.ts';
import { findShardsAhead } from '../recover-stores.ts';
import { compareClocks } from './check-clock.ts';
import { checkReaders, checkShards, checkVideoWorkers } from './check-workers.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { whyUnreachable } from './why-unreachable.ts';

/** What a start refuses, and whether workers of settlement and of videos are there. */
export async function checkRedisStore(
  { redis, allowUnsafe }: Pick<ClusterStorage, 'redis' | 'allowUnsafe'>,
  { clock, hasVideos }: { clock: Clock; hasVideos: boolean },
): Promise<Finding[]> {
  const check = 'redis';
  const addresses = redis.urls.map((url) => withPort(new URL(url).host, 6379));
  const away = await checkAddresses(check, addresses, 'storage.redis.urls');
  if (away.some(({ state }) => state === 'problem')) return away;
  let client: RedisClient;
  try {
    client = await openRedis(toRedisAddress(redis));
  } catch (error) {
    return [...away, problem(check, firstLine(error), todoFor(isRedisAway(error), 'storage.redis'))];
  }
  try {
    const info = await client.info('server');
    const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown';
    const [seconds] = await client.time();
    const problems = await checkRedis(client);
    return [
      ...away,
      ok(check, `version ${version} at ${addresses.join(', ')}`),
      ...problems.map((sentence) => unsafe(check, sentence, allowUnsafe)),
      {
        ...compareClocks({ ours: clock.now(), theirs: Number(seconds) * SECOND_MS, whose: 'Redis' }),
        check: 'redis clock',
      },
      await checkShards(client),
      ...(await checkShardTimes(redis)),
      ...(hasVideos ? [await checkVideoWorkers(client)] : []),
    ];
  } finally {
    client.disconnect();
  }
}

async function checkShardTimes(redis: ClusterStorage['redis']): Promise<Finding[]> {
  const ahead = await findShardsAhead({ redis });
  if (ahead.length === 0) return [];
  const mostMs = Math.max(...ahead.map(({ aheadMs }) => aheadMs));
  return [
    problem(
      'ledger time',
      `${ahead.length} shards are up to ${inWords(mostMs)} ahead of Redis' clock: their agents start no call before it has come so far`,
      "If Redis' clock is right, run faregate clock repair; else set it right.",
    ),
  ];
}

/** What a settlement worker refuses at its start, and whether projectors and workers of markets are there. */
export async function checkKafka(
  { kafka, allowUnsafe }: Pick<ClusterStorage, 'kafka' | 'allowUnsafe'>,
  { hasMarkets }: { hasMarkets: boolean },
): Promise<Finding[]> {
  const check = 'kafka';
  const away = await checkAddresses(
    check,
    kafka.brokers.map((broker) => withPort(broker, 9092)),
    'storage.kafka.brokers',
  );
  if (away.some(({ state }) => state === 'problem')) return away;
  const client = connectKafka(toKafkaOptions(kafka, 'faregate-doctor'));
  try {
    await requireTopics(client, [LEDGER_TOPIC]);
    const problems = await checkLedgerTopic(client, SHARDS);
    return [
      ...away,
      ok(check, `${LEDGER_TOPIC} is there, at ${kafka.brokers.join(', ')}`),
      ...problems.map(({ sentence, isFatal }) => unsafe(check, sentence, allowUnsafe && !isFatal)),
      ...(await checkReaders(client, { hasMarkets })),
    ];
  } catch (error) {
    if (error instanceof TopicsMissingError)
      return [...away, problem(check, `it has no topic ${LEDGER_TOPIC}`, MIGRATE)];
    return [...away, problem(check, firstLine(error), todoFor(false, 'storage.kafka'))];
  }
}

/** Its schema is this release's. */
export async function checkCassandra({ cassandra }: Pick<ClusterStorage, 'cassandra'>): Promise<Finding[]> {
  const check = 'cassandra';
  const points = cassandra.contactPoints.map((point) => withPort(point, 9042));
  const away = await checkAddresses(check, points, 'storage.cassandra.contactPoints');
  if (away.some(({ state }) => state === 'problem')) return away;
  const client = connectCassandra(toCassandraOptions(cassandra));
  try {
    const found = await requireSchema(client);
    const { rows } = await client.execute('SELECT release_version FROM system.local');
    const version = `version ${String(rows[0]?.get('release_version'))} at ${points.join(', ')}, schema ${found}`;
    if (found <= schemaVersion()) return [...away, ok(check, version)];
    return [
      ...away,
      warning(
        check,
        `${version} is of a newer release`,
        'Bring this release up to it when the upgrade is done.',
      ),
    ];
  } catch (error) {
    if (error instanceof SchemaTooOldError)
      return [...away, problem(check, error.message.split(':')[0] ?? '', MIGRATE)];
    return [...away, problem(check, firstLine(error), todoFor(isCassandraAway(error), 'storage.cassandra'))];
  } finally {
    await client.shutdown();
  }
}

const MIGRATE = 'Run faregate migrate.';

/** Nothing where all can be reached; some that cannot are no problem yet. */
async function checkAddresses(
  check: string,
  addresses: readonly string[],
  setting: string,
): Promise<Finding[]> {
  const asked = await Promise.all(
    addresses.map(async (address) => ({ address, why: await whyUnreachable(address) })),
  );
  const away = asked.flatMap(({ address, why }) => (why === null ? [] : [`${address} (${why})`]));
  if (away.length === 0) return [];
  const found = `cannot be reached: ${away.join(', ')}`;
  const todo = `Start it, or correct ${setting}.`;
  return [away.length === addresses.length ? problem(check, found, todo) : warning(check, found, todo)];
}

const todoFor = (mayCome: boolean, setting: string): string =>
  mayCome
    ? 'Look at its own log: it is there and does not answer.'
    : `Correct user, password or TLS in ${setting}.`;

/** What a start refuses unless the operator allows it. */
const unsafe = (check: string, sentence: string, isAllowed: boolean): Finding =>
  isAllowed
    ? warning(check, sentence, 'A start allows it by allowUnsafe, which is for trying out.')
    : problem(check, sentence, 'No process starts on it: change the store as it says.');

const withPort = (address: string, port: number): string =>
  /:\d+$/.test(address) ? address : `${address}:${port}`;

/** Drivers put stacks behind their sentences. */
const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
