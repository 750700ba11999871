import { request } from 'undici';
import { type Clock, isoTime, SECOND_MS } from '#core/clock.ts';
import { CLOCK_APART_MAX_MS, DOCTOR_ASK_MS } from '#core/limits.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, ok, problem } from './finding.ts';

const CHECK = 'clock';

/** Held against the date that the first provider with one answers, whatever else it answers. */
export async function checkClock({ providers }: Pick<Config, 'providers'>, clock: Clock): Promise<Finding[]> {
  const asked = providers.flatMap(({ id, baseUrl, stopped }) =>
    baseUrl === null || stopped
      ? []
      : [dateOf(baseUrl, clock).then((dates) => dates && { ...dates, whose: `provider ${id}` })],
  );
  const told = (await Promise.all(asked)).find((dates) => dates !== null);
  if (told !== undefined) return [compareClocks(told)];
  return [ok(CHECK, `${utc(clock.now())}; nobody was there to compare it with`)];
}

export function compareClocks({
  ours,
  theirs,
  whose,
}: {
  ours: number;
  theirs: number;
  whose: string;
}): Finding {
  const apartMs = Math.abs(ours - theirs);
  const apart = `${Math.round(apartMs / SECOND_MS)} s`;
  if (apartMs <= CLOCK_APART_MAX_MS) return ok(CHECK, `${utc(ours)}, as ${whose} has it (${apart} apart)`);
  const todo =
    'Set the clock, by NTP best: credit expires by it, and calls are refused with clocks that far apart.';
  return problem(CHECK, `${utc(ours)} is ${apart} from the time of ${whose}`, todo);
}

/** Both clocks at the moment of the answer: others may take longer. */
async function dateOf(url: string, clock: Clock): Promise<{ ours: number; theirs: number } | null> {
  try {
    const { headers, body } = await request(url, {
      ...{ method: 'HEAD', headersTimeout: DOCTOR_ASK_MS, bodyTimeout: DOCTOR_ASK_MS, reset: true },
    });
    const ours = clock.now();
    await body.dump();
    const theirs = Date.parse(String(headers.date));
    return Number.isNaN(theirs) ? null : { ours, theirs };
  } catch {
    return null;
  }
}

const utc = (atMs: number): string => `${isoTime(atMs).slice(0, 19).replace('T', ' ')} UTC`;
