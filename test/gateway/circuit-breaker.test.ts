import { createServer, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { BREAKER_COOLDOWN_MS, KEY_RATE_LIMIT_MAX_MS } from '#core/limits.ts';
import { Secret } from '#core/secret.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { startTestGateway, type TestAgent, type TestGateway, until } from '../support/gateway.ts';
import { passTime } from '../support/pass-time.ts';
import { selfSigned } from '../support/self-signed.ts';

/** A provider on a real socket, which counts what it is asked. */
interface Fake extends AsyncDisposable {
  url: string;
  /** Calls, without probes. */
  calls: number;
  probes: number;
  answer: (res: ServerResponse, isProbe: boolean) => void;
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

async function startFake(answer: Fake['answer']): Promise<Omit<Fake, symbol>> {
  const fake = { url: '', calls: 0, probes: 0, answer };
  const port = await listen(
    createServer((req, res) => {
      const isProbe = req.method === 'GET';
      if (isProbe) fake.probes++;
      else fake.calls++;
      req.resume();
      req.on('end', () => fake.answer(res, isProbe));
    }),
  );
  fake.url = `http://127.0.0.1:${port}`;
  return fake;
}

const completion = JSON.stringify({
  id: 'x',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 },
});
const good: Fake['answer'] = (res, isProbe) => {
  res.setHeader('content-type', 'application/json');
  res.end(isProbe ? '{"data":[]}' : completion);
};
const refusing =
  (status: number, headers: Record<string, string> = {}): Fake['answer'] =>
  (res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end('{"error":{"message":"no"}}');
  };

interface World {
  gateway: TestGateway;
  clock: FakeClock;
  agent: TestAgent;
  ask: (text?: string, model?: string, agent?: TestAgent) => Promise<Asked>;
}
interface Asked {
  status: number;
  code: string | undefined;
  retryAfterMs: number;
}

const modelYaml = (id: string, endpoints: string[]): string => `
  - id: ${id}
    contextLength: 8192
    maxOutputTokens: 1024
    endpoints: [${endpoints.map((each) => `{ provider: ${each}, model: small, pricing: { prompt: "0.000001", completion: "0.000001" } }`).join(', ')}]`;

const yamlOf = (url: string, spareUrl: string) => `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 6000, burst: 1000 }
providers:
  - { id: own, kind: openai, cancel: bills_full, baseUrl: "${url}" }
  - { id: spare, kind: openai, cancel: bills_full, baseUrl: "${spareUrl}" }
models:${modelYaml('acme/one', ['own'])}${modelYaml('acme/two', ['own', 'spare'])}
`;

async function startWorld(url: string, spareUrl = 'http://127.0.0.1:1'): Promise<World> {
  const clock = createFakeClock();
  const gateway = await startTestGateway({ clock, yaml: yamlOf(url, spareUrl) });
  closers.push(() => gateway.stop());
  const { agent } = gateway;
  return {
    gateway,
    clock,
    agent,
    async ask(text = 'hi', model = 'acme/one', by = agent) {
      const body = { model, messages: [{ role: 'user', content: text }], max_tokens: 10 };
      const res = await gateway.post(body, { agent: by });
      const { error } = JSON.parse(await res.text());
      return {
        status: res.status,
        code: error?.code,
        retryAfterMs: Number(res.headers.get('retry-after-ms')),
      };
    },
  };
}

const codes = async (times: number, ask: (i: number) => Promise<Asked>): Promise<(string | undefined)[]> => {
  const found: (string | undefined)[] = [];
  for (let i = 0; i < times; i++) found.push((await ask(i)).code);
  return found;
};
const repeated = <T>(times: number, value: T): T[] => Array.from({ length: times }, () => value);

describe('twenty calls of one agent', () => {
  it('to a provider that refuses connections ask it once', async () => {
    let connections = 0;
    const { port } = await refusingPort();
    const { ask, gateway } = await startWorld(`http://127.0.0.1:${port}`);
    const { upstreams } = gateway.running.deps.gateway;
    const post = upstreams.post.bind(upstreams);
    upstreams.post = (...args) => {
      connections++;
      return post(...args);
    };
    const found = await codes(20, () => ask());
    expect(found).toEqual(['upstream_unreachable', ...repeated(19, 'provider_unavailable')]);
    expect(connections).toBe(1);
  });

  it('to a provider whose name does not resolve ask it once', async () => {
    const { ask } = await startWorld('http://no-such-host.invalid');
    expect(await codes(20, () => ask())).toEqual([
      'upstream_unreachable',
      ...repeated(19, 'provider_unavailable'),
    ]);
  });

  it('to a provider whose certificate is not to be trusted ask it once, and it hears none of them', async () => {
    let requests = 0;
    const port = await listen(createTlsServer(await selfSigned(), () => void requests++));
    const { ask } = await startWorld(`https://127.0.0.1:${port}`);
    expect(await codes(20, () => ask())).toEqual([
      'upstream_unreachable',
      ...repeated(19, 'provider_unavailable'),
    ]);
    expect(requests).toBe(0);
  });

  it('of different texts to a server that answers everything with 500 ask it twice before its probe, and then no more', async () => {
    const fake = await startFake(refusing(500));
    const { ask, gateway } = await startWorld(fake.url);
    const opens = () => gateway.running.deps.gateway.health.open().length === 1;
    expect(await codes(2, (i) => ask(`text ${i}`))).toEqual(repeated(2, 'upstream_error'));
    await until(opens);
    expect(await codes(18, (i) => ask(`more ${i}`))).toEqual(repeated(18, 'provider_unavailable'));
    expect([fake.calls, fake.probes]).toEqual([2, 1]);
  });

  it('with the same text to a server that answers everything with 500 never shut it', async () => {
    const fake = await startFake(refusing(500));
    const { ask } = await startWorld(fake.url);
    expect(await codes(20, () => ask())).toEqual(repeated(20, 'upstream_error'));
    expect([fake.calls, fake.probes]).toEqual([20, 0]);
  });

  it('of different texts that all fail do not shut a server whose probes pass', async () => {
    const fake = await startFake((res, isProbe) => (isProbe ? good(res, true) : refusing(500)(res, false)));
    const { ask, clock, gateway } = await startWorld(fake.url);
    const found = await codes(20, async (i) => {
      clock.advance(SECOND_MS);
      return await ask(`text ${i}`);
    });
    expect(found).toEqual(repeated(20, 'upstream_error'));
    expect(fake.calls).toBe(20);
    fake.answer = good;
    expect((await ask('hi', 'acme/one', await gateway.newAgent())).status).toBe(200);
  });

  it('are answered by the model’s other provider, and the dead one is asked once', async () => {
    const { port } = await refusingPort();
    const spare = await startFake(good);
    const { ask } = await startWorld(`http://127.0.0.1:${port}`, spare.url);
    expect(await codes(20, () => ask('hi', 'acme/two'))).toEqual(repeated(20, undefined));
    expect(spare.calls).toBe(20);
  });
});

describe('a key that the provider refuses', () => {
  it.each([
    [401, 'gateway_unavailable'],
    [402, 'gateway_capacity'],
  ])('with %i is used once by twenty calls of one agent', async (status, code) => {
    const fake = await startFake(refusing(status));
    const { ask } = await startWorld(fake.url);
    expect(await codes(20, (i) => ask(`text ${i}`))).toEqual([code, ...repeated(19, 'provider_unavailable')]);
    expect(fake.calls).toBe(1);
  });

  it('is used again once a probe passes, and what callers are told to wait is true', async () => {
    const fake = await startFake(refusing(401));
    const { ask, clock } = await startWorld(fake.url);
    await ask();
    expect((await ask()).retryAfterMs).toBe(BREAKER_COOLDOWN_MS);
    fake.answer = good;
    clock.advance((await ask()).retryAfterMs);
    await until(async () => (await ask()).status === 200);
    expect([fake.calls, fake.probes]).toEqual([2, 1]);
  });

  it('is replaced in the configuration: the new one is used at once', async () => {
    const fake = await startFake(refusing(401));
    const { ask, gateway } = await startWorld(fake.url);
    await ask();
    expect((await ask()).code).toBe('provider_unavailable');
    fake.answer = good;
    const { catalog, config } = gateway.running.deps;
    const [own, ...others] = config.current().providers;
    if (own === undefined) throw new Error('no provider');
    catalog.apply({
      ...config.current(),
      providers: [{ ...own, apiKey: new Secret('second-key') }, ...others],
    });
    expect((await ask()).status).toBe(200);
    expect(fake.probes).toBe(0);
  });

  it('because its account is empty is tried by one call after each cooldown, and then by all', async () => {
    const fake = await startFake(refusing(402));
    const { ask, clock } = await startWorld(fake.url);
    await ask();
    clock.advance(BREAKER_COOLDOWN_MS);
    const side = await Promise.all(Array.from({ length: 8 }, () => ask()));
    expect(side.filter(({ code }) => code === 'gateway_capacity')).toHaveLength(1);
    expect(fake.calls).toBe(2);
    fake.answer = good;
    clock.advance((await ask()).retryAfterMs);
    expect(await codes(3, () => ask())).toEqual(repeated(3, undefined));
    expect(fake.probes).toBe(0);
  });

  it('for one large request alone stays in use: a router names what it would pay for', async () => {
    const message =
      'This request requires more credits, or fewer max_tokens. You requested up to 900, but can only afford 20.';
    const fake = await startFake((res) => {
      res.writeHead(402, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ error: { code: 402, message } }));
    });
    const { ask } = await startWorld(fake.url);
    expect(await codes(3, () => ask())).toEqual(repeated(3, 'gateway_capacity'));
    fake.answer = good;
    expect((await ask()).status).toBe(200);
  });
});

describe('a provider that answers 429', () => {
  const at = Date.UTC(2026, 10, 18, 10);
  const httpDate = (ms: number) => new Date(ms).toUTCString();
  it.each<[string, Record<string, string>, number]>([
    ['retry-after: 3', { 'retry-after': '3' }, 3_000],
    ['retry-after: 0.5', { 'retry-after': '0.5' }, 500],
    ['retry-after-ms: 1500', { 'retry-after-ms': '1500', 'retry-after': '2' }, 1_500],
    [
      'a date of the provider’s clock',
      { date: httpDate(at - 7_000), 'retry-after': httpDate(at - 3_000) },
      4_000,
    ],
    ['an hour', { 'retry-after': '3600' }, KEY_RATE_LIMIT_MAX_MS],
    ['a far date', { date: httpDate(at), 'retry-after': httpDate(at + 86_400_000) }, KEY_RATE_LIMIT_MAX_MS],
    ['nothing', {}, 2_000],
    ['nonsense', { 'retry-after': 'soon' }, 2_000],
  ])('with %s is asked again after that, and by no agent before', async (_, headers, ms) => {
    const fake = await startFake(refusing(429, headers));
    const { ask, clock, gateway } = await startWorld(fake.url);
    expect((await ask()).code).toBe('model_busy');
    fake.answer = good;
    const other = await gateway.newAgent();
    clock.advance(ms - 1);
    expect(await ask('hi', 'acme/one', other)).toEqual({ status: 503, code: 'model_busy', retryAfterMs: 1 });
    expect(fake.calls).toBe(1);
    clock.advance(1);
    expect((await ask('hi', 'acme/one', other)).status).toBe(200);
  });
});

describe('a provider that never answers', () => {
  it('is not asked again once two different calls of one agent ran into their time limit and its probe did, too', async () => {
    const fake = await startFake(() => {});
    const { ask, clock, gateway } = await startWorld(fake.url);
    const asked = [ask('one'), ask('two')];
    await until(() => fake.calls === 2);
    await passTime(gateway, clock, 13 * MINUTE_MS + 2 * SECOND_MS);
    for (const each of await Promise.all(asked)) expect(each.code).toBe('upstream_timeout');
    await until(() => fake.probes === 1);
    await passTime(gateway, clock, 6 * SECOND_MS);
    await until(() => gateway.running.deps.gateway.health.open().length === 1);
    expect((await ask('three')).code).toBe('provider_unavailable');
    expect(fake.calls).toBe(2);
  });
});

describe('a provider that comes back', () => {
  it('after refused connections takes calls within two seconds, although nobody called', async () => {
    const { port } = await refusingPort();
    const { ask, clock } = await startWorld(`http://127.0.0.1:${port}`);
    await ask();
    const server = createServer((req, res) => good(res, req.method === 'GET'));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    closers.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    clock.advance(BREAKER_COOLDOWN_MS);
    await until(async () => (await ask()).status === 200);
  });

  it('lets one of many calls through that wait for it, and then all', async () => {
    const fake = await startFake(refusing(429, { 'retry-after': '1' }));
    const { ask, clock } = await startWorld(fake.url);
    await ask();
    clock.advance(SECOND_MS);
    let release: (() => void) | undefined;
    fake.answer = (res) => {
      release = () => good(res, false);
    };
    const refused: (string | undefined)[] = [];
    const many = Array.from({ length: 8 }, async () => {
      const answer = await ask();
      if (answer.status !== 200) refused.push(answer.code);
      return answer;
    });
    await until(() => refused.length === 7);
    expect(new Set(refused)).toEqual(new Set(['model_busy']));
    expect(fake.calls).toBe(2);
    release?.();
    fake.answer = good;
    const statuses = (await Promise.all(many)).map(({ status }) => status).toSorted();
    expect(statuses).toEqual([200, ...repeated(7, 503)]);
    expect((await ask()).status).toBe(200);
  });
});

/** A port of this machine where nobody listens. */
async function refusingPort(): Promise<{ port: number }> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return { port };
}
