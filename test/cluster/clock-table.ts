import { formatUsd } from '#core/money.ts';
import type { JumpRound } from './run-clock-jumps.ts';

const columns = [
  'jump',
  'clock of',
  'when',
  'served',
  'refused',
  'served again',
  'by',
  'ended',
  'charged = shown',
  'readyz',
];

/** A line for each jump. Money that was not equal would have ended the run. */
export function clockTable(rounds: readonly JumpRound[]): string {
  const lines = rounds.map((round) => [
    ...[round.jump, round.owner, round.when, String(round.served), String(round.refused)],
    ...[`${(round.servedAfterMs / 1000).toFixed(1)} s`, round.remedy, String(round.calls)],
    ...[formatUsd(round.chargedNanoUsd), round.readyz],
  ]);
  const table = [columns, ...lines];
  const widths = columns.map((_, i) => Math.max(...table.map((line) => line[i]?.length ?? 0)));
  return table
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
