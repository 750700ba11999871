import { Agent } from 'undici';
import { expect } from 'vitest';
import { billedAccounts } from '#core/bills/provider-bill.ts';
import type { CallRecord } from '#core/calls/call-record.ts';
import { formatUsd } from '#core/money.ts';
import { createDraw } from '../ledger/history/random.ts';
import { startTestGateway, type TestAgent, type TestGateway, until } from '../support/gateway.ts';
import { sharedCluster, untilProjected } from '../support/shared-cluster.ts';
import { drawCall, kinds, modelOf, type RandomCall } from './draw-call.ts';
import { makeCall, type Told } from './make-call.ts';

const AGENTS = 8;
const AT_ONCE = 24;
/** What waits for a price is asked for again after a second, and a process stores what was taken every ten. */
const PATIENCE_MS = 60_000;

const prices = {
  small: '{ prompt: "0.0000001", completion: "0.0000004" }',
  thinker: '{ prompt: "0.000001", completion: "0.000004", internalReasoning: "0.000005" }',
  vision: '{ prompt: "0.0000005", completion: "0.000002", image: "0.0004", request: "0.00001" }',
};
type Variant = keyof typeof prices;

const models = kinds.flatMap((kind) =>
  (['small', 'thinker', 'vision'] as const satisfies readonly Variant[]).map(
    (variant) => `
  - id: ${modelOf(kind, variant)}
    contextLength: 32768
    maxOutputTokens: 4096
    inputModalities: [text, image]
    endpoints: [{ provider: random-${kind}, model: faregate-sim/${variant}, pricing: ${prices[variant]} }]`,
  ),
);

/**
 * The price lists are the provider's own, so that what its tokens cost is what it bills. No other test has providers of these
 * names: what was taken is summed by name, and in a cluster that tests share a worker tells it seconds after a call.
 */
const yaml = `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 60000, burst: 60000, runningCalls: 1000 }
capacity: { dailySharePerAgentUsd: null }
providers:
  - { id: random-sim, kind: simulator, catalog: none, baseUrl: PROVIDER_URL }
  - { id: random-chat, kind: openai, dialect: other, baseUrl: PROVIDER_URL }
  - { id: random-messages, kind: anthropic, baseUrl: PROVIDER_URL }
models:${models.join('')}
`;

/** Makes the calls of this seed over HTTP, and compares each with the ledger, and with what the provider took. */
export async function runRandomCalls(seed: number, count: number): Promise<Record<string, number>> {
  const draw = createDraw(seed);
  const calls = Array.from({ length: count }, (_, number) => drawCall(draw, number + 1, AGENTS));
  const gateway = await startTestGateway({ yaml, creditUsd: '0' });
  const http = new Agent({ connections: null });
  try {
    const agents = await Promise.all(
      Array.from({ length: AGENTS }, () => gateway.newAgent({ creditUsd: '100000' })),
    );
    const recordedBefore = await recorded(gateway);
    const told = await makeAll(gateway, calls, agents, http);
    await untilSettled(gateway, agents);
    return await compare(gateway, agents, told, recordedBefore);
  } finally {
    await http.destroy();
    await gateway.stop();
  }
}

async function makeAll(
  gateway: TestGateway,
  calls: readonly RandomCall[],
  agents: readonly TestAgent[],
  http: Agent,
): Promise<Told[]> {
  const told: Told[] = [];
  const waiting = calls.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const call of waiting) {
        const agent = agents[call.caller];
        if (agent === undefined) throw new Error(`no agent ${call.caller}`);
        told.push(await makeCall(gateway, call, agent, http));
      }
    }),
  );
  return told;
}

async function untilSettled(gateway: TestGateway, agents: readonly TestAgent[]): Promise<void> {
  for (const agent of agents) {
    await until(async () => (await gateway.view(agent)).holds.length === 0, PATIENCE_MS);
  }
  const cluster = sharedCluster();
  if (cluster !== undefined) await untilProjected(cluster);
}

/** What all calls say that these providers took. */
async function recorded({ running }: TestGateway): Promise<bigint> {
  const [account] = billedAccounts(running.deps.catalog.providers());
  if (account === undefined) throw new Error('no bill');
  return (await running.deps.store.bills.read(account)).recordedNanoUsd;
}

async function compare(
  gateway: TestGateway,
  agents: readonly TestAgent[],
  told: readonly Told[],
  recordedBefore: bigint,
): Promise<Record<string, number>> {
  const bills = new Map(gateway.provider.billed().map((bill) => [bill.generationId, bill.costNanoUsd]));
  const figures: Record<string, number> = { calls: told.length, seen: 0, seenBySdk: 0, billed: 0, failed: 0 };
  const add = (name: string): void => {
    figures[name] = (figures[name] ?? 0) + 1;
  };
  for (const each of told) {
    add(each.call.trouble);
    if (each.callId === null) continue;
    const record = await gateway.running.deps.store.history.find(each.callId);
    if (record === 'unavailable') throw new Error(`call ${describeCall(each)} cannot be looked up`);
    if (record === null) {
      // After five failures in a row an endpoint rests, and on a busy machine a hold may come too late: such calls are refused before
      // anything is held, and are no calls.
      expect(REFUSED_UNHELD, describeCall(each)).toContain(each.code);
      add('refused');
      continue;
    }
    expectAsTold(each, record, add);
    expectAsBilled(each, record, bills, add);
  }

  let charged = 0n;
  for (const agent of agents) {
    const { lots, holds, runningCalls, ...view } = await gateway.view(agent);
    expect([holds, runningCalls]).toEqual([[], 0]);
    const free = lots.reduce((sum, lot) => sum + lot.freeNanoUsd, 0n);
    const held = lots.reduce((sum, lot) => sum + lot.heldNanoUsd, 0n);
    expect(held).toBe(0n);
    expect(view.grantedNanoUsd).toBe(free + held + view.chargedNanoUsd + view.expiredNanoUsd);
    charged += view.chargedNanoUsd;
  }
  expect(gateway.running.deps.gateway.capacity.heldNanoUsd).toBe(0n);

  // Whatever the cause: on a busy machine a hold may be written too late, and the provider is paid for its call all the same.
  const borneUsd = await gateway.metric('faregate_operator_loss_usd_total');
  await expectWholeBill(gateway, charged + BigInt(Math.round(borneUsd * 1e9)), recordedBefore);
  return figures;
}

/** A hold that is written later than the gate waits is given back as soon as it is there, or never comes to be. */
const HELD_TOO_LATE = 'service_unavailable';
const REFUSED_UNHELD = ['provider_unavailable', HELD_TOO_LATE];

/** What the client saw is what left the balance; a call that failed before its answer began is free. */
function expectAsTold(each: Told, record: CallRecord, add: (name: string) => void): void {
  const { chargedNanoUsd } = record;
  if (typeof each.cost === 'bigint') expect(chargedNanoUsd, describeCall(each)).toBe(each.cost);
  if (typeof each.cost === 'number') {
    expect(Number(formatUsd(chargedNanoUsd)), describeCall(each)).toBe(each.cost);
    add('seenBySdk');
  }
  if (each.cost !== null) add('seen');
  const { call, status } = each;
  if (status === 200 && each.whole && call.trouble !== 'late') {
    expect(each.cost !== null, describeCall(each)).toBe(call.showsUsage);
  }
  if (status !== 200) {
    // Nothing was to go wrong, but that where it was to fall back to rests, too, or that a busy machine wrote the hold too late.
    const isLate = each.code === HELD_TOO_LATE;
    const isExpected = call.trouble !== 'none' || call.fallback !== null || isLate;
    expect(isExpected, describeCall(each)).toBe(true);
    expect(chargedNanoUsd, describeCall(each)).toBe(0n);
    add(isLate ? 'refused' : 'failed');
  }
}

/** What left the balance is what the provider took, wherever it can tell; a plain server cannot, of an answer that was cut. */
function expectAsBilled(
  each: Told,
  { chargedNanoUsd, reservedNanoUsd }: CallRecord,
  bills: ReadonlyMap<string, bigint>,
  add: (name: string) => void,
): void {
  const { call, status, whole } = each;
  const kind = call.fallback ?? call.kind;
  if (status !== 200 || each.generationId === null || (!whole && kind !== 'sim')) return;
  // Shown before the provider could be asked, so it was estimated.
  if (call.trouble === 'late' && each.cost !== null) return;
  const bill = bills.get(each.generationId);
  if (bill === undefined) throw new Error(`${describeCall(each)} was not billed`);
  expect(chargedNanoUsd, describeCall(each)).toBe(bill < reservedNanoUsd ? bill : reservedNanoUsd);
  add('billed');
}

/** All that calls say of their providers is what left the balances, and what the operator bore: no more, no less. */
async function expectWholeBill(gateway: TestGateway, paid: bigint, before: bigint): Promise<void> {
  const said = async (): Promise<bigint> => (await recorded(gateway)) - before;
  await until(async () => (await said()) >= paid, PATIENCE_MS);
  expect(await said()).toBe(paid);
}

const describeCall = ({ call, status, callId }: Told): string =>
  `call ${callId} answered ${status}: ${JSON.stringify(call)}`;
