import { expect, test } from 'vitest';
import { DAY_MS, isoTime, startOfDayMs } from '#core/clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startTestAdmin } from './admin-harness.ts';

/** The harness's clock starts at 10:00 of the day that this counts from. */
const midnight = (days: number): string => isoTime(startOfDayMs(createFakeClock().now()) + days * DAY_MS);

test('credit lasts 7 full days: it ends on the eighth midnight', async () => {
  await using admin = await startTestAdmin();
  await admin.post('/agents', { name: 'alpha' });
  const { status, body } = await admin.post('/agents/1/grants', { usd: '5' });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    repeated: false,
    agent: { balance_usd: '5', spendable_usd: '5', expiring: [{ at: midnight(8), usd: '5' }] },
  });
});

test('credit for fewer days ends sooner', async () => {
  await using admin = await startTestAdmin();
  await admin.post('/agents', { name: 'alpha' });
  await admin.post('/agents/1/grants', { usd: '2', days: 1 });
  const { body } = await admin.post('/agents/1/grants', { usd: '0.000000001', days: 3 });
  expect(body.agent.expiring).toEqual([
    { at: midnight(2), usd: '2' },
    { at: midnight(4), usd: '0.000000001' },
  ]);
});

test('a grant id books once, whatever the amount; without one every request books', async () => {
  await using admin = await startTestAdmin();
  await admin.post('/agents', { name: 'alpha' });
  expect((await admin.post('/agents/1/grants', { usd: '5', grant_id: 'a-1' })).body).toMatchObject({
    grant_id: 'a-1',
    repeated: false,
  });
  const again = await admin.post('/agents/1/grants', { usd: '7', grant_id: 'a-1' });
  expect(again.body).toMatchObject({ grant_id: 'a-1', repeated: true, agent: { balance_usd: '5' } });
  const ids = new Set<string>();
  for (let i = 0; i < 3; i++) ids.add((await admin.post('/agents/1/grants', { usd: '1' })).body.grant_id);
  expect(ids.size).toBe(3);
  expect((await admin.get('/agents/1')).body.balance_usd).toBe('8');
});

test('a mistyped agent id makes no agent', async () => {
  await using admin = await startTestAdmin();
  const answer = await admin.post('/agents/77/grants', { usd: '5' });
  expect(answer.status).toBe(404);
  expect((await admin.get('/agents')).body.agents).toEqual([]);
});

test.each([
  ['zero', '0'],
  ['below zero', '-1'],
  ['with an exponent', '1e3'],
  ['finer than a nano-dollar', '0.0000000001'],
  ['above the cap', '9000000.000000001'],
  ['huge', '1e400'],
  ['a number', 5],
  ['words', 'five'],
  ['null', null],
])('an amount that is %s books nothing', async (_, usd) => {
  await using admin = await startTestAdmin();
  await admin.post('/agents', { name: 'alpha' });
  const answer = await admin.post('/agents/1/grants', { usd });
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatchObject({ code: 'invalid_request', param: 'usd' });
  expect((await admin.get('/agents/1')).body.granted_usd).toBe('0');
});

test.each([0, 8, 1.5, '7', -1])('credit for %s days is refused', async (days) => {
  await using admin = await startTestAdmin();
  await admin.post('/agents', { name: 'alpha' });
  const answer = await admin.post('/agents/1/grants', { usd: '1', days });
  expect(answer.body.error).toMatchObject({ code: 'invalid_request', param: 'days' });
});

test('a balance above the cap is refused, and the balance stays', async () => {
  await using admin = await startTestAdmin();
  await admin.post('/agents', { name: 'alpha' });
  expect((await admin.post('/agents/1/grants', { usd: '9000000' })).status).toBe(200);
  const answer = await admin.post('/agents/1/grants', { usd: '0.000000001' });
  expect(answer.status).toBe(400);
  expect(answer.body.error.message).toContain('cap of $9000000');
  expect((await admin.get('/agents/1')).body.balance_usd).toBe('9000000');
});
