import { expect, test } from 'vitest';
import { startOfDayMs } from '#core/clock.ts';
import type { Reserve } from '#core/ledger/command.ts';
import type { AgentState } from '#core/ledger/machine/state.ts';
import {
  callEnd,
  callFacts,
  keyLimits,
  MINUTES_13,
  pendingPrice,
  savedPrice,
  startLimits,
} from '../ledger/commands.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startTestAdmin, type TestAdmin } from './admin-harness.ts';

/** Agent 1 with $5, a limited key 100, and a running call 500 that holds $1. */
async function withCall(): Promise<TestAdmin & { state: AgentState }> {
  const admin = await startTestAdmin();
  const { ledger, clock } = admin;
  await admin.post('/agents', { name: 'alpha' });
  await admin.post('/agents/1/grants', { usd: '5' });
  const limit = { limitNanoUsd: 10_000_000_000n, reset: 'daily' as const };
  await ledger.execute({
    type: 'put_key',
    readVersion: null,
    agentId: 1,
    keyId: 100,
    label: 'k',
    prefix: 'fg_',
    hash: 'h',
    limit,
    actingKeyId: null,
    madeOverMcp: false,
    limits: keyLimits,
  });
  const reserve: Reserve = {
    type: 'reserve',
    agentId: 1,
    keyId: 100,
    callId: (clock.now() - Date.UTC(2025, 0, 1)) * 4096,
    nonce: 'n',
    kind: 'text',
    nanoUsd: 1_000_000_000n,
    timeLimitMs: MINUTES_13,
    callerNowMs: clock.now(),
    call: callFacts,
    price: savedPrice,
    limits: startLimits,
  };
  const { result } = await ledger.execute(reserve);
  expect(result).toMatchObject({ ok: true });
  const state = ledger.state.agents.get(1);
  if (state === undefined) throw new Error('The agent is gone.');
  return { ...admin, state };
}

test('sound books are ok, and their totals add up', async () => {
  await using admin = await withCall();
  const { body } = await admin.get('/ledger/audit');
  expect(body).toEqual({
    ok: true,
    agents: 1,
    keys: 1,
    totals: {
      granted_usd: '5',
      moved_in_usd: '0',
      free_usd: '4',
      held_usd: '1',
      charged_usd: '0',
      expired_usd: '0',
      moved_out_usd: '0',
      in_transit_usd: '0',
    },
    holds: { open: 1, pending: 0, usd: '1', oldest_started_at: new Date(admin.clock.now()).toISOString() },
    problems_found: 0,
    problems: [],
  });
});

const lot = (state: AgentState) => {
  const [first] = state.lots;
  if (first === undefined) throw new Error('The agent has no credit.');
  return first;
};

const damages: Record<string, { damage: (state: AgentState) => void; found: RegExp }> = {
  'credit from nowhere': {
    damage: (state) => {
      lot(state).freeNanoUsd += 1n;
    },
    found: /\$5 came in.*\$5.000000001/,
  },
  'a lost charge': {
    damage: (state) => {
      state.chargedNanoUsd += 7n;
    },
    found: /came in/,
  },
  'credit below zero': {
    damage: (state) => {
      lot(state).freeNanoUsd = -1n;
    },
    found: /below zero/,
  },
  'a hold without a call': {
    damage: (state) => {
      for (const [callId] of state.holds) state.holds.delete(callId);
    },
    found: /\$1 of its credit is held, but its calls hold \$0/,
  },
  'a key that counts another hold': {
    damage: (state) => {
      for (const key of state.keys.values()) key.heldNanoUsd = 0n;
    },
    found: /Key 100 counts \$0 as held, its calls hold \$1/,
  },
  'a hold of an unknown key': {
    damage: (state) => state.keys.clear(),
    found: /for an unknown key/,
  },
  'more charged today than ever': {
    damage: (state) => {
      state.chargedToday = { periodStartMs: startOfDayMs(createFakeClock().now()), nanoUsd: 1n };
    },
    found: /More was charged today/,
  },
};

test.each(Object.entries(damages))('%s is found', async (_, { damage, found }) => {
  await using admin = await withCall();
  damage(admin.state);
  const { status, body } = await admin.get('/ledger/audit');
  expect(status).toBe(200);
  expect(body.ok).toBe(false);
  expect(body.problems).toContainEqual({ agent_id: 1, problem: expect.stringMatching(found) });
});

test('a call that holds past its time limit and the orphan margins is found, not before', async () => {
  await using admin = await withCall();
  admin.clock.advance(MINUTES_13 + 4 * 60_000);
  expect((await admin.get('/ledger/audit')).body.ok).toBe(true);
  admin.clock.advance(1);
  const { body } = await admin.get('/ledger/audit');
  expect(body.problems).toMatchObject([{ agent_id: 1, problem: expect.stringContaining('still holds $1') }]);
});

test('a call whose price is looked up for too long is found, not before', async () => {
  await using admin = await withCall();
  const [callId = 0] = admin.state.holds.keys();
  await admin.ledger.execute({ type: 'finish', agentId: 1, callId, end: callEnd, pending: pendingPrice });
  admin.clock.advance(callEnd.durationMs + 12 * 60_000);
  const before = (await admin.get('/ledger/audit')).body;
  expect(before).toMatchObject({ ok: true, holds: { open: 1, pending: 1 } });
  admin.clock.advance(1);
  expect((await admin.get('/ledger/audit')).body.ok).toBe(false);
});

test('credit that has left its seller is in transit until its buyer has it', async () => {
  await using admin = await withCall();
  const trade = { tradeId: '1:t1', expiresAtMs: lot(admin.state).expiresAtMs, nanoUsd: 1_500_000_000n };
  const totals = async () => (await admin.get('/ledger/audit')).body.totals;
  await admin.ledger.execute({ type: 'move_out', agentId: 1, buyerAgentId: 2, ...trade });
  expect(await totals()).toMatchObject({ moved_out_usd: '1.5', moved_in_usd: '0', in_transit_usd: '1.5' });
  await admin.ledger.execute({ type: 'move_in', agentId: 2, ...trade });
  expect(await totals()).toMatchObject({ moved_out_usd: '1.5', moved_in_usd: '1.5', in_transit_usd: '0' });
});

test('an audit of many agents reads every one', async () => {
  await using admin = await startTestAdmin();
  for (let agentId = 1; agentId <= 250; agentId++) {
    await admin.ledger.execute({
      type: 'grant',
      agentId,
      grantId: 'g',
      expiresAtMs: Date.UTC(2026, 10, 20),
      nanoUsd: 1_000_000_000n,
    });
  }
  const { body } = await admin.get('/ledger/audit');
  expect(body).toMatchObject({ ok: true, agents: 250, totals: { granted_usd: '250', free_usd: '250' } });
});
