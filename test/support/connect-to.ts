import { Redis } from 'ioredis';
import { openRedis } from '#core/drivers/redis.ts';
import type { Service } from '../services/service.ts';

/**
 * Connects with the product's own client for money.
 *
 * @param timeoutMs How long a command may take: the product's own time, unless the test is about what Redis decides.
 */
export async function connectTo(service: Service, timeoutMs?: number): Promise<Redis> {
  const client = await openRedis({ urls: [`redis://${service.address}`], cluster: false, timeoutMs });
  if (!(client instanceof Redis)) throw new Error('one url is one Redis');
  return client;
}
