import { describe, expect, test } from 'vitest';
import { decodeLedgerEvent, type LedgerEvent } from '#core/events/ledger-event.ts';
import { decide } from '#core/ledger/machine/decide.ts';
import { VIDEO_TIME_LIMIT_MS } from '../../api/media/order-video.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger, type MemoryLedger } from '../support/memory-ledger.ts';
import { after, charged, day, does, lots, ok, type Row, START_MS, sees } from './case.ts';
import {
  activeAgent,
  agentWith,
  callEnd,
  callFacts,
  changeKey,
  claimVideo,
  expire,
  finish,
  grant,
  moveIn,
  moveOut,
  pendingPrice,
  putKey,
  renew,
  reserve,
  reserveVideo,
  revokeKey,
  savedPrice,
  setAgent,
  settle,
  startUpload,
  submitVideo,
  videoFile,
  withdrawVideo,
} from './commands.ts';

const callNow = (START_MS - Date.UTC(2025, 0, 1)) * 4096;

async function journalOf(rows: readonly Row[]): Promise<MemoryLedger> {
  const clock = createFakeClock(START_MS);
  const ledger = createMemoryLedger({ clock });
  const world = { ledger, clock, callIds: new Map([[1, callNow]]) };
  for (const row of rows) await row(world);
  return ledger;
}

const header = (agentId: number, version: number) => ({ v: 1, agentId, version, atMs: START_MS });

/** What each command leaves in the journal: whoever reads it may rely on every field. */
const written: [string, Row[], object][] = [
  [
    'set_agent',
    [does(setAgent({ token: '0xa', status: 'inactive' }), ok)],
    {
      ...header(1, 1),
      type: 'agent_set',
      source: 'operator',
      sourceVersion: 1,
      status: 'inactive',
      name: 'Ada',
      token: '0xa',
    },
  ],
  [
    'grant',
    [...activeAgent, does(grant(100n), ok)],
    { ...header(1, 3), type: 'granted', grantId: 'grant-1', expiresAtMs: day(8), nanoUsd: '100' },
  ],
  [
    'put_key',
    [
      ...activeAgent,
      does(
        putKey(2, { actingKeyId: 1, madeOverMcp: true, limit: { limitNanoUsd: 5n, reset: 'weekly' } }),
        ok,
      ),
    ],
    {
      ...header(1, 3),
      type: 'key_put',
      keyId: 2,
      label: 'key 2',
      prefix: 'fg_prefix002',
      hash: 'hash-2',
      limit: { limitNanoUsd: '5', reset: 'weekly' },
      createdByKeyId: 1,
      madeOverMcp: true,
    },
  ],
  [
    'change_key',
    [
      ...activeAgent,
      does(putKey(2, { actingKeyId: 1, madeOverMcp: true }), ok),
      does(changeKey(2, { label: 'desk', limit: { limitNanoUsd: 5n, reset: 'weekly' } }), ok),
    ],
    {
      ...header(1, 4),
      type: 'key_put',
      keyId: 2,
      label: 'desk',
      prefix: 'fg_prefix002',
      hash: 'hash-2',
      limit: { limitNanoUsd: '5', reset: 'weekly' },
      createdByKeyId: 1,
      madeOverMcp: false,
    },
  ],
  [
    'start_upload',
    [...agentWith(100n), does(startUpload('upl_1'), ok)],
    { ...header(1, 4), type: 'upload_started', uploadId: 'upl_1' },
  ],
  [
    'reserve, of a video',
    [...agentWith(100n), does(reserveVideo(1, 10n, { idempotencyKey: 'my-order' }), ok)],
    {
      ...header(1, 4),
      type: 'reserved',
      callId: callNow,
      nonce: 'process-1',
      keyId: 1,
      kind: 'video',
      nanoUsd: '10',
      allocations: [{ expiresAtMs: day(8), nanoUsd: '10' }],
      leaseEndsAtMs: null,
      startsTatUs: START_MS * 1_000 + 100_000,
      timeLimitMs: VIDEO_TIME_LIMIT_MS,
      call: callFacts,
      price: savedPrice,
      video: {
        videoId: 'vid_1',
        idempotencyKey: 'my-order',
        upstreamModel: 'acme/film',
        orderFile: 'orders/1',
      },
    },
  ],
  [
    'claim_video',
    [...agentWith(100n), does(reserveVideo(1, 10n), ok), does(claimVideo(1), ok)],
    { ...header(1, 5), type: 'video_claimed', callId: callNow, nonce: 'worker-1' },
  ],
  [
    'submit_video',
    [...agentWith(100n), does(reserveVideo(1, 10n), ok), does(claimVideo(1), ok), does(submitVideo(1), ok)],
    { ...header(1, 6), type: 'video_submitted', callId: callNow, providerJobId: 'job-1' },
  ],
  [
    'withdraw_video',
    [...agentWith(100n), does(reserveVideo(1, 10n), ok), does(claimVideo(1), ok), does(withdrawVideo(1), ok)],
    { ...header(1, 6), type: 'video_withdrawn', callId: callNow },
  ],
  [
    'settle, of a video',
    [
      ...agentWith(100n),
      does(reserveVideo(1, 10n), ok),
      does(settle(1, 4n, { video: videoFile }), charged(4n)),
    ],
    {
      ...header(1, 5),
      type: 'settled',
      callId: callNow,
      chargedNanoUsd: '4',
      overrunNanoUsd: '0',
      end: callEnd,
      video: videoFile,
    },
  ],
  [
    'settle, of images',
    [
      ...agentWith(100n),
      does(reserve(1, 10n, { kind: 'image' }), ok),
      does(settle(1, 4n, { stored: { bytes: 7, untilMs: START_MS + 9 } }), charged(4n)),
    ],
    {
      ...header(1, 5),
      type: 'settled',
      callId: callNow,
      chargedNanoUsd: '4',
      overrunNanoUsd: '0',
      end: callEnd,
      stored: { bytes: 7, untilMs: START_MS + 9 },
    },
  ],
  [
    'revoke_key',
    [...activeAgent, does(revokeKey(1), ok)],
    { ...header(1, 3), type: 'key_revoked', keyId: 1 },
  ],
  [
    'move_out',
    [...agentWith(100n), does(moveOut('t1', 40n), ok)],
    {
      ...header(1, 4),
      type: 'moved_out',
      tradeId: 't1',
      lots: [{ expiresAtMs: day(8), nanoUsd: '40' }],
      buyerAgentId: 2,
    },
  ],
  [
    'move_out, refused',
    [...activeAgent, does(moveOut('t1', 40n), { ok: false, repeated: false, reason: 'balance' })],
    { ...header(1, 3), type: 'move_refused', tradeId: 't1', reason: 'balance' },
  ],
  [
    'move_in',
    [does(moveIn('t1', 40n), { ok: true, repeated: false, expiredNanoUsd: 0n })],
    {
      ...header(1, 1),
      type: 'moved_in',
      tradeId: 't1',
      expiresAtMs: day(8),
      nanoUsd: '40',
      expiredNanoUsd: '0',
    },
  ],
];

describe('the journal', () => {
  test.each(written)('%s writes what happened', async (_, rows, expected) => {
    const { journal } = await journalOf(rows);
    expect(journal.at(-1)).toEqual(expected);
  });

  test('a call writes its hold, lot by lot, its name, its end and its charge', async () => {
    const { journal } = await journalOf([
      ...agentWith(100n),
      does(grant(10n, { grantId: 'soon', expiresAtMs: day(1) }), ok),
      does(reserve(1, 30n, { callId: callNow }), ok),
      does(renew(1, { callId: callNow, generationId: 'gen-1' }), { ok: true }),
      does(finish(1, { callId: callNow }), ok),
      does(settle(1, 45n, { callId: callNow }), charged(30n, 15n)),
    ]);
    expect(journal.slice(-4)).toEqual([
      {
        ...header(1, 5),
        type: 'reserved',
        callId: callNow,
        nonce: 'process-1',
        keyId: 1,
        kind: 'text',
        nanoUsd: '30',
        allocations: [
          { expiresAtMs: day(1), nanoUsd: '10' },
          { expiresAtMs: day(8), nanoUsd: '20' },
        ],
        leaseEndsAtMs: START_MS + 60_000,
        startsTatUs: (START_MS + 100) * 1_000,
        timeLimitMs: 780_000,
        call: callFacts,
        price: savedPrice,
      },
      { ...header(1, 6), type: 'renewed', callId: callNow, generationId: 'gen-1' },
      { ...header(1, 7), type: 'finished', callId: callNow, end: callEnd, pending: pendingPrice },
      {
        ...header(1, 8),
        type: 'settled',
        callId: callNow,
        chargedNanoUsd: '30',
        overrunNanoUsd: '15',
        end: callEnd,
      },
    ]);
  });

  test('credit that has ended is written lot by lot', async () => {
    const { journal } = await journalOf([
      ...activeAgent,
      does(grant(10n, { grantId: 'a', expiresAtMs: day(1) }), ok),
      does(grant(20n, { grantId: 'b', expiresAtMs: day(2) }), ok),
      after(2 * 86_400_000),
      does(expire(), { ok: true, expiredNanoUsd: 30n }),
    ]);
    expect(journal.at(-1)).toMatchObject({
      type: 'expired',
      lots: [
        { expiresAtMs: day(1), nanoUsd: '10' },
        { expiresAtMs: day(2), nanoUsd: '20' },
      ],
    });
  });

  test('a lease that is only renewed is not written', async () => {
    const { journal } = await journalOf([
      ...agentWith(100n),
      does(reserve(1, 30n, { callId: callNow }), ok),
      does(renew(1, { callId: callNow }), { ok: true }),
    ]);
    expect(journal.at(-1)).toMatchObject({ type: 'reserved' });
  });

  test('whatever a provider or a clock counts, what is written can be read', async () => {
    const counts = { prompt: Number.NaN, completion: 1.5, reasoning: Number.POSITIVE_INFINITY, cached: -1 };
    const tokens = { ...counts, estimated: true as const };
    const end = { ...callEnd, durationMs: -5, httpStatus: Number.NaN, tokens };
    const { journal } = await journalOf([
      ...agentWith(100n),
      does(reserve(1, 30n, { callId: callNow }), ok),
      does(finish(1, { callId: callNow, end, pending: { ...pendingPrice, deliveredTokens: -1 } }), ok),
      does(settle(1, 10n ** 40n, { callId: callNow, end }), charged(30n, 10n ** 40n - 30n)),
      sees(1, { lots: lots([8, 70n, 0n]) }),
    ]);
    for (const event of journal) {
      expect(decodeLedgerEvent(JSON.parse(JSON.stringify(event)))).toEqual(event);
    }
    const ends = journal.flatMap((event) => ('end' in event ? [event.end.tokens] : []));
    const readable = { prompt: 0, completion: 0, reasoning: 0, cached: 0, estimated: true };
    expect(ends).toEqual([readable, readable]);
  });
});

describe('reading the journal', () => {
  const granted = {
    v: 1,
    type: 'granted',
    agentId: 1,
    version: 1,
    atMs: START_MS,
    grantId: 'g',
    expiresAtMs: day(1),
    nanoUsd: '10',
  };

  test('a whole event reads as it was written', () => {
    expect(decodeLedgerEvent(granted)).toEqual(granted);
  });

  const damaged: [string, unknown][] = [
    ['nothing', undefined],
    ['no object', 'granted'],
    ['another version', { ...granted, v: 2 }],
    ['an unknown type', { ...granted, type: 'gifted' }],
    ['a field too few', { ...granted, nanoUsd: undefined }],
    ['a field too many', { ...granted, more: 1 }],
    ['an amount that is a number', { ...granted, nanoUsd: 10 }],
    ['an amount below zero', { ...granted, nanoUsd: '-10' }],
    ['an amount with a fraction', { ...granted, nanoUsd: '1.5' }],
    ['an amount in powers of ten', { ...granted, nanoUsd: '1e9' }],
    ['an amount beyond any money', { ...granted, nanoUsd: '1'.repeat(21) }],
    ['no amount', { ...granted, nanoUsd: '' }],
    ['a version of zero', { ...granted, version: 0 }],
    ['half a version', { ...granted, version: 1.5 }],
    ['a time before all time', { ...granted, atMs: -1 }],
    ['an id beyond all ids', { ...granted, agentId: 2 ** 53 }],
  ];

  test.each(damaged)('an event with %s is refused', (_, record) => {
    expect(() => decodeLedgerEvent(record)).toThrow();
  });

  test('a fact about a call that this release does not know is left out, not refused', () => {
    const event = {
      ...{ v: 1, type: 'settled', agentId: 1, version: 1, atMs: 1, callId: 1 },
      ...{ chargedNanoUsd: '1', overrunNanoUsd: '0', end: { ...callEnd, mood: 'fine' } },
    };
    expect(decodeLedgerEvent(event)).toMatchObject({ end: callEnd });
    expect(decodeLedgerEvent(event)).not.toHaveProperty('end.mood');
  });
});

describe('deciding', () => {
  test.each([
    ['grant', grant(-1n)],
    ['reserve', reserve(1, -1n)],
    ['settle', settle(1, -1n)],
    ['move_out', moveOut('t1', -1n)],
    ['move_in', moveIn('t1', -1n)],
    ['move_in of more than any lot holds', moveIn('t1', 10n ** 20n)],
    ['put_key', putKey(2, { limit: { limitNanoUsd: -1n, reset: 'daily' } })],
    ['change_key', changeKey(1, { limit: { limitNanoUsd: -1n, reset: 'daily' } })],
  ])('%s of an impossible amount is a bug of the caller, not an answer', async (_, operation) => {
    const world = { clock: createFakeClock(START_MS), callIds: new Map<number, number>() };
    const ledger = createMemoryLedger(world);
    for (const row of agentWith(100n)) await row({ ...world, ledger });
    await does(reserve(1, 1n), ok)({ ...world, ledger });
    const before = ledger.journal.length;
    expect(() => decide(ledger.state, operation({ ...world, ledger }), START_MS)).toThrow(RangeError);
    expect(ledger.journal satisfies readonly LedgerEvent[]).toHaveLength(before);
  });
});
