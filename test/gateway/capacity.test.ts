import { afterEach, describe, expect, it } from 'vitest';
import { type LoopDelay, watchLoopDelay } from '#core/capacity/loop-delay.ts';
import { systemClock } from '#core/clock.ts';
import { errorStatus, errorType } from '../../api/contract/error-body.ts';
import type { ErrorCode } from '../../api/contract/errors.ts';
import { shapeOfPath } from '../../api/contract/route.ts';
import { FORMATS, requestIn } from '../formats/requests.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { hello, MODEL, startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { sharedCluster } from '../support/shared-cluster.ts';

let gateway: TestGateway;
afterEach(() => gateway.stop());

async function startWith(
  capacity: string,
  options: Partial<Parameters<typeof startTestGateway>[0]> = {},
): Promise<void> {
  gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 60000, burst: 10000 }
capacity: ${capacity}
providers: [{ id: sim, kind: simulator, baseUrl: PROVIDER_URL }]
`,
    ...options,
  });
}

const capField = {
  chat: 'max_tokens',
  responses: 'max_output_tokens',
  messages: 'max_tokens',
} as const;
type Format = (typeof FORMATS)[number];

const ask = (format: Format, cap: number): Promise<Response> =>
  gateway.post(requestIn(format, MODEL, { [capField[format]]: cap }), { path: pathOf(format) });

/** The refusal in its format's own shape, free, with the wait that every one of these codes promises. */
async function expectRefusal(
  res: Response,
  format: Format,
  code: ErrorCode,
  before = { chargedNanoUsd: 0n },
): Promise<string> {
  const shape = shapeOfPath(pathOf(format));
  expect(res.status).toBe(errorStatus(code, shape));
  const { error } = JSON.parse(await res.text());
  expect(error).toMatchObject({ code, type: errorType(code, shape) });
  if (res.status >= 429) {
    const waitMs = Number(res.headers.get('retry-after-ms'));
    expect(waitMs).toBeGreaterThan(0);
    expect(Number(res.headers.get('retry-after'))).toBe(Math.ceil(waitMs / 1_000));
  }
  const { chargedNanoUsd } = await gateway.view();
  expect(chargedNanoUsd).toBe(before.chargedNanoUsd);
  return error.message;
}

describe('the operator’s capacity', () => {
  it.each(FORMATS)('refuses a call by %s above the ceiling, and says what would fit', async (format) => {
    await startWith('{ perCallUsd: "0.001" }');
    const message = await expectRefusal(await ask(format, 4_000), format, 'request_over_capacity');
    const largest = Number(/fits is (\d+)/.exec(message)?.[1]);
    expect(message).toContain(`\`${capField[format]}\``);
    await expectRefusal(await ask(format, largest + 1), format, 'request_over_capacity');
    expect((await ask(format, largest)).status).toBe(200);
  });

  it.each(FORMATS)(
    'says by %s what would fit where a call is above an agent’s whole share of a day',
    async (format) => {
      await startWith('{ dailySharePerAgentUsd: "0.001" }');
      const message = await expectRefusal(await ask(format, 4_000), format, 'request_over_capacity');
      const largest = Number(/fits is (\d+)/.exec(message)?.[1]);
      await expectRefusal(await ask(format, largest + 1), format, 'request_over_capacity');
      expect((await ask(format, largest)).status).toBe(200);
    },
  );

  it.each(FORMATS)(
    'refuses by %s what the pool or the process has no place for, while it has none',
    async (format) => {
      await startWith('{ poolUsd: "0.001", runningCalls: 1 }');
      // On a cluster, what another process held is counted until it has told that it is free.
      await until(async () => (await gateway.post(hello({ max_tokens: 20 }))).status === 200);
      const agent = await gateway.newAgent();
      gateway.provider.next({ gate: 'one', gateAt: 'headers' });
      const running = gateway.post(hello({ max_tokens: 20 }), { agent });
      await gateway.provider.reached('one');
      const before = await gateway.view();
      const busy = await ask(format, 20);
      expect(busy.status).toBe(503);
      expect(JSON.parse(await busy.text()).error.code).toBe('gateway_busy');
      const full = await ask(format, 2_300);
      expect(full.status).toBe(503);
      expect(JSON.parse(await full.text()).error.code).toBe('gateway_capacity');
      expect(Number(full.headers.get('retry-after'))).toBe(15);
      expect((await gateway.view()).chargedNanoUsd).toBe(before.chargedNanoUsd);
      gateway.provider.release('one');
      expect((await running).status).toBe(200);
      expect((await ask(format, 20)).status).toBe(200);
    },
  );

  it.each(FORMATS)(
    'a used daily share says by %s when it ends, and that no client should wait for it',
    async (format) => {
      await startWith('{ dailySharePerAgentUsd: "0.001" }');
      gateway.provider.next({ billUsd: '0.00099', gate: 'first', gateAt: 'headers', path: pathOf(format) });
      const first = ask(format, 20);
      await gateway.provider.reached('first');
      // The hold of the first call has all but used the share, and so has its charge.
      const res = await ask(format, 2_300);
      await expectRefusal(res, format, 'daily_share_used');
      expect(res.headers.get('x-should-retry')).toBe('false');
      const midnightMs = 86_400_000 - (Date.now() % 86_400_000);
      expect(Math.abs(Number(res.headers.get('retry-after-ms')) - midnightMs)).toBeLessThan(5_000);
      gateway.provider.release('first');
      expect((await first).status).toBe(200);
    },
  );
});

// Not skipped elsewhere, which CI would count: the embedded shape has one process, and nobody to share with.
if (sharedCluster() !== undefined) {
  describe('a pool that several processes share', () => {
    it('has no place here for what is held there, until that is over', async () => {
      await startWith('{ poolUsd: "0.001" }');
      const other = await startTestGateway({ provider: gateway.provider });
      other.provider.next({ gate: 'there', gateAt: 'headers' });
      const running = other.post(hello({ max_tokens: 2_000 }));
      await other.provider.reached('there');
      await until(async () => (await ask('messages', 2_000)).status === 503);
      await expectRefusal(await ask('messages', 2_000), 'messages', 'gateway_capacity', await gateway.view());
      other.provider.release('there');
      expect((await running).status).toBe(200);
      await until(async () => (await ask('messages', 2_000)).status === 200);
      await other.running.stop();
    });
  });
}

describe('a process that is late with its work', () => {
  it('refuses calls of every format while it is, and takes them again when it is not', async () => {
    const clock = createFakeClock();
    let delayMs = 0;
    const loopDelay: LoopDelay = { takeMs: () => delayMs, stop() {} };
    await startWith('{ eventLoopLagMs: 100 }', { clock, loopDelay });
    const second = (ms: number): void => {
      delayMs = ms;
      clock.advance(1_000);
    };
    second(101);
    for (const format of FORMATS) await expectRefusal(await ask(format, 20), format, 'gateway_busy');
    expect(await gateway.metric('faregate_event_loop_lag_ms')).toBe(101);
    // What does not start a call is answered.
    expect((await gateway.balance()).running_calls).toBe(0);
    second(51);
    await expectRefusal(await ask('chat', 20), 'chat', 'gateway_busy');
    second(50);
    for (const format of FORMATS) expect((await ask(format, 20)).status).toBe(200);
    expect(await gateway.metric('faregate_event_loop_lag_ms')).toBe(50);
  });

  it('sees it when its thread is really held up, and that it is over', async () => {
    await startWith('{ eventLoopLagMs: 100 }', { loopDelay: watchLoopDelay(systemClock) });
    const sleeping = new Int32Array(new SharedArrayBuffer(4));
    // The whole thread: what comes meanwhile waits for a quarter of a second at least, on the average.
    await until(async () => {
      Atomics.wait(sleeping, 0, 0, 700);
      const res = await gateway.post(hello());
      if (res.status === 200) return (await res.text()) === '';
      return JSON.parse(await res.text()).error.code === 'gateway_busy';
    });
    await until(async () => (await gateway.post(hello())).status === 200);
  });
});
