import '#core/require-node.cjs';
import { takeEndSignals } from '#core/end-signals.ts';
import { keepTicksFast } from '#core/keep-ticks-fast.ts';

keepTicksFast();
const signals = takeEndSignals();
const { runWorkers } = await import('./run-workers.ts');
await runWorkers(signals);
