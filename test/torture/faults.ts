import { diskFaults, runFaults } from '../ledger/embedded-fault-run.ts';
import { runPowerCuts } from '../ledger/embedded-power-cut-run.ts';
import { buildFaultShim } from '../support/power-cut-shim.ts';

export interface FaultsReport {
  rounds: number;
  faults: number;
  cuts: number;
  failedSyncs: number;
  /** Of the longest round. */
  told: number;
}

/**
 * In each round: a loaded ledger with every fault of the disk in random order, then killed and compared; and power
 * cuts at many moments of another one, whose syncs fail now and then. Rejects, with the seed, at the first broken
 * promise. `null` where there is no C compiler for Linux.
 */
export async function tortureFaults(firstSeed: number, rounds = 10): Promise<FaultsReport | null> {
  const shim = buildFaultShim();
  if (shim === null) return null;
  const report: FaultsReport = { rounds: 0, faults: 0, cuts: 0, failedSyncs: 0, told: 0 };
  while (report.rounds < rounds) {
    const seed = firstSeed + report.rounds;
    const faults = await runFaults(shim, seed, 1, diskFaults);
    const failedSyncs = report.rounds % 3;
    const cuts = await runPowerCuts({ shim, seed, lives: 3, cuts: 100, failedSyncs });
    const problems = [...faults.problems, ...cuts.problems];
    if (problems.length > 0) throw new Error(problems.join('\n'));
    report.rounds++;
    report.faults += faults.faults;
    report.cuts += cuts.cuts;
    report.failedSyncs += cuts.failedSyncs;
    report.told = Math.max(report.told, faults.told, cuts.told);
  }
  return report;
}
