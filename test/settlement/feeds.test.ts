import { expect, test } from 'vitest';
import { DAY_MS, startOfDayMs } from '#core/clock.ts';
import type { HandleRecord, RecordOutcome } from '#core/events/feed-record.ts';
import { createApplyAgentChange } from '../../workers/settlement/apply-agent-change.ts';
import { createBookGrant } from '../../workers/settlement/book-grant.ts';
import { readAgent, START_MS } from '../ledger/case.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { decideNothing } from '../support/unavailable-ledger.ts';

const grantedAt = new Date(START_MS).toISOString();
const grant = { v: 1, type: 'credit_granted', grantId: 'fees-7', agentId: 3, usd: '1.25', grantedAt };
const change = {
  v: 1,
  type: 'agent_set',
  agentId: 3,
  source: 'launchpad',
  version: 1,
  status: 'active',
  name: 'Ada',
  token: 'ADA',
};

function setUp() {
  const clock = createFakeClock(START_MS);
  const ledger = createMemoryLedger({ clock });
  return { clock, ledger, book: createBookGrant({ ledger, clock }), change: createApplyAgentChange(ledger) };
}

const send = (handle: HandleRecord, record: unknown): Promise<RecordOutcome> =>
  handle(Buffer.from(typeof record === 'string' ? record : JSON.stringify(record)));

test('a grant is booked once, however often its record comes, and ends a week after the day that it names', async () => {
  const { book, ledger } = setUp();
  for (let i = 0; i < 3; i++) expect(await send(book, grant)).toEqual({ outcome: 'done' });
  expect(ledger.state.agents.get(3)).toMatchObject({
    grantedNanoUsd: 1_250_000_000n,
    lots: [{ expiresAtMs: startOfDayMs(START_MS) + 8 * DAY_MS, freeNanoUsd: 1_250_000_000n }],
  });
});

test('a grant that is read again when its id is long forgotten books nothing', async () => {
  const { book, ledger, clock } = setUp();
  await send(book, grant);
  clock.advance(30 * DAY_MS);
  expect(await send(book, grant)).toEqual({
    outcome: 'dead_letter',
    reason: 'the ledger refuses the grant: lot_ended',
  });
  expect(ledger.state.agents.get(3)?.grantedNanoUsd).toBe(1_250_000_000n);
});

test('an agent that credit came for first is inactive until it is announced', async () => {
  const { book, change: apply, ledger } = setUp();
  await send(book, grant);
  expect((await ledger.listAgents())[0]).toMatchObject({ agentId: 3, status: 'inactive' });
  expect(await send(apply, change)).toEqual({ outcome: 'done' });
  expect((await ledger.listAgents())[0]).toMatchObject({ name: 'Ada', token: 'ADA', status: 'active' });
});

test('an older word of a source changes nothing, and a suspension from any source wins', async () => {
  const { change: apply, ledger } = setUp();
  const status = async () => (await readAgent(ledger, 3)).status;
  await send(apply, { ...change, version: 5 });
  await send(apply, { ...change, version: 4, status: 'inactive', name: 'Old' });
  expect((await ledger.listAgents())[0]).toMatchObject({ status: 'active', name: 'Ada' });
  await send(apply, { ...change, source: 'operations', status: 'suspended' });
  expect(await status()).toBe('suspended');
  await send(apply, { ...change, version: 6, status: 'active' });
  expect(await status()).toBe('suspended');
  await send(apply, { ...change, source: 'operations', version: 2, status: 'active' });
  expect(await status()).toBe('active');
});

test('while the ledger is away, a record is tried again', async () => {
  const { ledger, book } = setUp();
  await ledger.close();
  expect(await send(book, grant)).toEqual({ outcome: 'try_again' });
  const undecided = createApplyAgentChange({ execute: decideNothing });
  expect(await send(undecided, change)).toEqual({ outcome: 'try_again' });
});

test('a grant of a writer whose clock is a little ahead at midnight waits for the ledger’s midnight', async () => {
  const { book, ledger, clock } = setUp();
  clock.advance(startOfDayMs(START_MS) + DAY_MS - 100 - clock.now());
  const early = { ...grant, grantedAt: new Date(clock.now() + 200).toISOString() };
  expect(await send(book, early)).toEqual({ outcome: 'try_again' });
  clock.advance(300);
  expect(await send(book, early)).toEqual({ outcome: 'done' });
  expect(ledger.state.agents.get(3)?.lots).toMatchObject([
    { expiresAtMs: startOfDayMs(START_MS) + 9 * DAY_MS },
  ]);
});

test('a grant that the ledger takes for long ended, and this process’s clock does not, waits for the clocks to agree', async () => {
  const { ledger, clock } = setUp();
  const ahead = createMemoryLedger({ clock: createFakeClock(START_MS + 20 * DAY_MS) });
  expect(await send(createBookGrant({ ledger: ahead, clock }), grant)).toEqual({ outcome: 'try_again' });
  const behind = createMemoryLedger({ clock: createFakeClock(START_MS - 3 * DAY_MS) });
  expect(await send(createBookGrant({ ledger: behind, clock }), grant)).toEqual({ outcome: 'try_again' });
  expect(await send(createBookGrant({ ledger, clock }), grant)).toEqual({ outcome: 'done' });
});

const wrongGrants: [string, unknown, RegExp][] = [
  ['no JSON', '{', /no JSON/],
  ['no record', 'null', /the record: /],
  ['another version', { ...grant, v: 2 }, /^v: /],
  ['a number for dollars', { ...grant, usd: 1.25 }, /^usd: /],
  ['no money', { ...grant, usd: '0' }, /^usd: is no amount of dollars above 0/],
  ['less than nothing', { ...grant, usd: '-1' }, /^usd: /],
  ['more digits than there are', { ...grant, usd: '0.0000000001' }, /^usd: /],
  ['more than a balance holds', { ...grant, usd: '9000001' }, /over_cap/],
  [
    'a grant of next month',
    { ...grant, grantedAt: new Date(START_MS + 30 * DAY_MS).toISOString() },
    /lot_too_far/,
  ],
  ['no time', { ...grant, grantedAt: 'yesterday' }, /^grantedAt: /],
  ['an agent that is none', { ...grant, agentId: '3' }, /^agentId: /],
  ['an agent beyond all numbers', { ...grant, agentId: Number.MAX_SAFE_INTEGER }, /^agentId: /],
  ['an empty id', { ...grant, grantId: '' }, /^grantId: /],
  ['a field of a stranger', { ...grant, secretNote: 'x' }, /^the record: has keys that are not known$/],
  ['a flood', { ...grant, grantId: 'x'.repeat(70_000) }, /too large/],
];

test.each(wrongGrants)('a grant with %s is kept apart, and books nothing', async (_, record, reason) => {
  const { book, ledger } = setUp();
  const outcome = await send(book, record);
  expect(outcome).toEqual({ outcome: 'dead_letter', reason: expect.stringMatching(reason) });
  expect(ledger.journal).toEqual([]);
});

const wrongChanges: [string, unknown, RegExp][] = [
  ['a status that is none', { ...change, status: 'deleted' }, /^status: /],
  ['an agent beyond all numbers', { ...change, agentId: 1_000_000_000_000 }, /^agentId: /],
  ['a source with blanks', { ...change, source: 'a b' }, /^source: /],
  ['a name of two lines', { ...change, name: 'a\nb' }, /^name: /],
  ['no version', { ...change, version: undefined }, /^version: /],
];

test.each(wrongChanges)('a change with %s is kept apart, and changes nothing', async (_, record, reason) => {
  const { change: apply, ledger } = setUp();
  const outcome = await send(apply, record);
  expect(outcome).toEqual({ outcome: 'dead_letter', reason: expect.stringMatching(reason) });
  expect(ledger.journal).toEqual([]);
});

test('bytes that are no text are kept apart', async () => {
  const { book } = setUp();
  expect(await book(Buffer.from([0xff, 0xfe]))).toEqual({
    outcome: 'dead_letter',
    reason: 'the record is no UTF-8',
  });
});
