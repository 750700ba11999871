import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import {
  dataOf,
  type FaultAction,
  FOREVER,
  type Life,
  startLife,
  toldOf,
} from '../support/power-cut-life.ts';
import { createDraw } from './history/random.ts';
import { compareTold, readTold } from './kill-told.ts';

export interface DiskFault {
  name: string;
  call: 'write' | 'sync';
  action: FaultAction;
  count: number;
  /** Opens the journal again, or only waits. */
  reopens: boolean;
}

export const diskFaults: readonly DiskFault[] = [
  { name: 'a full disk', call: 'write', action: 'ENOSPC', count: FOREVER, reopens: true },
  { name: 'one write on a full disk', call: 'write', action: 'ENOSPC', count: 1, reopens: true },
  { name: 'a write that fails', call: 'write', action: 'EIO', count: 1, reopens: true },
  { name: 'a disk that takes no write', call: 'write', action: 'EIO', count: FOREVER, reopens: true },
  { name: 'a write that stops half-way', call: 'write', action: 'SHORT', count: 1, reopens: false },
  { name: 'a sync that fails', call: 'sync', action: 'EIO', count: 1, reopens: true },
  { name: 'a disk that syncs nothing', call: 'sync', action: 'EIO', count: FOREVER, reopens: true },
  { name: 'a sync that takes three seconds', call: 'sync', action: 3_000, count: 1, reopens: false },
];

export interface FaultSummary {
  rounds: number;
  faults: number;
  told: number;
  problems: string[];
}

/** How long a disk stays broken. */
const BROKEN_MS = 400;
const REOPENED = 'journal open again';
const REFUSING = 'refusing';

/** One process after the other on one folder, each with the faults in turn, killed, and compared with what it told. */
export async function runFaults(
  shim: string,
  seed: number,
  rounds: number,
  faults: readonly DiskFault[],
): Promise<FaultSummary> {
  const folder = mkdtempSync(join(tmpdir(), 'faregate-fault-'));
  const draw = createDraw(seed);
  const summary: FaultSummary = { rounds: 0, faults: 0, told: 0, problems: [] };
  try {
    for (let round = 0; round < rounds && summary.problems.length === 0; round++) {
      const life = startLife({ folder, shim, seed: seed + round, record: false });
      try {
        if (!(await life.tells(10_000))) throw new Error('the process under load tells nothing');
        for (const fault of [...faults].sort(() => draw(3) - 1)) {
          const problem = await suffer(life, fault);
          if (problem !== null)
            summary.problems.push(`seed ${seed}, round ${round}, ${fault.name}: ${problem}`);
          summary.faults++;
        }
      } finally {
        await life.kill();
      }
      summary.rounds++;
      summary.problems.push(...(await compare(folder, summary)));
    }
    return summary;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Answers what was wrong: the fault was not felt, or the ledger did not come back by itself. */
async function suffer(life: Life, fault: DiskFault): Promise<string | null> {
  const before = { reopened: life.logged(REOPENED), refusing: life.logged(REFUSING) };
  life.fault(fault.call, fault.action, fault.count);
  if (fault.count === FOREVER) {
    if (!(await until(() => life.logged(REFUSING) > before.refusing))) return 'it was not felt';
    if (await life.tells(1, BROKEN_MS)) return 'something was told while the disk took nothing';
    life.heal();
  } else if (typeof fault.action === 'number') {
    if (!(await until(() => life.logged(REFUSING) > before.refusing))) return 'calls were not refused';
  }
  const reopened = () => life.logged(REOPENED) > before.reopened;
  if (fault.reopens && !(await until(reopened))) return 'the journal was not opened again';
  return (await life.tells(10_000)) ? null : 'nothing is told any more';
}

async function until(condition: () => boolean): Promise<boolean> {
  const lastMs = performance.now() + 20_000;
  while (!condition()) {
    if (performance.now() > lastMs) return false;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return true;
}

async function compare(folder: string, summary: FaultSummary): Promise<string[]> {
  const told = readTold(toldOf(folder));
  summary.told = told.length;
  const log = { info() {}, warn() {}, error() {} };
  const ledger = await openEmbeddedLedger({ dataDir: dataOf(folder), clock: systemClock, log });
  const problems = await compareTold(ledger, told);
  await ledger.close();
  return problems;
}
