import { Cluster } from 'ioredis';
import type { RedisClient } from '../../drivers/redis.ts';

const MAJOR_VERSION_MIN = 7;

/** How the ledger's Redis differs from what keeps money safe: sentences for the operator, with what to do. */
export async function checkRedis(client: RedisClient): Promise<string[]> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const infos = await Promise.all(nodes.map((node) => node.info()));
  return [...new Set(infos.flatMap(redisProblems))];
}

export function redisProblems(info: string): string[] {
  const problems: string[] = [];
  const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? 'unknown';
  if (!(Number.parseInt(version, 10) >= MAJOR_VERSION_MIN)) {
    problems.push(`Redis is version ${version}: the ledger's scripts need ${MAJOR_VERSION_MIN} or newer.`);
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'unknown';
  if (policy !== 'noeviction') {
    problems.push(
      `Redis has maxmemory-policy ${policy}: it would drop money when it is full. Set it to noeviction.`,
    );
  }
  return problems;
}

/** The ledger must not use this Redis; each problem is a sentence of the message. */
export class UnsafeRedisError extends Error {
  override readonly name = 'UnsafeRedisError';

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
  }
}
