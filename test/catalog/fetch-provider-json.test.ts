import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import type { Provider } from '#core/catalog/catalog.ts';
import { CATALOG_BYTES_MAX, createFetchProviderJson } from '#core/catalog/fetch-provider-json.ts';
import { CATALOG_FETCH_MS } from '#core/limits.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
});

async function serve(listener: RequestListener): Promise<Provider> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return providerAt(`http://127.0.0.1:${address.port}/v1`);
}

const providerAt = (baseUrl: string): Provider => ({
  id: 'p',
  kind: providerKinds.openrouter,
  formats: ['chat'],
  cancel: 'stops_billing',
  dialect: dialects.other,
  baseUrl,
  apiKey: 'geheim',
  settings: {},
  priceFactorPpm: 1_000_000n,
  stopped: false,
});

async function failure(provider: Provider): Promise<string> {
  const clock = createFakeClock();
  const message = await createFetchProviderJson(clock)(provider, '/models').then(
    () => 'no failure',
    (error: Error) => error.message,
  );
  expect(clock.pendingTimers()).toBe(0);
  expect(message).not.toContain('geheim');
  return message;
}

test('the answer is fetched below the address, with the key', async () => {
  const seen: unknown[] = [];
  const provider = await serve((req, res) => {
    seen.push(req.url, req.headers.authorization);
    res.end('{"data":[]}');
  });
  const clock = createFakeClock();
  expect(await createFetchProviderJson(clock)(provider, '/models')).toEqual({ data: [] });
  expect(seen).toEqual(['/v1/models', 'Bearer geheim']);
  expect(clock.pendingTimers()).toBe(0);
});

test('without a key none is sent', async () => {
  let authorization: string | undefined = 'unset';
  const provider = await serve((req, res) => {
    authorization = req.headers.authorization;
    res.end('1');
  });
  await createFetchProviderJson(createFakeClock())({ ...provider, apiKey: null }, '/models');
  expect(authorization).toBeUndefined();
});

test('any other status is a failure that names only the status', async () => {
  const body = 'secret words of the provider'.repeat(100_000);
  expect(await failure(await serve((_req, res) => res.writeHead(401).end(body)))).toBe(
    'The provider answered 401.',
  );
  const redirect: RequestListener = (_req, res) =>
    res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
  expect(await failure(await serve(redirect))).toBe('The provider answered 302.');
});

test('an answer without end is cut', async () => {
  const provider = await serve((_req, res) => {
    const chunk = Buffer.alloc(1024 * 1024, 32);
    const write = (): void => {
      while (!res.destroyed && res.write(chunk));
    };
    res.on('drain', write);
    write();
  });
  expect(await failure(provider)).toBe(`The answer is larger than ${CATALOG_BYTES_MAX} bytes.`);
});

test('an answer that is not JSON, or is cut off, is a failure', async () => {
  expect(await failure(await serve((_req, res) => res.end('<html>')))).toBe('The answer is not JSON.');
  const cut: RequestListener = (_req, res) => {
    res.writeHead(200, { 'content-length': '100' });
    res.write('{"data":');
    res.socket?.end();
  };
  expect(await failure(await serve(cut))).toMatch(/^The provider cannot be reached \(UND_ERR_\w+\)\.$/);
});

test('a provider that is not there is a failure', async () => {
  expect(await failure(providerAt('http://127.0.0.1:1/v1'))).toBe(
    'The provider cannot be reached (ECONNREFUSED).',
  );
});

test.each<[string, RequestListener]>([
  ['sends nothing', () => {}],
  ['stops in the middle', (_req, res) => void res.write('{"data":')],
])('a provider that %s is given up after the time limit', async (_what, listener) => {
  const clock = createFakeClock();
  let arrived: () => void = () => {};
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const provider = await serve((req, res) => {
    listener(req, res);
    arrived();
  });
  const fetching = createFetchProviderJson(clock)(provider, '/models');
  await arrival;
  clock.advance(CATALOG_FETCH_MS);
  await expect(fetching).rejects.toThrow('No whole answer within 30 s.');
});
