import '#core/require-node.cjs';
import { takeEndSignals } from '#core/end-signals.ts';

const signals = takeEndSignals();
const { runWorkers } = await import('./run-workers.ts');
await runWorkers(signals);
