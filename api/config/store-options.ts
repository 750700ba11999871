import type { CassandraOptions } from '#core/drivers/cassandra.ts';
import type { KafkaOptions } from '#core/drivers/kafka.ts';
import type { RedisAddress } from '#core/drivers/redis.ts';
import type { CassandraSettings, KafkaSettings, RedisSettings } from './storage-settings.ts';

/** The settings as the drivers take them, secrets in the open: made where a connection is opened, and not kept. */
export function toRedisAddress({
  urls,
  cluster,
  username,
  password,
  timeoutMs,
}: RedisSettings): RedisAddress {
  const complete = urls.map((text) => {
    const url = new URL(text);
    if (username !== null) url.username = encodeURIComponent(username);
    if (password !== null) url.password = encodeURIComponent(password.reveal());
    return url.toString();
  });
  return { urls: complete, cluster, timeoutMs };
}

export const toKafkaOptions = ({ brokers, tls, sasl }: KafkaSettings, clientId: string): KafkaOptions => ({
  brokers,
  clientId,
  tls,
  sasl: sasl === null ? null : { ...sasl, password: sasl.password.reveal() },
});

export function toCassandraOptions(settings: CassandraSettings): CassandraOptions & { keyspace: string } {
  const { contactPoints, localDataCenter, keyspace, username, password, tls } = settings;
  return {
    contactPoints,
    localDataCentre: localDataCenter,
    keyspace,
    tls,
    ...(username !== null && { credentials: { username, password: password?.reveal() ?? '' } }),
  };
}
