import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { JournalDamagedError, JournalTooNewError } from '#core/ledger/embedded/journal-errors.ts';
import { JOURNAL_RETRY_MS } from '#core/ledger/embedded/journal-recovery.ts';
import { openJournalThread } from '#core/ledger/embedded/sqlite-journal-thread.ts';
import { charged, does, ok } from './case.ts';
import { agentWith, reserve, settle } from './commands.ts';
import { newFolder, openWorld, run, until } from './embedded-harness.ts';

const threads: Worker[] = [];
const keep = (thread: Worker) => threads.push(thread);

beforeEach(() => {
  process.on('worker', keep);
});
afterEach(() => {
  process.off('worker', keep);
  threads.length = 0;
});

const openThreaded = (dataDir = newFolder()) => openWorld({ dataDir, openJournal: openJournalThread });

test('a thread that dies under load is replaced, and all that was told durable is there', async () => {
  const world = await openThreaded();
  await run(world, ...agentWith(1_000n), does(reserve(1, 10n), ok));
  const limits = { callsPerMinute: 600_000, burst: 100_000, runningCalls: 100_000, dailyShareNanoUsd: null };
  const told = new Map<number, string>();
  for (let call = 2; call < 40; call++) {
    const { result, durable } = await world.ledger.execute(reserve(call, 1n, { limits })(world));
    if (result.ok) void durable.then((durability) => told.set(call, durability));
    if (call < 12) await durable;
    if (call === 20) void threads[0]?.terminate();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until(() => world.ledger.stats().state === 'recovering');
  await until(() => world.clock.pendingTimers() > 0);
  world.clock.advance(JOURNAL_RETRY_MS);
  await until(() => world.ledger.stats().state === 'open');
  const holds = await world.ledger.listHolds();
  const held = new Set(holds === 'unavailable' ? [] : holds.map((hold) => hold.callId));
  expect([...told.values()]).toContain('durable');
  for (const [call, durability] of told) {
    if (durability === 'durable') expect(held.has(world.callIds.get(call) ?? 0)).toBe(true);
  }
  await run(world, does(settle(1, 4n), charged(4n)));
  expect(await world.ledger.history.find(world.callIds.get(1) ?? 0)).toMatchObject({ chargedNanoUsd: 4n });
});

test('a thread that dies while nobody asks anything is noticed', async () => {
  const world = await openThreaded();
  await threads[0]?.terminate();
  await until(() => world.ledger.stats().state === 'recovering');
});

test('closing ends the thread', async () => {
  const world = await openThreaded();
  const ended = new Promise((resolve) => threads[0]?.once('exit', resolve));
  await world.ledger.close();
  expect(await ended).toBe(0);
});

test('what is wrong with a file is said in full across threads', async () => {
  const dataDir = newFolder();
  const file = join(dataDir, 'ledger.sqlite');
  writeFileSync(file, 'hello\n'.repeat(1_000));
  await expect(openThreaded(dataDir)).rejects.toBeInstanceOf(JournalDamagedError);
  await expect(openThreaded(dataDir)).rejects.toThrow(`${file} is damaged: file is not a database`);
});

test('a newer file is told from a damaged one across threads', async () => {
  const world = await openThreaded();
  await world.ledger.close();
  const db = new DatabaseSync(join(world.dataDir, 'ledger.sqlite'));
  db.exec('PRAGMA user_version = 5');
  db.close();
  await expect(openThreaded(world.dataDir)).rejects.toBeInstanceOf(JournalTooNewError);
});

test('a folder that cannot be written is refused, not ignored', async () => {
  const dataDir = newFolder();
  writeFileSync(join(dataDir, 'file'), '');
  await expect(openThreaded(join(dataDir, 'file'))).rejects.toThrow(/EEXIST|ENOTDIR/);
});
