import { z } from 'zod';
import { ServiceMissingError } from '../services/service.ts';
import { judge } from './judge.ts';
import { runProof } from './run-proof.ts';
import { createStory } from './story.ts';

/*
 * `make proof [CALLS=1000] [SEED=n]`: $1.00, 1,000 calls at once, and what decides about money dies. Exit code 0 only if
 * every promise was kept.
 */
const asked = z
  .object({
    CALLS: z.coerce
      .number('CALLS has to be a number from 20 to 5000.')
      .pipe(
        z
          .int('CALLS has to be a whole number.')
          .min(20, 'CALLS has to be at least 20.')
          .max(5_000, 'CALLS has to be at most 5000.'),
      ),
    SEED: z.coerce.number('SEED has to be a number.').pipe(z.int('SEED has to be a whole number.')),
  })
  .safeParse({ CALLS: process.env.CALLS || 1_000, SEED: process.env.SEED || Date.now() % 1_000_000 });
if (!asked.success) {
  for (const { message } of asked.error.issues) console.error(message);
  process.exit(2);
}
const { CALLS: calls, SEED: seed } = asked.data;
const INTERRUPTED = 130;

const story = createStory(process.stdout);
const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    story.tell('Interrupted: what was started is ended.');
    interrupt.abort();
  });
}

try {
  story.title(`Faregate: $1.00, ${calls} calls at once, and what decides about money dies (SEED=${seed})`);
  const verdicts = judge(await runProof({ calls, seed, story, signal: interrupt.signal }));
  story.judge(verdicts);
  // Whatever still waits for a dead cluster waits in vain.
  process.exit(verdicts.every(({ isKept }) => isKept) ? 0 : 1);
} catch (error) {
  if (interrupt.signal.aborted) process.exit(INTERRUPTED);
  story.tell(error instanceof ServiceMissingError ? error.message : String(error));
  process.exit(1);
}
