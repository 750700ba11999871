import { afterEach, describe, expect, it, vi } from 'vitest';
import { SECOND_MS } from '#core/clock.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';
import type { Durability, Executed, Ledger } from '#core/ledger/ledger.ts';
import { GATE_BUFFER_BYTES } from '#core/limits.ts';
import { LedgerRetries } from '../../api/inference/hold/ledger-retries.ts';
import { callEnd } from '../ledger/commands.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { hello, readEvents, startTestGateway, type TestGateway, until } from '../support/gateway.ts';

let gateway: TestGateway;
afterEach(() => gateway.stop());

/** The real ledger, whose confirmations of one kind of command wait until the test lets them go. */
function holdBack(type: Command['type']): (durability: Durability) => void {
  const { deps } = gateway.running;
  const ledger: Ledger = deps.gateway.ledger;
  const waiting: ((durability: Durability) => void)[] = [];
  const held: Ledger = {
    findKey: (hashes) => ledger.findKey(hashes),
    recallKey: (hashes) => ledger.recallKey(hashes),
    readAgent: (agentId) => ledger.readAgent(agentId),
    listAgents: () => ledger.listAgents(),
    listEnded: (byMs) => ledger.listEnded(byMs),
    listHolds: () => ledger.listHolds(),
    readVideo: (agentId, videoId) => ledger.readVideo(agentId, videoId),
    findVideoByKey: (agentId, idempotencyKey) => ledger.findVideoByKey(agentId, idempotencyKey),
    listOpenVideos: () => ledger.listOpenVideos(),
    close: () => ledger.close(),
    async execute<C extends Command>(command: C): Promise<Executed<ResultOf<C>>> {
      const executed = await ledger.execute(command);
      if (command.type !== type) return executed;
      return { result: executed.result, durable: new Promise((resolve) => waiting.push(resolve)) };
    },
  };
  deps.gateway.ledger = held;
  deps.gateway.ledgerRetries = new LedgerRetries({ ledger: held, clock: deps.clock, log: deps.log });
  return (durability) => {
    for (const resolve of waiting.splice(0)) resolve(durability);
  };
}

/** Whatever was going to come without being let go has come by then. */
async function otherCallsPass(): Promise<void> {
  for (let i = 0; i < 20; i++) await gateway.balance();
}

describe('rule 6, gate: until the journal has the hold', () => {
  it('the provider works already, but the caller sees not one byte, the status line included', async () => {
    gateway = await startTestGateway();
    const release = holdBack('reserve');
    let answered = false;
    const call = gateway.post(hello({ stream: true })).then((res) => {
      answered = true;
      return res;
    });
    await gateway.provider.ended(1);
    expect(answered).toBe(false);
    release('durable');
    const events = await readEvents(await call);
    expect(events.at(-1)).toBe('[DONE]');
  });

  it('at most 64 KiB wait at the gate, then the provider is held back; nothing is lost', async () => {
    gateway = await startTestGateway({ creditUsd: '50' });
    const release = holdBack('reserve');
    const post = vi.spyOn(gateway.running.deps.gateway.upstreams, 'post');
    gateway.provider.next({ chunks: 4_000, text: 'y'.repeat(1_000) });
    const call = gateway.post(hello({ stream: true, model: 'faregate-sim/long' }));
    const received = (): number => post.mock.results[0]?.value.bytesReceived ?? 0;
    await until(() => received() >= GATE_BUFFER_BYTES);
    await otherCallsPass();
    expect(received()).toBeLessThan(4 * GATE_BUFFER_BYTES);
    release('durable');
    const events = await readEvents(await call);
    expect(events.length).toBeGreaterThan(4_000);
    await gateway.settled();
  });

  it('and when it never confirms, the call is given up after two seconds, the hold is freed', async () => {
    const clock = createFakeClock();
    gateway = await startTestGateway({ clock });
    holdBack('reserve');
    gateway.provider.next({ gate: 'never', gateAt: 'headers' });
    const call = gateway.post(hello());
    await gateway.provider.reached('never');
    await until(() => gateway.running.deps.store.lag().events === 0);
    clock.advance(3 * SECOND_MS);
    const res = await call;
    expect(res.status).toBe(503);
    expect(JSON.parse(await res.text()).error.code).toBe('service_unavailable');
    await gateway.provider.ended(1);
    expect((await gateway.settled()).chargedNanoUsd).toBe(0n);
    expect(await gateway.metric('faregate_operator_loss_calls_total', { cause: 'gate_timeout' })).toBe(1);
  });

  it('a hold that may be lost shows nothing of its answer, even when that is complete', async () => {
    gateway = await startTestGateway();
    const release = holdBack('reserve');
    const call = gateway.post(hello());
    await gateway.provider.ended(1);
    release('unknown');
    const res = await call;
    expect(res.status).toBe(503);
    expect(await res.text()).not.toContain('choices');
    expect((await gateway.settled()).chargedNanoUsd).toBe(0n);
  });
});

describe('a call that is refused for credit that another call holds', () => {
  /** A call that holds most of its agent's credit, and then a second one. */
  async function twoCalls() {
    gateway = await startTestGateway();
    const broke = await gateway.newAgent({ creditUsd: '0' });
    const { error } = JSON.parse(await (await gateway.post(hello(), { agent: broke })).text());
    const [, holdUsd = ''] = /would hold \$([\d.]+)/.exec(error.message) ?? [];
    const agent = await gateway.newAgent({ creditUsd: (1.5 * Number(holdUsd)).toFixed(9) });
    const release = holdBack('reserve');
    const first = gateway.post(hello(), { agent });
    await gateway.provider.ended(1);
    let isAnswered = false;
    const second = gateway.post(hello(), { agent }).finally(() => {
      isAnswered = true;
    });
    await otherCallsPass();
    expect(isAnswered).toBe(false);
    return { first, second, release };
  }

  it('hears that the ledger does not answer, where the journal never has the other one', async () => {
    const { first, second, release } = await twoCalls();
    release('unknown');
    const codes = [];
    for (const call of [first, second]) codes.push(JSON.parse(await (await call).text()).error.code);
    expect(codes).toEqual(['service_unavailable', 'service_unavailable']);
  });

  it('hears 402 as soon as the journal has the other one', async () => {
    const { first, second, release } = await twoCalls();
    release('durable');
    expect([(await first).status, (await second).status]).toEqual([200, 402]);
  });
});

describe('rule 8, settle: until the journal has the charge', () => {
  it('the last chunk waits a quarter of a second at most, and shows what is charged in the end', async () => {
    const clock = createFakeClock();
    gateway = await startTestGateway({ clock });
    const release = holdBack('settle');
    const call = gateway.post(hello());
    await gateway.provider.ended(1);
    await until(() => gateway.running.deps.gateway.ledgerRetries.waiting === 1);
    let answered = false;
    void call.then(() => {
      answered = true;
    });
    await otherCallsPass();
    expect(answered).toBe(false);
    clock.advance(250);
    const { usage } = JSON.parse(await (await call).text());
    release('unknown');
    await until(() => {
      clock.advance(SECOND_MS);
      release('durable');
      return gateway.running.deps.gateway.ledgerRetries.waiting === 0;
    });
    const view = await gateway.settled();
    expect(Number(view.chargedNanoUsd)).toBe(Math.round(usage.cost * 1e9));
  });
});

describe('rule 8, settle: the cost that a caller is shown', () => {
  it.each([false, true])(
    'is what left the balance, even where another process ended the call; stream: %s',
    async (stream) => {
      gateway = await startTestGateway();
      gateway.provider.next({ gate: 'ended by another', gateAt: 'headers' });
      const body = stream ? { stream, stream_options: { include_usage: true } } : {};
      const call = gateway.post(hello(body));
      await gateway.provider.reached('ended by another');
      const { ledger } = gateway.running.deps.gateway;
      const holds = await ledger.listHolds();
      const { agentId } = gateway.agent;
      const hold = holds === 'unavailable' ? undefined : holds.find((each) => each.agentId === agentId);
      if (hold === undefined) throw new Error('the call holds nothing');
      const { callId } = hold;
      await ledger.execute({ type: 'settle', agentId, callId, costNanoUsd: 1n, end: callEnd, cause: 'end' });
      gateway.provider.release('ended by another');
      const text = await (await call).text();
      expect(text).toContain('"cost":0.000000001');
      expect((await gateway.settled()).chargedNanoUsd).toBe(1n);
    },
  );
});
