import type { FaultRound } from './run-faults.ts';

const columns = ['calls', 'shown', 'charged', 'hungUp', 'cut', 'unavailable', 'lower', 'orphans'] as const;

/** A line for each fault: sums over its rounds, and the longest time until all was served again. */
export function faultTable(rounds: readonly FaultRound[]): string {
  const names = [...new Set(rounds.map(({ fault }) => fault))];
  const lines = names.map((name) => {
    const of = rounds.filter(({ fault }) => fault === name);
    const sums = columns.map((column) => String(of.reduce((sum, round) => sum + round[column], 0)));
    const servedAfterMs = Math.max(...of.map((round) => round.servedAfterMs));
    return [name, String(of.length), ...sums, `${(servedAfterMs / 1000).toFixed(1)} s`];
  });
  const table = [['fault', 'rounds', ...columns, 'served again'], ...lines];
  const widths = table[0]?.map((_, i) => Math.max(...table.map((line) => line[i]?.length ?? 0))) ?? [];
  const pad = (cell: string, i: number) =>
    i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0);
  return table.map((line) => line.map(pad).join('  ')).join('\n');
}
