import { afterEach, describe, expect, it } from 'vitest';
import { BREAKER_COOLDOWN_MS } from '#core/limits.ts';
import { errorType } from '../../api/contract/error-body.ts';
import { shapeOfPath } from '../../api/contract/route.ts';
import { BREAKER_FAILURES } from '../../api/inference/routing/endpoint-health.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import type { TestAgent, TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { failing } from '../support/provider-failures.ts';
import { startFormatGateway } from './format-gateway.ts';
import { FORMATS, requestIn } from './requests.ts';

let gateway: TestGateway;
afterEach(() => gateway.stop());

async function start(): Promise<FakeClock> {
  const clock = createFakeClock();
  gateway = await startFormatGateway('stops_billing', {}, { clock });
  return clock;
}

async function ask(
  format: (typeof FORMATS)[number],
  options: { agent?: TestAgent; stream?: boolean; models?: string[]; user?: string },
) {
  const { agent = await gateway.newAgent(), user, ...extra } = options;
  const body = requestIn(
    format,
    'acme/all',
    user === undefined ? extra : { ...extra, metadata: { user_id: user } },
  );
  const res = await gateway.post(body, { path: pathOf(format), agent });
  const text = await res.text();
  return {
    status: res.status,
    headers: res.headers,
    text,
    code: res.status === 200 ? null : JSON.parse(text).error.code,
  };
}

const asked = (): number => gateway.provider.posts().length;

/** Calls of several agents that all fail, as many as it takes. */
async function breakEndpoint(format: (typeof FORMATS)[number], times = BREAKER_FAILURES): Promise<void> {
  for (let i = 0; i < times; i++) {
    gateway.provider.next({ path: pathOf(format), ...failing(500), billUsd: '0' });
    expect((await ask(format, { stream: i % 2 === 0 })).code).toBe('upstream_error');
  }
}

describe.each(FORMATS)('by %s: an endpoint that failed for several agents in a row', (format) => {
  it('is asked no more: callers hear provider_unavailable and how long, and nothing is asked, held or paid', async () => {
    await start();
    await breakEndpoint(format);
    const before = asked();
    const agent = await gateway.newAgent();
    for (const stream of [false, true]) {
      const { status, code, headers, text } = await ask(format, { agent, stream });
      expect([status, code]).toEqual([503, 'provider_unavailable']);
      expect(JSON.parse(text).error.type).toBe(
        errorType('provider_unavailable', shapeOfPath(pathOf(format))),
      );
      expect(headers.get('retry-after-ms')).toBe(String(BREAKER_COOLDOWN_MS));
      expect(headers.get('retry-after')).toBe(String(BREAKER_COOLDOWN_MS / 1_000));
      expect(headers.get('x-should-retry')).toBeNull();
    }
    expect(asked()).toBe(before);
    expect(await gateway.view(agent)).toMatchObject({ holds: [], chargedNanoUsd: 0n });
    expect(await gateway.calls(agent)).toEqual([]);
  });

  it('is asked no more by any format, and another endpoint answers in its place', async () => {
    await start();
    await breakEndpoint(format);
    for (const other of FORMATS) {
      const { status, text } = await ask(other, { models: ['acme/chat'] });
      expect(status).toBe(200);
      expect(text).toContain('"acme/chat"');
    }
  });

  it('is tried by one call after its cooldown: that one is answered, and then all are', async () => {
    const clock = await start();
    await breakEndpoint(format);
    clock.advance(BREAKER_COOLDOWN_MS - 1);
    expect((await ask(format, {})).headers.get('retry-after-ms')).toBe('1');
    clock.advance(1);
    gateway.provider.next({ path: pathOf(format), gate: 'probe', gateAt: 'headers' });
    const probe = ask(format, {});
    await gateway.provider.reached('probe');
    expect((await ask(format, {})).code).toBe('provider_unavailable');
    gateway.provider.release('probe');
    expect((await probe).status).toBe(200);
    expect((await ask(format, {})).status).toBe(200);
    expect((await ask(format, { stream: true })).status).toBe(200);
  });

  it('has a cooldown twice as long when that call fails, too', async () => {
    const clock = await start();
    await breakEndpoint(format);
    clock.advance(BREAKER_COOLDOWN_MS);
    await breakEndpoint(format, 1);
    expect((await ask(format, {})).headers.get('retry-after-ms')).toBe(String(2 * BREAKER_COOLDOWN_MS));
  });

  it('is asked on where all that failed was one agent’s, whatever it sends, as long as probes pass', async () => {
    await start();
    const agent = await gateway.newAgent();
    for (let i = 0; i < 2 * BREAKER_FAILURES; i++) {
      gateway.provider.next({ path: pathOf(format), ...failing(500), billUsd: '0' });
      expect((await ask(format, { agent, user: `body ${i % 3}` })).code).toBe('upstream_error');
    }
    expect((await ask(format, {})).status).toBe(200);
  });

  it('is asked on where callers were wrong', async () => {
    await start();
    for (let i = 0; i < 2 * BREAKER_FAILURES; i++) {
      gateway.provider.next({ path: pathOf(format), ...failing(400) });
      expect((await ask(format, { user: `body ${i}` })).code).toBe('invalid_request');
    }
    expect((await ask(format, {})).status).toBe(200);
  });

  it('stays in use while some of its streams are cut in their middle, however many agents they are of', async () => {
    await start();
    for (let i = 0; i < 4 * BREAKER_FAILURES; i++) {
      const cut = i % 3 > 0;
      if (cut) gateway.provider.next({ path: pathOf(format), chunks: 30, cutAt: 2_000 });
      const { status, text } = await ask(format, { stream: true });
      expect(status).toBe(200);
      expect(text.includes('provider_error')).toBe(cut);
    }
  });
});
