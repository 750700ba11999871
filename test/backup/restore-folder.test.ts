import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hasPepper, readPepper, writePepper } from '#core/accounts/pepper-file.ts';
import type { ArchiveHeader } from '#core/backup/archive-lines.ts';
import { archivePepper } from '#core/backup/archived-pepper.ts';
import { backUpFolder } from '#core/backup/back-up-folder.ts';
import { finishRestore } from '#core/backup/finish-restore.ts';
import { restoreFolder } from '#core/backup/restore-folder.ts';
import { writeArchive } from '#core/backup/write-archive.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { FolderInUseError } from '#core/ledger/embedded/journal-errors.ts';
import { openFolded } from '#core/ledger/embedded/journal-recovery.ts';
import { lockFolder } from '#core/ledger/embedded/sqlite-folder-lock.ts';
import { newAgent } from '#core/ledger/machine/empty-ledger.ts';
import { RecentlySettled } from '#core/ledger/machine/recently-settled.ts';
import type { AgentState } from '#core/ledger/machine/state.ts';
import { MARKETS_FILE } from '#core/market/sqlite-market-store.ts';
import { callIdAt, chargedBefore, refused, START_MS, type World } from '../ledger/case.ts';
import { settle } from '../ledger/commands.ts';
import { logInto, newFolder, run } from '../ledger/embedded-harness.ts';
import { openJournalHere } from '../ledger/sqlite-journal-here.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openingOf, pepperOf, smallGateway } from './small-gateway.ts';

const old = pepperOf('old', 1);
const other = pepperOf('other', 2);
const ASIDE = 'before-restore-2026-11-18T10-00-00.000Z';

const made = mkdtempSync(join(tmpdir(), 'faregate-restore-'));
const template = {
  occupied: join(made, 'occupied'),
  archive: join(made, 'archive'),
  restored: join(made, 'restored'),
};

beforeAll(async () => {
  const source = await smallGateway({
    dataDir: join(made, 'source'),
    pepper: other,
    rows: openingOf(2, 200n, 'other.2'),
  });
  await backUpFolder({ dataDir: source, file: template.archive, nowMs: START_MS });
  await restoreFolder({
    archive: template.archive,
    dataDir: template.restored,
    nowMs: START_MS,
    beforeChange: fine,
  });
  await smallGateway({ dataDir: template.occupied, pepper: old, rows: openingOf(1, 100n, 'old.1') });
});
afterAll(() => rmSync(made, { recursive: true }));

const fine = async () => {};
/** Holds agent 2, hashed with `other`. */
let archive = '';
/** Holds agent 1, hashed with `old`. */
let dataDir = '';

beforeEach(() => {
  archive = join(newFolder(), 'backup');
  cpSync(template.archive, archive);
  dataDir = newFolder();
  cpSync(template.occupied, dataDir, { recursive: true });
});

const restore = (into = dataDir, beforeChange = fine) =>
  restoreFolder({ archive, dataDir: into, nowMs: START_MS, beforeChange });

async function agentsOf(folder: string): Promise<AgentState[]> {
  const { journal, folded } = await openFolded(openJournalHere, join(folder, 'ledger.sqlite'), () => {});
  await journal.close();
  return [...folded.state.agents.values()];
}

const idsOf = async (folder: string) => (await agentsOf(folder)).map(({ agentId }) => agentId);

test('what stood in the folder is moved aside, whole, under the time', async () => {
  writeFileSync(join(dataDir, 'ledger.sqlite-wal'), '');
  const { movedTo } = await restore();
  expect(movedTo).toBe(join(dataDir, ASIDE));
  expect(readdirSync(dataDir).sort()).toEqual([ASIDE, 'ledger.lock', 'ledger.sqlite', 'pepper.json']);
  expect(await idsOf(dataDir)).toEqual([2]);
  expect(readPepper(dataDir)).toEqual(other);
  expect(await idsOf(join(dataDir, ASIDE))).toEqual([1]);
  expect(readPepper(join(dataDir, ASIDE))).toEqual(old);
});

test('what was traded stays as it is: it is the exchange’s, and no ledger of ours takes it back', async () => {
  const markets = join(dataDir, MARKETS_FILE);
  writeFileSync(markets, 'as it was');
  await restore();
  expect(readFileSync(markets, 'utf8')).toBe('as it was');
});

test('a second restore of the same moment moves the first one aside, too', async () => {
  await restore();
  const { movedTo } = await restore();
  expect(movedTo).toBe(join(dataDir, `${ASIDE}-2`));
  expect(await idsOf(join(dataDir, `${ASIDE}-2`))).toEqual([2]);
  expect(await idsOf(join(dataDir, ASIDE))).toEqual([1]);
});

test('a folder that is missing is made, and nothing is moved', async () => {
  const missing = join(newFolder(), 'a', 'b');
  expect(await restore(missing)).toMatchObject({ movedTo: null, contents: { agents: 1, lastSeq: 3 } });
  expect(await idsOf(missing)).toEqual([2]);
});

describe('nothing is changed', () => {
  async function isUnchanged(): Promise<void> {
    expect(readdirSync(dataDir).sort()).toEqual(['ledger.lock', 'ledger.sqlite', 'pepper.json']);
    expect(await idsOf(dataDir)).toEqual([1]);
    expect(readPepper(dataDir)).toEqual(old);
  }

  test('when nobody agrees to it', async () => {
    const refusal = new Error('no');
    await expect(restore(dataDir, () => Promise.reject(refusal))).rejects.toBe(refusal);
    await isUnchanged();
  });

  test('by a damaged archive', async () => {
    writeFileSync(archive, readFileSync(archive).subarray(0, -9));
    await expect(restore()).rejects.toThrow(/is damaged or cut off/);
    await isUnchanged();
  });

  test('by an archive that is damaged after it was looked at', async () => {
    const cut = async () => writeFileSync(archive, readFileSync(archive).subarray(0, -9));
    await expect(restore(dataDir, cut)).rejects.toThrow(/is damaged or cut off/);
    await isUnchanged();
  });

  test('while a gateway runs there, and a person is not asked', async () => {
    const lock = lockFolder(dataDir);
    const ask = () => Promise.reject(new Error('asked'));
    await expect(restore(dataDir, ask)).rejects.toBeInstanceOf(FolderInUseError);
    lock.release();
    await isUnchanged();
  });
});

test('what a restore that was cut off has left is no hindrance', async () => {
  mkdirSync(join(dataDir, 'restore.partial'));
  writeFileSync(join(dataDir, 'restore.partial', 'ledger.sqlite'), 'half a file');
  finishRestore(dataDir);
  expect(await idsOf(dataDir)).toEqual([1]);
  await restore();
  expect(existsSync(join(dataDir, 'restore.partial'))).toBe(false);
  expect(await idsOf(dataDir)).toEqual([2]);
});

/** As a power cut leaves the folder after so many of the moves by which a prepared restore gets into place. */
function cutOffAfter(moves: number): void {
  const prepared = join(dataDir, 'restored-x');
  const aside = join(dataDir, 'before-restore-x');
  mkdirSync(prepared);
  mkdirSync(aside);
  for (const name of ['ledger.sqlite', 'pepper.json'])
    cpSync(join(template.restored, name), join(prepared, name));
  writeFileSync(join(dataDir, 'ledger.sqlite-wal'), 'of the old ledger');
  const all: [from: string, to: string, name: string][] = [
    [dataDir, aside, 'ledger.sqlite'],
    [dataDir, aside, 'ledger.sqlite-wal'],
    [prepared, dataDir, 'ledger.sqlite'],
    [dataDir, aside, 'pepper.json'],
    [prepared, dataDir, 'pepper.json'],
  ];
  for (const [source, target, name] of all.slice(0, moves))
    renameSync(join(source, name), join(target, name));
}

describe('a restore that was cut off while it got into place is completed', () => {
  test.each([0, 1, 2, 3, 4, 5])('by the next start, after %i moves', async (moves) => {
    cutOffAfter(moves);
    finishRestore(dataDir);
    expect(readdirSync(dataDir).sort()).toEqual([
      'before-restore-x',
      'ledger.lock',
      'ledger.sqlite',
      'pepper.json',
    ]);
    expect(await idsOf(dataDir)).toEqual([2]);
    expect(readPepper(dataDir)).toEqual(other);
    expect(readPepper(join(dataDir, 'before-restore-x'))).toEqual(old);
    expect(readFileSync(join(dataDir, 'before-restore-x', 'ledger.sqlite-wal'), 'utf8')).toBe(
      'of the old ledger',
    );
  });

  test('by the next restore, and a backup says so', async () => {
    cutOffAfter(2);
    const file = join(newFolder(), 'backup');
    await expect(backUpFolder({ dataDir, file, nowMs: START_MS })).rejects.toThrow(/restore .* was cut off/);
    const { movedTo } = await restore();
    expect(movedTo).toBe(join(dataDir, ASIDE));
    expect(await idsOf(join(dataDir, ASIDE))).toEqual([2]);
    expect(await idsOf(dataDir)).toEqual([2]);
  });

  test('but not under a process that uses the folder', () => {
    cutOffAfter(2);
    const lock = lockFolder(dataDir);
    expect(() => finishRestore(dataDir)).toThrow(FolderInUseError);
    lock.release();
  });
});

describe('a backup of a cluster, which does not hold the secret of its keys,', () => {
  beforeEach(async () => {
    await write(await agentsOf(template.restored));
    dataDir = newFolder();
  });

  async function write(agents: readonly AgentState[]): Promise<void> {
    archive = join(newFolder(), 'backup');
    await writeArchive(archive, {
      header: {
        madeAtMs: START_MS,
        shape: 'cluster',
        peppers: [other, old].map((pepper) => archivePepper(pepper, { withSecret: false })),
      },
      entries: entriesOf(agents),
      lastAtMs: () => START_MS,
    });
  }

  async function* entriesOf(agents: readonly AgentState[]) {
    for (const agent of agents) yield { agent, calls: none(), videos: none() };
  }

  async function* none() {}

  test('is restored beside the secret that the operator has put there', async () => {
    writePepper(dataDir, other);
    expect(await restore()).toMatchObject({ movedTo: null });
    expect(await idsOf(dataDir)).toEqual([2]);
    expect(readPepper(dataDir)).toEqual(other);
  });

  test('says which secret it needs', async () => {
    await expect(restore()).rejects.toThrow(
      /Write that of storage.keyPepper into .*pepper.json as \{"id":"other"/,
    );
    expect(existsSync(join(dataDir, 'ledger.sqlite'))).toBe(false);
  });

  test('needs none where no key is in use', async () => {
    const [agent] = await agentsOf(template.restored);
    for (const key of agent?.keys.values() ?? []) key.revokedAtMs = START_MS;
    await write(agent === undefined ? [] : [agent]);
    await restore();
    expect(await idsOf(dataDir)).toEqual([2]);
    // Without any, the gateway would not start.
    expect(hasPepper(dataDir)).toBe(true);
  });

  test('takes no other secret of the same name', async () => {
    writePepper(dataDir, pepperOf('other', 3));
    await expect(restore()).rejects.toThrow(/Write that of storage.keyPepper/);
    expect(readPepper(dataDir)).toEqual(pepperOf('other', 3));
  });
});

test('a secret that was put there by hand may be in either alphabet of base64', () => {
  const folder = newFolder();
  const secret = Buffer.alloc(33, 0xfb);
  for (const alphabet of ['base64', 'base64url'] as const) {
    writeFileSync(
      join(folder, 'pepper.json'),
      JSON.stringify({ id: 'a', secret: secret.toString(alphabet) }),
    );
    expect(hasPepper(folder)).toBe(true);
    expect(readPepper(folder)?.secret.export().equals(secret)).toBe(true);
  }
});

test('an empty ledger is restored as one', async () => {
  const source = await smallGateway({ pepper: null, rows: [] });
  await backUpFolder({ dataDir: source, file: archive, nowMs: START_MS });
  const into = newFolder();
  expect(await restore(into)).toMatchObject({ contents: { agents: 0, lastSeq: 0 } });
  expect(await idsOf(into)).toEqual([]);
});

test('thousands of ended calls are forgotten after their hour, and not before', async () => {
  /** Those of one agent among others that all ended earlier. */
  const agoMinutes = new Map([50, 40, 10, 30].map((minutes, index) => [index + 1, minutes]));
  const endedAtMs = (agentId: number, i: number) =>
    START_MS - (agoMinutes.get(agentId) ?? 0) * MINUTE_MS + i * (SECOND_MS / 5);
  const agents = [...agoMinutes.keys()].map((agentId): AgentState => {
    const ids = Array.from({ length: 3_000 }, (_, i) => callIdAt(endedAtMs(agentId, i), agentId));
    const done = ids.map(
      (id, i) => [id, { nonce: 'n', chargedNanoUsd: 0n, settledAtMs: endedAtMs(agentId, i) }] as const,
    );
    return { ...newAgent(agentId, 'Ada', START_MS), version: 6_001, done: new RecentlySettled(done) };
  });
  archive = join(newFolder(), 'backup');
  async function* entries() {
    for (const agent of agents) yield { agent, calls: none(), videos: none() };
  }
  async function* none() {}
  const header: ArchiveHeader = { madeAtMs: START_MS, shape: 'embedded', peppers: [] };
  await writeArchive(archive, { header, entries: entries(), lastAtMs: () => START_MS });
  dataDir = newFolder();
  await restore();

  // Forty minutes later, and after one more start.
  const clock = createFakeClock(START_MS + 40 * MINUTE_MS);
  const open = () => openEmbeddedLedger({ dataDir, clock, log: logInto([]), openJournal: openJournalHere });
  const first = await open();
  await run({ ledger: first, clock, callIds: new Map() }, ...openingOf(5));
  await first.close();
  const ledger = await open();
  for (const { agentId } of agents) {
    for (let i = 0; i < 3_000; i += 100) {
      const world: World = { ledger, clock, callIds: new Map() };
      const command = settle(0, 5n, { agentId, callId: callIdAt(endedAtMs(agentId, i), agentId) })(world);
      const isKnown = clock.now() - endedAtMs(agentId, i) < HOUR_MS;
      const expected = isKnown ? chargedBefore(0n) : refused('no_hold');
      expect((await ledger.execute(command)).result, `call ${i} of agent ${agentId}`).toEqual(expected);
    }
  }
  await ledger.close();
});
