import { describe, expect, test } from 'vitest';
import type { CallRecord } from '#core/calls/call-record.ts';
import type { AgentView, HoldView, KeyView } from '#core/ledger/ledger.ts';
import { Balance, shapeBalance } from '../../api/contract/balance.ts';
import { CallEntry, shapeCallRecord } from '../../api/contract/call-entry.ts';
import { SpendingLimit, shapeSpendingLimit } from '../../api/contract/key-record.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 21, 12);
const day = (ahead: number): number => Date.UTC(2026, 10, 21) + ahead * DAY_MS;

const hold = (callId: number, nanoUsd: bigint, pending: HoldView['pending'] = null): HoldView => ({
  agentId: 7,
  callId,
  keyId: 1,
  kind: 'text',
  nanoUsd,
  startedAtMs: NOW_MS,
  timeLimitMs: 1000,
  call: { model: 'm', modelName: 'M', endpoint: 'chat/completions', stream: false },
  generationId: null,
  pending,
});

const limited: KeyView = {
  keyId: 1,
  version: 1,
  label: 'a',
  prefix: 'fg_abcdefghi',
  createdAtMs: 0,
  createdByKeyId: null,
  revokedAtMs: null,
  lastUsedAtMs: null,
  limit: {
    limitNanoUsd: 10_000_000_000n,
    reset: 'daily',
    spentNanoUsd: 1_500_000_000n,
    heldNanoUsd: 250_000_000n,
    resetsAtMs: day(1),
  },
  monthNanoUsd: 0n,
};

const agent: AgentView = {
  agentId: 7,
  name: 'demo',
  token: null,
  status: 'active',
  createdAtMs: 0,
  version: 3,
  statusBySource: [],
  lots: [
    { expiresAtMs: day(8), freeNanoUsd: 2_000_000_001n, heldNanoUsd: 0n },
    { expiresAtMs: day(2), freeNanoUsd: 500_000_000n, heldNanoUsd: 250_000_000n },
    { expiresAtMs: day(5), freeNanoUsd: 0n, heldNanoUsd: 100n },
  ],
  grantedNanoUsd: 0n,
  chargedNanoUsd: 0n,
  expiredNanoUsd: 0n,
  movedInNanoUsd: 0n,
  movedOutNanoUsd: 0n,
  runningCalls: 1,
  holds: [hold(1, 250_000_000n), hold(2, 100n)],
  keys: [limited, { ...limited, keyId: 2, limit: null }],
  chargedTodayNanoUsd: 0n,
};

describe('the balance', () => {
  test('lists free credit soonest first, sums it to spendable_usd, and adds every open hold', () => {
    const balance = shapeBalance(agent, 2, NOW_MS);
    expect(balance).toEqual({
      object: 'balance',
      agent: { id: 7, name: 'demo', token: null, status: 'active' },
      spendable_usd: '2.500000001',
      balance_usd: '2.750000101',
      reserved_usd: '0.2500001',
      running_calls: 1,
      expiring: [
        { at: '2026-11-23T00:00:00.000Z', usd: '0.5' },
        { at: '2026-11-29T00:00:00.000Z', usd: '2.000000001' },
      ],
      key_limit: null,
    });
    expect(Balance.parse(balance)).toEqual(balance);
  });

  test("shows the limit of the caller's key, not of another", () => {
    expect(shapeBalance(agent, 1, NOW_MS).key_limit).toMatchObject({
      limit_usd: '10',
      remaining_usd: '8.25',
    });
  });

  test('credit that has ended shows nowhere, even before it is swept', () => {
    const balance = shapeBalance(agent, 2, day(2));
    expect(balance.spendable_usd).toBe('2.000000001');
    expect(balance.expiring).toHaveLength(1);
    expect(balance.reserved_usd).toBe('0.2500001');
  });

  test('an agent without anything has a balance of 0', () => {
    const empty = shapeBalance({ ...agent, lots: [], holds: [], runningCalls: 0, keys: [] }, 1, NOW_MS);
    expect(empty).toMatchObject({ spendable_usd: '0', balance_usd: '0', reserved_usd: '0', expiring: [] });
  });
});

test('what remains of a limit never shows below 0', () => {
  const limit = { ...limited.limit, limitNanoUsd: 1n, reset: 'weekly' as const, resetsAtMs: day(2) };
  const shaped = shapeSpendingLimit({ spentNanoUsd: 5n, heldNanoUsd: 7n, ...limit });
  expect(shaped.remaining_usd).toBe('0');
  expect(
    shapeSpendingLimit({ ...limit, limitNanoUsd: 20n, spentNanoUsd: 5n, heldNanoUsd: 7n }).remaining_usd,
  ).toBe('0.000000008');
  expect(SpendingLimit.parse(shaped)).toEqual(shaped);
});

describe('a call record', () => {
  const record: CallRecord = {
    callId: 244_335_062_519_810,
    agentId: 7,
    startedAtMs: NOW_MS,
    durationMs: 1234,
    key: { keyId: 1, label: 'a', prefix: 'fg_abcdefghi' },
    call: { model: 'm', modelName: 'M', endpoint: 'chat/completions', stream: true },
    outcome: 'ok',
    httpStatus: 200,
    errorCode: null,
    tokens: { prompt: 1, completion: 2, reasoning: null, cached: 0 },
    reservedNanoUsd: 12_300_000n,
    chargedNanoUsd: 2_300n,
  };

  test('says that its tokens are an estimate, and says nothing where they were counted', () => {
    const estimated = { ...record, tokens: { ...record.tokens, estimated: true as const } };
    const entry = shapeCallRecord(estimated);
    expect(entry.tokens).toEqual({ prompt: 1, completion: 2, reasoning: null, cached: 0, estimated: true });
    expect(CallEntry.parse(entry)).toEqual(entry);
    expect(shapeCallRecord(record).tokens).not.toHaveProperty('estimated');
  });

  test('has every field of the spec, and amounts as exact text', () => {
    const entry = shapeCallRecord(record);
    expect(entry).toEqual({
      id: 244_335_062_519_810,
      started_at: '2026-11-21T12:00:00.000Z',
      duration_ms: 1234,
      key: { id: 1, label: 'a', prefix: 'fg_abcdefghi' },
      model: 'm',
      model_name: 'M',
      endpoint: 'chat/completions',
      stream: true,
      outcome: 'ok',
      error_code: null,
      tokens: { prompt: 1, completion: 2, reasoning: null, cached: 0 },
      reserved_usd: '0.0123',
      charge_usd: '0.0000023',
    });
    expect(CallEntry.parse(entry)).toEqual(entry);
  });

  test('shows the status of a failed call only', () => {
    const failed = { ...record, outcome: 'failed' as const, httpStatus: 502, errorCode: 'provider_error' };
    expect(shapeCallRecord(failed)).toMatchObject({ http_status: 502, error_code: 'provider_error' });
    expect(shapeCallRecord(record)).not.toHaveProperty('http_status');
  });
});
