import { setTimeout as sleep } from 'node:timers/promises';
import { isReady, type ServiceAddress } from './is-ready.ts';
import { ServiceMissingError, type ServiceName } from './service.ts';
import { givenIn } from './start-service.ts';

const ANSWERS_WITHIN_MS = 10_000;
const PROBE_EVERY_MS = 200;

/** A service that somebody else runs, at the address that they gave. Rejects with a sentence when it says nothing. */
export async function requireAnswer(
  name: ServiceName,
  given: string,
  withinMs = ANSWERS_WITHIN_MS,
): Promise<void> {
  const address = parseAddress(name, given);
  const giveUpAt = performance.now() + withinMs;
  while (!(await isReady(name, address))) {
    if (performance.now() > giveUpAt) {
      throw new ServiceMissingError(
        `Nothing answers as ${name} at ${address.host}:${address.port}, which ${givenIn[name]} names.`,
      );
    }
    await sleep(PROBE_EVERY_MS);
  }
}

const DEFAULT_PORTS: Record<ServiceName, number> = { redis: 6379, kafka: 9092, cassandra: 9042, s3: 443 };

/** Of several, separated by commas, the first; with or without a scheme and a port. */
export function parseAddress(name: ServiceName, given: string): ServiceAddress {
  const first = given.split(',', 1)[0]?.trim() ?? '';
  const url = new URL(first.includes('://') ? first : `tcp://${first}`);
  const port = url.protocol === 'http:' ? 80 : DEFAULT_PORTS[name];
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? port : Number(url.port),
    tls: url.protocol === 'rediss:' || url.protocol === 'https:',
  };
}
