import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type CallEnd,
  type CallFacts,
  decodeLedgerEvent,
  type LedgerEvent,
  type LedgerEventOf,
  type SavedPrice,
  type TokenCounts,
} from '#core/events/ledger-event.ts';
import { packEvents, unpackEvents } from '#core/ledger/embedded/packed-events.ts';
import { openSqliteJournal } from '#core/ledger/embedded/sqlite-journal.ts';
import { callIdAt, day, START_MS } from './case.ts';
import { callEnd, callFacts, savedPrice } from './commands.ts';
import { newFolder } from './embedded-harness.ts';
import { createDraw, type Draw } from './history/random.ts';

const reserved = (version: number, changes: Partial<LedgerEventOf<'reserved'>> = {}): LedgerEvent => ({
  v: 1,
  type: 'reserved',
  agentId: 1,
  version,
  atMs: START_MS,
  callId: callIdAt(START_MS, version),
  nonce: 'process-1',
  keyId: 7,
  kind: 'text',
  nanoUsd: '30',
  allocations: [
    { expiresAtMs: day(1), nanoUsd: '10' },
    { expiresAtMs: day(2), nanoUsd: '20' },
  ],
  leaseEndsAtMs: START_MS + 90_000,
  startsTatUs: START_MS * 1_000,
  timeLimitMs: 780_000,
  call: callFacts,
  price: savedPrice,
  ...changes,
});

const settled = (version: number, changes: Partial<LedgerEventOf<'settled'>> = {}): LedgerEvent => ({
  v: 1,
  type: 'settled',
  agentId: 1,
  version,
  atMs: START_MS,
  callId: callIdAt(START_MS, version),
  chargedNanoUsd: '12',
  overrunNanoUsd: '0',
  end: callEnd,
  ...changes,
});

// `Required`: a field that an event is given later does not compile here before it is tried below.
const everyFact: Required<CallFacts> = { model: 'm', modelName: 'M', endpoint: 'e', stream: false };
const everyPrice: Required<SavedPrice> = {
  providerId: 'p',
  promptAtto: '1',
  completionAtto: '2',
  cacheReadAtto: '3',
  cacheWriteAtto: '4',
  longPrompts: [{ overTokens: 9, promptAtto: '1', completionAtto: '2', cacheReadAtto: '3' }],
  reasoningAtto: '5',
  requestAtto: '6',
  factorPpm: '7',
  promptEstimateTokens: 8,
};
// Estimated tokens are not packed; see the test of them below.
const everyCount: Required<Omit<TokenCounts, 'estimated'>> = {
  prompt: 1,
  completion: 2,
  reasoning: 3,
  cached: 4,
  cacheWritten: 5,
};
const everyEnd: Required<CallEnd> = {
  outcome: 'failed',
  httpStatus: 502,
  errorCode: 'provider_error',
  tokens: everyCount,
  durationMs: 9,
};

/** Each differs from the plain hold in one field that calls mostly share. */
const unlike: LedgerEvent[] = [
  reserved(1, { nonce: 'process-2' }),
  reserved(1, { kind: 'image' }),
  reserved(1, { kind: 'video', leaseEndsAtMs: null }),
  reserved(1, { timeLimitMs: 1_800_000 }),
  ...Object.entries(everyFact).map(([field, value]) =>
    reserved(1, { call: { ...callFacts, [field]: value } }),
  ),
  ...Object.entries(everyPrice).map(([field, value]) =>
    reserved(1, { price: { ...savedPrice, [field]: value } }),
  ),
];

const others: LedgerEvent[] = [
  { v: 1, type: 'granted', agentId: 2, version: 1, atMs: 5, grantId: 'g', expiresAtMs: 6, nanoUsd: '7' },
  { v: 1, type: 'renewed', agentId: 2, version: 2, atMs: 5, callId: 8, generationId: 'gen-1' },
];

const any = (random: Draw): LedgerEvent => {
  const version = 1 + random(1_000);
  const tokens = { prompt: random(9), completion: random(9), reasoning: null, cached: 0, cacheWritten: 1 };
  const all = [
    ...unlike,
    ...others,
    reserved(version, { price: { ...savedPrice, promptEstimateTokens: random(9) } }),
    settled(version, { overrunNanoUsd: String(random(99)), end: { ...callEnd, tokens } }),
    settled(version, {
      end: { ...callEnd, outcome: 'failed', httpStatus: 502, errorCode: 'provider_error' },
    }),
  ];
  return all[random(all.length)] ?? settled(version);
};

test('whatever is packed together comes out again as it was, and as events', () => {
  const random = createDraw(20_261_122);
  for (let batch = 0; batch < 300; batch++) {
    const events = Array.from({ length: random(60) }, () => any(random));
    const unpacked = unpackEvents(packEvents(events));
    expect(unpacked).toEqual(events);
    expect(unpacked.map(decodeLedgerEvent)).toEqual(events);
  }
});

test.each(unlike)('a hold that differs in one field from its neighbour keeps it: %#', (event) => {
  const events = [reserved(1), event, reserved(2)];
  expect(unpackEvents(packEvents(events))).toEqual(events);
});

test('the end of a call keeps every field that it can have', () => {
  const events = [settled(1, { end: everyEnd }), settled(2, { overrunNanoUsd: '3' })];
  expect(unpackEvents(packEvents(events))).toEqual(events);
});

test('the end of a call whose tokens are an estimate says so, in words that the release before knows', () => {
  const end = { ...everyEnd, tokens: { ...everyCount, estimated: true as const } };
  const events = [settled(1, { end })];
  expect(unpackEvents(packEvents(events))).toEqual(events);
  expect(packEvents(events)).toContain('"type":"settled"');
});

test('calls that are alike take less than a third of the bytes that their events would', () => {
  const events = Array.from({ length: 30 }, (_, i) => [reserved(i + 1), settled(i + 1)]).flat();
  expect(packEvents(events).length).toBeLessThan(JSON.stringify(events).length / 3);
});

test('a packed journal is read some hundred events at a time, so that calls go on while it is folded', () => {
  const journal = openSqliteJournal(join(newFolder(), 'ledger.sqlite'));
  const batch = { atMs: START_MS, ended: '', calls: '', videos: '', agents: [], checkpointSeq: null };
  const calls = Array.from({ length: 30 }, (_, i) => [reserved(i + 1), settled(i + 1)]).flat();
  const events = packEvents(calls);
  for (let seq = 0; seq < 6_000; seq += calls.length) {
    journal.commit({ ...batch, firstSeq: seq + 1, lastSeq: seq + calls.length, events });
  }
  const sizes: number[] = [];
  for (let rows = journal.readTail(0); rows.length > 0; rows = journal.readTail(rows.at(-1)?.lastSeq ?? 0)) {
    sizes.push(rows.reduce((sum, row) => sum + row.lastSeq - row.firstSeq + 1, 0));
  }
  journal.close();
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(6_000);
  expect(Math.max(...sizes)).toBeLessThan(400);
});

test('nothing packs to nothing', () => {
  expect(unpackEvents(packEvents([]))).toEqual([]);
});
