import type { Service, ServiceName } from './service.ts';
import { startCassandra } from './start-cassandra.ts';
import { startKafka } from './start-kafka.ts';
import { startRedis } from './start-redis.ts';
import { startS3 } from './start-s3.ts';

/** Installs what is missing, starts, and resolves once the service answers. */
export const startService: Record<
  ServiceName,
  (options: { dir: string; detached?: boolean }) => Promise<Service>
> = { redis: startRedis, kafka: startKafka, cassandra: startCassandra, s3: startS3 };

/** The variables that name a service that is there already. */
export const givenIn: Record<ServiceName, string> = {
  redis: 'REDIS_URL',
  kafka: 'KAFKA_BROKERS',
  cassandra: 'CASSANDRA_CONTACT_POINTS',
  s3: 'S3_ENDPOINT',
};
