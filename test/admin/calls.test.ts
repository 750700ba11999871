import { expect, test } from 'vitest';
import {
  callEnd,
  callFacts,
  keyLimits,
  MINUTES_13,
  pendingPrice,
  savedPrice,
  startLimits,
} from '../ledger/commands.ts';
import { startTestAdmin, type TestAdmin } from './admin-harness.ts';

async function withRunningCall(): Promise<TestAdmin & { callId: number }> {
  const admin = await startTestAdmin();
  const { ledger, clock } = admin;
  const callId = (clock.now() - Date.UTC(2025, 0, 1)) * 4096;
  await admin.post('/agents', { name: 'alpha' });
  await admin.post('/agents/1/grants', { usd: '5' });
  const key = { keyId: 100, label: 'web shop', prefix: 'fg_a1B2c3D4e', hash: 'h' };
  const operator = { actingKeyId: null, madeOverMcp: false, limits: keyLimits };
  await ledger.execute({ type: 'put_key', readVersion: null, agentId: 1, ...key, limit: null, ...operator });
  await ledger.execute({
    type: 'reserve',
    agentId: 1,
    keyId: 100,
    callId,
    nonce: 'n',
    kind: 'text',
    nanoUsd: 12_300_000n,
    timeLimitMs: MINUTES_13,
    callerNowMs: clock.now(),
    call: callFacts,
    price: savedPrice,
    limits: startLimits,
  });
  return { ...admin, callId };
}

test('a running call is found with its agent, key and hold', async () => {
  await using admin = await withRunningCall();
  admin.clock.advance(1_500);
  const { status, body } = await admin.get(`/calls/${admin.callId}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    agent_id: 1,
    call: {
      id: admin.callId,
      outcome: 'running',
      duration_ms: 1_500,
      key: { id: 100, label: 'web shop', prefix: 'fg_a1B2c3D4e' },
      reserved_usd: '0.0123',
      charge_usd: '0',
    },
  });
});

test('a call whose price is not known yet is pending', async () => {
  await using admin = await withRunningCall();
  const { callId } = admin;
  await admin.ledger.execute({ type: 'finish', agentId: 1, callId, end: callEnd, pending: pendingPrice });
  const { body } = await admin.get(`/calls/${callId}`);
  expect(body.call).toMatchObject({ outcome: 'pending', duration_ms: 1_500, tokens: { completion: 20 } });
});

test('an ended call is found in the history, which wins over a hold that was open a moment ago', async () => {
  await using admin = await withRunningCall();
  admin.calls.push({
    callId: admin.callId,
    agentId: 1,
    startedAtMs: admin.clock.now(),
    durationMs: 812,
    key: { keyId: 100, label: 'web shop', prefix: 'fg_a1B2c3D4e' },
    call: callFacts,
    outcome: 'failed',
    httpStatus: 502,
    errorCode: 'provider_error',
    tokens: { prompt: 1, completion: 2, reasoning: null, cached: 0 },
    reservedNanoUsd: 12_300_000n,
    chargedNanoUsd: 2_300n,
  });
  const { body } = await admin.get(`/calls/${admin.callId}`);
  expect(body.call).toMatchObject({ outcome: 'failed', http_status: 502, charge_usd: '0.0000023' });
});

test('an id that no call has is a 404', async () => {
  await using admin = await startTestAdmin();
  const answer = await admin.get('/calls/4242');
  expect(answer.status).toBe(404);
  expect(answer.body.error.message).toContain('There is no call 4242');
});

test('without the store of the history a running call is found all the same, and of any other it is said that nobody can tell', async () => {
  await using admin = await withRunningCall();
  admin.loseHistory();
  const running = await admin.get(`/calls/${admin.callId}`);
  expect(running.body.call).toMatchObject({ id: admin.callId, outcome: 'running' });
  const other = await admin.get('/calls/4242');
  expect(other.status).toBe(503);
  expect(other.body.error.message).toContain('The store of the call history does not answer now.');
});
