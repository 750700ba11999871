import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { Disk, type DiskChange, readRecord, writeImage } from '../support/power-cut.ts';
import { FOREVER, type Life, recordOf, startLife } from '../support/power-cut-life.ts';
import { createDraw, type Draw } from './history/random.ts';
import { compareTold, readTold } from './kill-told.ts';
import { openJournalHere } from './sqlite-journal-here.ts';

export interface PowerCutOptions {
  shim: string;
  seed: number;
  /** Processes one after the other on the same folder, each killed under load. */
  lives: number;
  cuts: number;
  /**
   * Syncs that fail on the way, in each life. With any, a life in between dies while every sync fails: what it wrote
   * last is seen by the next one, and is not on the disk.
   */
  failedSyncs: number;
  /** `false`: the disk forgets what was synced, and the run has to find that out. */
  honest?: boolean;
}

export interface PowerCutSummary {
  changes: number;
  syncs: number;
  failedSyncs: number;
  cuts: number;
  /** The most that had been told at a cut. */
  told: number;
  problems: string[];
}

/** Bytes told in one life: some two thousand facts. */
const LIFE_BYTES = 120_000;

/**
 * Runs processes under load and records what they do to their disk; then rebuilds the disk as a power cut at any
 * moment would have left it, starts a ledger on each, and compares with what had been told until then.
 */
export async function runPowerCuts(options: PowerCutOptions): Promise<PowerCutSummary> {
  const folder = mkdtempSync(join(tmpdir(), 'faregate-power-'));
  try {
    for (let n = 0; n < options.lives; n++) {
      const start = { folder, shim: options.shim, record: true };
      await during(startLife({ ...start, seed: options.seed + n }), (life) =>
        live(life, options.failedSyncs),
      );
      if (options.failedSyncs === 0) continue;
      await during(startLife({ ...start, seed: options.seed - n - 1 }), waste);
    }
    return await cutEverywhere(readRecord(recordOf(folder)), options, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function live(life: Life, failedSyncs: number): Promise<void> {
  const share = LIFE_BYTES / (failedSyncs + 1);
  for (let n = 0; n <= failedSyncs; n++) {
    if (!(await life.tells(share))) throw new Error('the process under load has stopped telling');
    if (n < failedSyncs) life.fault('sync', 'EIO', 1);
  }
}

/** It tells nothing any more, and tries to open its journal again until it is killed. */
async function waste(life: Life): Promise<void> {
  await life.tells(1);
  life.fault('sync', 'EIO', FOREVER, BIG_COMMIT_BYTES);
  for (let told = true, tries = 0; told; tries++) {
    told = await life.tells(1_000, 300);
    if (tries > 200) throw new Error('the syncs do not fail');
  }
}

async function during(life: Life, work: (life: Life) => Promise<void>): Promise<void> {
  try {
    await work(life);
  } finally {
    await life.kill();
  }
}

async function cutEverywhere(
  changes: readonly DiskChange[],
  options: PowerCutOptions,
  folder: string,
): Promise<PowerCutSummary> {
  const draw = createDraw(options.seed);
  const disk = new Disk(draw, options.honest);
  const cutAt = chooseCuts(changes, options.cuts, draw);
  const count = (op: string) => changes.filter((change) => change.op === op).length;
  const summary: PowerCutSummary = {
    changes: changes.length,
    syncs: count('S'),
    failedSyncs: count('E'),
    cuts: 0,
    told: 0,
    problems: [],
  };
  const toldFile = join(folder, 'told.until');
  for (const [index, change] of changes.entries()) {
    disk.apply(change);
    if (change.op === 'A') appendFileSync(toldFile, change.data);
    if (!cutAt.has(index)) continue;
    if (summary.problems.length > 0) break;
    const problems = await startOn(disk, toldFile, join(folder, `cut-${index}`), summary);
    summary.cuts++;
    for (const problem of problems.slice(0, PROBLEMS_SHOWN)) {
      summary.problems.push(`seed ${options.seed}, cut at ${index}: ${problem}`);
    }
  }
  return summary;
}

/** Half of them anywhere, half where a process has just started and makes good what the one before has left. */
function chooseCuts(changes: readonly DiskChange[], cuts: number, draw: Draw): Set<number> {
  const starts = changes.flatMap((change, index) => (change.path.endsWith('ledger.pid') ? [index] : []));
  const length = cuts / 2;
  const anywhere = Array.from({ length }, () => draw(changes.length));
  const atStarts = Array.from({ length }, () => (starts[draw(starts.length)] ?? 0) + draw(START_CHANGES));
  return new Set([...anywhere, ...atStarts]);
}

/** Of one cut: thousands follow from one that was lost. */
const PROBLEMS_SHOWN = 5;
/** A commit with a snapshot or with rows of the history: it changes pages that the log did not have before. */
const BIG_COMMIT_BYTES = 150_000;

/** About what a process changes until its ledger is open. */
const START_CHANGES = 400;

async function startOn(
  disk: Disk,
  toldFile: string,
  dataDir: string,
  summary: PowerCutSummary,
): Promise<string[]> {
  writeImage(disk.cut(), dataDir);
  const told = readTold(toldFile);
  summary.told = Math.max(summary.told, told.length);
  try {
    const ledger = await openEmbeddedLedger({
      dataDir,
      clock: systemClock,
      log: { info() {}, warn() {}, error() {} },
      openJournal: openJournalHere,
    });
    const problems = await compareTold(ledger, told);
    await ledger.close();
    return problems;
  } catch (error) {
    return [`no start: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
