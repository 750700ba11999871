import '#core/require-node.cjs';
import { systemClock } from '#core/clock.ts';
import { takeEndSignals } from '#core/end-signals.ts';
import { keepTicksFast } from '#core/keep-ticks-fast.ts';
import { showProgress } from '#core/show-progress.ts';

keepTicksFast();
const signals = takeEndSignals();
// The very first start also compiles the sources, which takes seconds.
const progress = showProgress(process.stderr, systemClock, 'Starting', 0);
const { runWorkers } = await import('../api/start/workers/run-workers.ts');
await runWorkers(signals, progress);
