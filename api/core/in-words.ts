import { SECOND_MS } from './clock.ts';

/** `2 h 5 min`, `3 d 1 h`, `45 s`. */
export function inWords(durationMs: number): string {
  const seconds = Math.ceil(durationMs / SECOND_MS);
  const units = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = units.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  return units
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}
