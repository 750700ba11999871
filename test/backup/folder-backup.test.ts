import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPepper, writePepper } from '#core/accounts/pepper-file.ts';
import { backUpFolder } from '#core/backup/back-up-folder.ts';
import { listCalls } from '#core/backup/list-calls.ts';
import { restoreFolder } from '#core/backup/restore-folder.ts';
import type { CallHistory } from '#core/calls/call-history.ts';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import type { Command } from '#core/ledger/command.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { endDeadCalls } from '#core/ledger/embedded/journal-dead-calls.ts';
import { endDeadMoves } from '#core/ledger/embedded/journal-dead-moves.ts';
import { openFolded } from '#core/ledger/embedded/journal-recovery.ts';
import { apply } from '#core/ledger/machine/apply.ts';
import { decide } from '#core/ledger/machine/decide.ts';
import { SNAPSHOT_MS } from '#core/limits.ts';
import { nextTurn } from '#core/wait.ts';
import { charged, does, ok, START_MS, type World } from '../ledger/case.ts';
import { callEnd, reserve, settle } from '../ledger/commands.ts';
import { comparable, logInto, newFolder, run, until } from '../ledger/embedded-harness.ts';
import { createDraw } from '../ledger/history/random.ts';
import { PEPPER_ID } from '../ledger/random-command.ts';
import { openJournalHere } from '../ledger/sqlite-journal-here.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { callOf } from './call-of.ts';
import { ALL_DAYS, type Moment, momentAfter } from './moment.ts';
import { createSteps } from './random-steps.ts';
import { openingOf, ownKey, pepperOf, smallGateway } from './small-gateway.ts';

const HISTORIES = 3;
const STEPS_BEFORE = 400;
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

test(`a restored backup is the ledger of one moment, though calls went on meanwhile (seed ${seed})`, async () => {
  let calls = 0;
  for (let history = 0; history < HISTORIES; history++) calls += await backUpAndRestore(seed + history);
  expect(calls).toBeGreaterThan(10 * HISTORIES);
});

/** Answers how many calls the backup held. */
async function backUpAndRestore(seed: number): Promise<number> {
  const random = createDraw(seed);
  const clock = createFakeClock(START_MS);
  const dataDir = newFolder();
  writePepper(dataDir, pepperOf(PEPPER_ID, seed % 256));
  const ledger = await openEmbeddedLedger({ dataDir, clock, log: logInto([]), openJournal: openJournalHere });
  const events: LedgerEvent[] = [];
  ledger.onEvent((event) => events.push(event));
  const world: World = { ledger, clock, callIds: new Map() };
  const commands: Command[] = [];
  const next = createSteps(random, world);
  const step = async () => {
    if (random(80) === 0) {
      await until(() => ledger.stats().lagEvents === 0);
      clock.advance(SNAPSHOT_MS);
    }
    const command = next();
    commands.push(command);
    const { durable } = await ledger.execute(command);
    if (random(3) === 0) await durable;
  };
  for (const agentId of [1, 2, 3]) await run(world, ...openingOf(agentId));
  for (let i = 0; i < STEPS_BEFORE; i++) await step();

  const file = join(newFolder(), 'backup');
  let running = true;
  const backup = backUpFolder({ dataDir, file, nowMs: clock.now() }).finally(() => {
    running = false;
  });
  while (running) {
    await step();
    await nextTurn();
  }
  const contents = await backup;
  await ledger.close();
  expect(contents.lastSeq, `seed ${seed}`).toBeGreaterThan(50);
  expect(events.length, `seed ${seed}`).toBeGreaterThan(contents.lastSeq);

  const restoredDir = newFolder();
  await restoreFolder({ archive: file, dataDir: restoredDir, nowMs: clock.now(), beforeChange });
  expect(readPepper(restoredDir)).toEqual(readPepper(dataDir));
  const moment = momentAfter(events, contents.lastSeq);
  await compare(restoredDir, moment, `seed ${seed}`);
  await compareAnswers(restoredDir, moment, commands, `seed ${seed}`);
  return contents.calls;
}

const beforeChange = async (_: unknown, isOccupied: boolean) => {
  if (isOccupied) throw new Error('the folder is not empty');
};

async function compare(dataDir: string, moment: Moment, hint: string): Promise<void> {
  const { journal, folded } = await openFolded(openJournalHere, join(dataDir, 'ledger.sqlite'), () => {});
  try {
    expect(folded.head.lastAtMs, hint).toBe(moment.lastAtMs);
    expect(comparable(folded.state, moment.lastAtMs), hint).toEqual(
      comparable(moment.state, moment.lastAtMs),
    );
    expect(folded.state.keysByHash, hint).toEqual(moment.state.keysByHash);
    for (const agentId of moment.state.agents.keys()) {
      const calls = await journal.history.list({ agentId, limit: 10_000 });
      expect(calls, hint).toEqual(moment.callsOf(agentId).reverse());
      expect(await journal.videos.list(agentId, ''), hint).toEqual(moment.videosOf(agentId));
      const usage = await journal.history.usage({ agentId, ...ALL_DAYS });
      expect(usage, hint).toEqual(moment.usageOf(agentId));
    }
  } finally {
    await journal.close();
  }
}

/** A command that was sent before is answered as the ledger of that moment would have answered it. */
async function compareAnswers(
  dataDir: string,
  { state, lastAtMs }: Moment,
  commands: readonly Command[],
  hint: string,
): Promise<void> {
  const clock = createFakeClock(lastAtMs);
  const enact = (command: Command) => {
    const decision = decide(state, command, lastAtMs);
    for (const event of decision.events) apply(state, event);
    return decision.result;
  };
  const ledger = await openEmbeddedLedger({ dataDir, clock, log: logInto([]), openJournal: openJournalHere });
  endDeadCalls(state, lastAtMs, enact);
  endDeadMoves(state, lastAtMs, enact);
  for (const command of commands) {
    const { result } = await ledger.execute(command);
    expect(result, `${hint}, ${command.type}`).toEqual(enact(command));
  }
  await ledger.close();
}

test('a restored backup keeps which calls were priced by an estimate, and which were counted', async () => {
  const keyId = ownKey(1);
  const estimated = { ...callEnd, tokens: { ...callEnd.tokens, estimated: true as const } };
  const rows = [
    ...openingOf(1),
    ...[does(reserve(1, 10n, { keyId }), ok), does(settle(1, 6n, { end: estimated }), charged(6n))],
    ...[does(reserve(2, 10n, { keyId }), ok), does(settle(2, 6n), charged(6n))],
  ];
  const archive = join(newFolder(), 'backup');
  await backUpFolder({ dataDir: await smallGateway({ rows }), file: archive, nowMs: START_MS });
  const dataDir = newFolder();
  await restoreFolder({ archive, dataDir, nowMs: START_MS, beforeChange });
  const { journal } = await openFolded(openJournalHere, join(dataDir, 'ledger.sqlite'), () => {});
  const calls = await journal.history.list({ agentId: 1, limit: 9 });
  await journal.close();
  expect(Array.isArray(calls) && calls.map(({ tokens }) => tokens)).toEqual([
    callEnd.tokens,
    estimated.tokens,
  ]);
});

test('a backup is read by its owner only, and leaves nothing beside it', async () => {
  const dataDir = await smallGateway();
  const target = newFolder();
  await backUpFolder({ dataDir, file: join(target, 'backup'), nowMs: START_MS });
  expect(statSync(join(target, 'backup')).mode & 0o777).toBe(0o600);
  expect(readdirSync(target)).toEqual(['backup']);
});

test('only a file is replaced by a backup, and a place where none can be made is told in a sentence', async () => {
  const dataDir = await smallGateway();
  const target = newFolder();
  mkdirSync(join(target, 'folder'));
  writeFileSync(join(target, 'file'), '');
  const pipe = join(target, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const backUpInto = (file: string) => backUpFolder({ dataDir, file: join(target, file), nowMs: START_MS });
  await expect(backUpInto('folder')).rejects.toThrow(/folder is there and is no file\. Name another\.$/);
  await expect(backUpInto('pipe')).rejects.toThrow(/pipe is there and is no file/);
  expect(statSync(pipe).isFIFO()).toBe(true);
  await expect(backUpInto('none/backup')).rejects.toThrow(
    /none\/backup cannot be written: there is no such folder\. Name a file in another folder\.$/,
  );
  await expect(backUpInto('file/backup')).rejects.toThrow(/a file stands in the place of its folder/);
  expect(readdirSync(target).sort()).toEqual(['file', 'folder', 'pipe']);
});

test('a folder that holds no ledger, or has lost its pepper, is not backed up', async () => {
  const file = join(newFolder(), 'backup');
  await expect(backUpFolder({ dataDir: newFolder(), file, nowMs: START_MS })).rejects.toThrow(
    /no gateway's data/,
  );
  const dataDir = await smallGateway({ pepper: null });
  await expect(backUpFolder({ dataDir, file, nowMs: START_MS })).rejects.toThrow(/pepper.json is missing/);
  expect(readdirSync(join(file, '..'))).toEqual([]);
});

test('calls are listed whole and oldest first, though others come in between', async () => {
  const ids = Array.from({ length: 2_500 }, (_, i) => 10 * (i + 1));
  let reads = 0;
  const history: CallHistory = {
    async list({ beforeCallId = Number.MAX_SAFE_INTEGER, limit }) {
      // Late ones, some of them into pages that were passed.
      if (++reads > 2) ids.push(10 * reads * 97 + 1, 99_990 + reads);
      return ids
        .filter((id) => id < beforeCallId)
        .sort((a, b) => b - a)
        .slice(0, limit)
        .map((id) => callOf(1, id));
    },
    find: async () => null,
    usage: async () => [],
  };
  const listed: number[] = [];
  for await (const portion of listCalls(history, 1)) listed.push(...portion.map(({ callId }) => callId));
  expect(listed.filter((id) => id <= 25_000 && id % 10 === 0)).toEqual(
    Array.from({ length: 2_500 }, (_, i) => 10 * (i + 1)),
  );
  expect(listed).toEqual(listed.toSorted((a, b) => a - b));
  expect(new Set(listed).size).toBe(listed.length);
});
