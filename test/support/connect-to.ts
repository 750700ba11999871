import { Redis } from 'ioredis';
import { openRedis } from '#core/drivers/redis.ts';
import type { Service } from '../services/service.ts';

/** With the product's own client for money. */
export async function connectTo(service: Service): Promise<Redis> {
  const client = await openRedis({ urls: [`redis://${service.address}`], cluster: false });
  if (!(client instanceof Redis)) throw new Error('one url is one Redis');
  return client;
}
