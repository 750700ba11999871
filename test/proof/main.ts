import { z } from 'zod';
import { takeEndSignals } from '#core/end-signals.ts';
import { ServiceMissingError } from '../services/service.ts';
import { judge } from './judge.ts';
import { runProof } from './run-proof.ts';
import { createStory } from './story.ts';

/*
 * `make proof [CALLS=1000] [SEED=n]`: $1.00, 1,000 calls at once, and what decides about money dies. Exit code 0 only if
 * every promise was kept.
 */
const calls = z.coerce
  .number()
  .pipe(z.int().min(20).max(5_000))
  .safeParse(process.env.CALLS || 1_000);
const seed = z.coerce
  .number()
  .pipe(z.int())
  .safeParse(process.env.SEED || Date.now() % 1_000_000);
if (!calls.success) console.error('CALLS has to be a whole number from 20 to 5000.');
if (!seed.success) console.error('SEED has to be a whole number.');
if (!calls.success || !seed.success) process.exit(2);
const INTERRUPTED = 130;

const story = createStory(process.stdout);
const interrupt = new AbortController();
takeEndSignals().endBy(() => {
  story.tell('Interrupted: what was started is ended.');
  interrupt.abort();
});

try {
  story.title(
    `Faregate: $1.00, ${calls.data} calls at once, and what decides about money dies (SEED=${seed.data})`,
  );
  const verdicts = judge(
    await runProof({ calls: calls.data, seed: seed.data, story, signal: interrupt.signal }),
  );
  story.judge(verdicts);
  // Whatever still waits for a dead cluster waits in vain.
  process.exit(verdicts.every(({ isKept }) => isKept) ? 0 : 1);
} catch (error) {
  if (interrupt.signal.aborted) process.exit(INTERRUPTED);
  story.tell(error instanceof ServiceMissingError ? error.message : String(error));
  process.exit(1);
}
