import { connectCassandra, isCassandraAway } from '#core/drivers/cassandra.ts';
import { requireSchema, SchemaTooOldError, schemaVersion } from '#core/drivers/cassandra-schema.ts';
import { isKafkaAway, requireTopics } from '#core/drivers/kafka-topics.ts';
import { isRedisAway } from '#core/drivers/redis.ts';
import { type ClusterLedger, openClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import type { Log } from '#core/log.ts';
import type { StartWaits } from '#core/start-waits.ts';
import type { TrustedClock } from '#core/trusted-clock.ts';
import type { CassandraSettings, ClusterStorage } from '../config/storage-settings.ts';
import { toCassandraOptions, toRedisAddress } from '../config/store-options.ts';
import { reach } from './store-error.ts';

/** Until Kafka can be reached and has these topics. Throws `StoreError` for what no waiting mends. */
export const awaitTopics = (
  waits: StartWaits,
  kafka: KafkaClient,
  topics: readonly string[],
): Promise<void> => awaitKafka(waits, () => requireTopics(kafka, topics));

export const awaitKafka = <T>(waits: StartWaits, attempt: () => Promise<T>): Promise<T> =>
  reach('Kafka', () => waits.until({ store: KAFKA, attempt, isAway: isKafkaAway }));

type KafkaClient = Parameters<typeof requireTopics>[0];

const KAFKA = 'Kafka';
const CASSANDRA = 'Cassandra';

interface SchemaParts {
  waits: StartWaits;
  cassandra: CassandraSettings;
  log: Log;
}

/** Until Cassandra can be reached and has this release's schema. Throws `StoreError` for what no waiting mends. */
export const awaitSchema = (parts: SchemaParts): Promise<void> => untilSchema(parts, isWaitable);

/**
 * The same for a process that takes care of money, which needs no Cassandra: it goes on while that is away, and says so
 * until it has been there once.
 */
export async function awaitSchemaIfThere(parts: SchemaParts): Promise<void> {
  const isAwayNow = Promise.withResolvers<void>();
  const found = untilSchema(parts, (error) => {
    if (isCassandraAway(error)) isAwayNow.resolve();
    return isWaitable(error);
  });
  let goesOn = false;
  const seen = found.catch((error: unknown) => {
    if (!goesOn) throw error;
    parts.log.error('the history cannot be read', { error });
  });
  await Promise.race([seen, isAwayNow.promise]);
  goesOn = true;
}

const isWaitable = (error: unknown): boolean => isCassandraAway(error) || error instanceof SchemaTooOldError;

async function untilSchema(
  { waits, cassandra, log }: SchemaParts,
  isAway: (error: unknown) => boolean,
): Promise<void> {
  const attempt = () => readSchema(cassandra);
  const found = await reach(CASSANDRA, () => waits.until({ store: CASSANDRA, attempt, isAway }));
  if (found <= schemaVersion()) return;
  log.warn('the schema of Cassandra is of a newer release, whose steps this one can work with', {
    count: found,
  });
}

/** With a connection of its own: one that was opened before there was a keyspace stays without it. */
async function readSchema(cassandra: CassandraSettings): Promise<number> {
  const client = connectCassandra(toCassandraOptions(cassandra));
  try {
    return await requireSchema(client);
  } finally {
    await client.shutdown();
  }
}

/** The ledger of the configured cluster, for a process that starts. Throws `StoreError` for what no waiting mends. */
export const reachLedger = (
  { redis, allowUnsafe, gateTimeoutMs }: Pick<ClusterStorage, 'redis' | 'allowUnsafe' | 'gateTimeoutMs'>,
  { waits, clock, log }: { waits: StartWaits; clock: TrustedClock; log: Log },
): Promise<ClusterLedger> =>
  reach('Redis', () =>
    waits.until({
      store: 'Redis',
      attempt: () =>
        openClusterLedger({
          ...{ address: toRedisAddress(redis), shards: SHARDS, clock, log, allowUnsafe, gateTimeoutMs },
          onNodeTime: (nodeMs) => clock.noteOther(nodeMs),
        }),
      isAway: isRedisAway,
    }),
  );
