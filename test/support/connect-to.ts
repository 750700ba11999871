import { Redis } from 'ioredis';
import { connectRedis } from '#core/drivers/redis.ts';
import type { Service } from '../services/service.ts';

/** With the product's own client for money. */
export async function connectTo(service: Service): Promise<Redis> {
  const client = connectRedis({ urls: [`redis://${service.address}`], cluster: false });
  if (!(client instanceof Redis)) throw new Error('one url is one Redis');
  // What a dropped connection means is for its commands to say.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
