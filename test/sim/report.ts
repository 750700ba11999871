import type { Losses } from './final-checks.ts';
import type { Summary } from './summary.ts';

export type Row = [name: string, value: string];

export const table = (rows: readonly Row[]): string =>
  rows.map(([name, value]) => `${name.padEnd(56)} ${value}`).join('\n');

/** What many histories came to, as a table for people. */
export function report({ histories, steps, coverage, losses, violations }: Summary, tookMs: number): string {
  const count = (what: string): string => number(coverage.get(what) ?? 0);
  const countAll = (pattern: RegExp): string =>
    number([...coverage].reduce((sum, [what, times]) => (pattern.test(what) ? sum + times : sum), 0));
  const rows: Row[] = [
    ['histories', `${number(histories)} in ${(tookMs / 1000).toFixed(0)} s, ${number(steps)} steps`],
    ['calls', `${count('call')}, of which ${count('delivered')} delivered`],
    [
      'events in the log',
      `${countAll(/^event /)}, ${count('duplicate event')} twice, ${count('void event')} void`,
    ],
    ['epochs', `${count('epoch')}, ${count('void mark')} void marks, ${count('open OK')} openings`],
    ['copies of shards', `${count('shard copied')}, the log trimmed ${count('log trimmed')} times`],
    ['processes killed between two steps', countAll(/killed after/)],
    ['commands lost', `${count('request lost')} requests, ${count('reply lost')} replies`],
    ['charges', `${count('charged as shown')} as shown, ${count('charged below shown')} below`],
  ];
  const faults = [...coverage].filter(([what]) => what.startsWith('fault: '));
  for (const [what, times] of faults.sort(([, a], [, b]) => b - a)) rows.push([what, number(times)]);
  rows.push(...lossRows(losses));
  for (const [rule, broken] of Map.groupBy(violations, (each) => each.rule)) {
    const seeds = broken.slice(0, SEEDS_SHOWN).map(({ seed }) => seed);
    rows.push([`BROKEN: ${rule}`, `${broken.length}, seeds ${seeds.join(' ')}`]);
  }
  rows.push(['violations', number(violations.length)]);
  return table(rows);
}

const SEEDS_SHOWN = 8;

export function lossRows(losses: Losses): Row[] {
  const billed = losses.get('billed') ?? 0n;
  const causes = [...losses].filter(([cause]) => cause !== 'billed').sort(([, a], [, b]) => (a < b ? 1 : -1));
  return causes.map(([cause, nanoUsd]) => [`the operator's loss: ${cause}`, share(nanoUsd, billed)]);
}

const number = (value: number): string => value.toLocaleString('en-US');

const share = (part: bigint, whole: bigint): string =>
  whole === 0n
    ? '-'
    : `${(Number((part * 1_000_000n) / whole) / 10_000).toFixed(3)} % of what providers billed`;
