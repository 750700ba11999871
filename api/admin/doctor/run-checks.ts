import { type Clock, SECOND_MS } from '#core/clock.ts';
import { atMost } from '#core/wait.ts';
import { type Finding, problem } from './finding.ts';

/** A check without a result by then has found a problem. */
const DOCTOR_CHECK_MS = 10 * SECOND_MS;

export interface Check {
  name: string;
  look(): Promise<readonly Finding[]>;
}

/** All side by side, none for longer than its time. The findings stand in the order of the checks. */
export async function runChecks(
  checks: readonly Check[],
  { clock, onWaiting }: { clock: Clock; onWaiting: (names: readonly string[]) => void },
): Promise<Finding[]> {
  const waiting = new Set(checks.map(({ name }) => name));
  onWaiting([...waiting]);
  const found = await Promise.all(
    checks.map(async (check) => {
      const findings = await inTime(check, clock);
      waiting.delete(check.name);
      onWaiting([...waiting]);
      return findings;
    }),
  );
  return found.flat();
}

async function inTime({ name, look }: Check, clock: Clock): Promise<readonly Finding[]> {
  const found = `no answer within ${DOCTOR_CHECK_MS / SECOND_MS} s`;
  const late = [problem(name, found, 'Look whether it hangs, or the network does.')];
  try {
    return await atMost(clock, look(), DOCTOR_CHECK_MS, late);
  } catch (error) {
    // One check that fails in a way that nobody expected must not hide what the others have found.
    const [sentence = ''] = error instanceof Error ? error.message.split('\n') : [String(error)];
    return [problem(name, sentence, 'This was not expected: please report it.')];
  }
}
