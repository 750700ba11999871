import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, startOfDayMs } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';
import { type EmbeddedLedger, openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { FolderInUseError } from '#core/ledger/embedded/journal-errors.ts';
import { openFolded } from '#core/ledger/embedded/journal-recovery.ts';
import { setLedgerTimeBack } from '#core/ledger/embedded/set-time-back.ts';
import type { AgentView } from '#core/ledger/ledger.ts';
import { checkIdentity } from '#core/ledger/machine/check-identity.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { openJournalHere } from './sqlite-journal-here.ts';

const START_MS = Date.UTC(2026, 10, 18, 10);
const JUMPS_MS = [10 * MINUTE_MS, 2 * HOUR_MS, 3 * DAY_MS];
const AGENT = 1;
const NANO = 1_000_000_000n;
const log = { info() {}, warn() {}, error() {} };
const limits = { callsPerMinute: 600, burst: 60, runningCalls: 8, dailyShareNanoUsd: null };

let dataDir: string;
let clock: FakeClock;
let ledger: EmbeddedLedger;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'faregate-time-'));
  clock = createFakeClock(START_MS);
  ledger = await open();
  await agreed({
    ...{ type: 'set_agent', agentId: AGENT, mode: 'create', source: 'operator', sourceVersion: 1 },
    ...{ status: 'active', name: 'one', token: null },
  });
  await agreed({
    ...{
      type: 'put_key',
      agentId: AGENT,
      keyId: 7,
      label: 'k',
      prefix: 'fg-aaaaaaaaa',
      hash: 'hash',
      actingKeyId: null,
    },
    ...{
      limit: { limitNanoUsd: 3n * NANO, reset: 'daily' },
      madeOverMcp: false,
      readVersion: 0,
      limits: { activeKeys: 9, mcpKeysPerDay: 9 },
    },
  });
  await grant('first');
});
afterEach(async () => {
  await ledger.close();
  await rm(dataDir, { recursive: true });
});

const open = () => openEmbeddedLedger({ dataDir, clock, log, openJournal: openJournalHere });

async function execute<C extends Command>(command: C): Promise<ResultOf<C>> {
  const { result, durable } = await ledger.execute(command);
  await durable;
  return result as ResultOf<C>;
}

async function agreed(command: Command): Promise<void> {
  expect(await execute(command)).toMatchObject({ ok: true });
}

const grant = (grantId: string): Promise<void> =>
  agreed({
    ...{ type: 'grant', agentId: AGENT, grantId, nanoUsd: 10n * NANO },
    expiresAtMs: startOfDayMs(clock.now()) + 8 * DAY_MS,
  });

const callFacts = { model: 'm', modelName: 'M', endpoint: 'chat' as const, stream: false };
const price = {
  ...{ providerId: 'p', promptAtto: '0', completionAtto: '0', cacheReadAtto: '0', requestAtto: '0' },
  ...{ factorPpm: '1000000', promptEstimateTokens: 0 },
};
const end = {
  ...{ outcome: 'ok' as const, httpStatus: 200, errorCode: null, durationMs: 1 },
  tokens: { prompt: 1, completion: 1, reasoning: null, cached: 0 },
};

/** As a process that has just started: ids never go back in one. */
async function start(callId = createIdSource(clock).next()) {
  const result = await execute({
    ...{ type: 'reserve', agentId: AGENT, keyId: 7, callId, nonce: 'n', kind: 'text', nanoUsd: NANO },
    ...{ timeLimitMs: 13 * MINUTE_MS, callerNowMs: clock.now(), call: callFacts, price, limits },
  });
  return { callId, result };
}

async function call(): Promise<void> {
  // The time of one start, by the rate: a bucket of the time ahead counts as used.
  clock.advance(100);
  const { callId, result } = await start();
  expect(result).toMatchObject({ ok: true });
  await agreed({ type: 'settle', agentId: AGENT, callId, costNanoUsd: NANO, end, cause: 'end' });
}

async function view(): Promise<AgentView> {
  const found = await ledger.readAgent(AGENT);
  if (found === null || found === 'unavailable') throw new Error('no agent');
  return found;
}

async function repair() {
  await ledger.close();
  const set = await setLedgerTimeBack({
    dataDir,
    openJournal: openJournalHere,
    nowMs: clock.now(),
    beforeChange: async () => {},
  });
  ledger = await open();
  return set;
}

async function problemOf(): Promise<string | null> {
  const { journal, folded } = await openFolded(openJournalHere, join(dataDir, 'ledger.sqlite'), () => {});
  await journal.close();
  return [...folded.state.agents.values()].map(checkIdentity).find((problem) => problem !== null) ?? null;
}

describe.each(JUMPS_MS)('a clock that was %i ms ahead, and believed', (jumpMs) => {
  /** Calls and a grant under the wrong clock; then it is right again. */
  async function liveAhead(): Promise<void> {
    clock.set(START_MS + jumpMs);
    await call();
    await call();
    await grant('ahead');
    clock.set(START_MS + MINUTE_MS);
  }

  test('lets calls start at once after the repair, whose time stays across restarts', async () => {
    await liveAhead();
    if (jumpMs > 10 * MINUTE_MS) expect((await start()).result).toMatchObject({ reason: 'clock_apart' });
    expect(await repair()).toMatchObject({ isSet: true, fromMs: START_MS + jumpMs + 200 });
    expect(ledger.stats().timeMs).toBe(clock.now());
    await ledger.close();
    ledger = await open();
    expect(ledger.stats().timeMs).toBe(clock.now());
    await call();
    expect(await problemOf()).toBeNull();
  });

  test('leaves every amount as it was', async () => {
    await liveAhead();
    const before = await view();
    await repair();
    const { lots, grantedNanoUsd, chargedNanoUsd, expiredNanoUsd } = await view();
    expect({ lots, grantedNanoUsd, chargedNanoUsd, expiredNanoUsd }).toEqual({
      lots: before.lots,
      grantedNanoUsd: before.grantedNanoUsd,
      chargedNanoUsd: before.chargedNanoUsd,
      expiredNanoUsd: before.expiredNanoUsd,
    });
  });

  test('does not use a key up until a day that has not come', async () => {
    await liveAhead();
    await call().catch(() => undefined);
    await repair();
    // What the first charge of today takes back was spent today.
    await call();
    clock.advance(DAY_MS);
    for (let i = 0; i < 3; i++) await call();
    expect((await start()).result).toMatchObject({ ok: false, reason: 'key_limit' });
    clock.advance(DAY_MS);
    await call();
  });
});

test('credit that was expired under a wrong clock stays expired, and credit granted then lasts at least seven days', async () => {
  clock.set(START_MS + 9 * DAY_MS);
  await agreed({ type: 'expire', agentId: AGENT, endedByMs: clock.now() });
  await grant('ahead');
  clock.set(START_MS + MINUTE_MS);
  const { longerLots } = await repair();
  expect(longerLots).toEqual([{ agentId: AGENT, expiresAtMs: startOfDayMs(START_MS) + 17 * DAY_MS }]);
  expect(await view()).toMatchObject({ expiredNanoUsd: 10n * NANO, grantedNanoUsd: 20n * NANO });
  clock.advance(8 * DAY_MS);
  await call();
});

test('a call that was running when the clock was ahead is ended by the next start, and its credit is free', async () => {
  clock.set(START_MS + 2 * HOUR_MS);
  expect((await start()).result).toMatchObject({ ok: true });
  clock.set(START_MS + MINUTE_MS);
  await repair();
  const { holds, runningCalls } = await view();
  expect({ holds, runningCalls }).toEqual({ holds: [], runningCalls: 0 });
});

test('a ledger that is not ahead is not changed', async () => {
  const { lastSeq } = ledger.stats();
  expect(await repair()).toMatchObject({ isSet: false });
  expect(ledger.stats().lastSeq).toBe(lastSeq);
});

test('a folder whose gateway runs is refused', async () => {
  const set = setLedgerTimeBack({
    dataDir,
    openJournal: openJournalHere,
    nowMs: clock.now(),
    beforeChange: async () => {},
  });
  await expect(set).rejects.toThrow(FolderInUseError);
});

test('what is asked before the change may refuse it', async () => {
  clock.set(START_MS + 2 * HOUR_MS);
  await call();
  clock.set(START_MS);
  await ledger.close();
  const refuse = async () => {
    throw new Error('no');
  };
  await expect(
    setLedgerTimeBack({ dataDir, openJournal: openJournalHere, nowMs: START_MS, beforeChange: refuse }),
  ).rejects.toThrow('no');
  ledger = await open();
  expect(ledger.stats().timeMs).toBe(START_MS + 2 * HOUR_MS + 100);
});
