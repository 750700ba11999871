import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { createDraw, type Draw } from './history/random.ts';
import { compareTold, readTold } from './kill-told.ts';

const LOAD = new URL('./kill-load.ts', import.meta.url).pathname;

export interface KillSummary {
  kills: number;
  /** Kills that fell before the process had told anything. */
  killsAtStart: number;
  told: number;
  charges: number;
  crashedCalls: number;
  problems: string[];
}

/**
 * Starts a process under load on one folder, kills it at a random moment, opens the folder and compares it with
 * all that was told so far; again and again on the same folder.
 */
export async function runKillRounds(kills: number, seed: number): Promise<KillSummary> {
  const random = createDraw(seed);
  const dataDir = mkdtempSync(join(tmpdir(), 'faregate-kill-'));
  const toldFile = join(dataDir, 'told.lines');
  const summary: KillSummary = {
    kills: 0,
    killsAtStart: 0,
    told: 0,
    charges: 0,
    crashedCalls: 0,
    problems: [],
  };
  try {
    while (summary.kills < kills && summary.problems.length === 0) {
      await loadAndKill(dataDir, toldFile, seed + summary.kills, random);
      summary.kills++;
      const told = readTold(toldFile);
      if (told.length === summary.told) summary.killsAtStart++;
      summary.told = told.length;
      summary.charges = told.filter((fact) => fact.what === 'charged').length;
      const ledger = await openEmbeddedLedger({ dataDir, clock: systemClock, log: silent });
      summary.crashedCalls += ledger.crashed.length + ledger.crashedPending.length;
      const problems = await compareTold(ledger, told);
      summary.problems.push(...problems.map((problem) => `seed ${seed}, kill ${summary.kills}: ${problem}`));
      await ledger.close();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
  return summary;
}

const silent = { info() {}, warn() {}, error() {} };

/** Mostly under load; one in five while the process still starts, or has hardly begun. */
async function loadAndKill(dataDir: string, toldFile: string, seed: number, random: Draw): Promise<void> {
  const size = sizeOf(toldFile);
  const child = spawn(process.execPath, [LOAD, dataDir, String(seed), toldFile], { stdio: 'inherit' });
  const ended = once(child, 'exit');
  if (random(5) > 0) while (sizeOf(toldFile) === size && child.exitCode === null) await pause(5);
  await pause(random(500));
  if (child.exitCode !== null) throw new Error(`the process ended by itself with ${child.exitCode}`);
  child.kill('SIGKILL');
  await ended;
}

const sizeOf = (file: string): number => (existsSync(file) ? statSync(file).size : 0);
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
