import { SECOND_MS } from '#core/clock.ts';
import { usageError } from './cli-error.ts';

/** The milliseconds of `--wait <seconds>`. Throws a usage error for anything but a whole number of seconds. */
export function parseWaitMs(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text) * SECOND_MS;
  throw usageError(`${text} is no number of seconds to wait.`);
}
