import '#core/require-node.cjs';
import { setFlagsFromString } from 'node:v8';
import { systemClock } from '#core/clock.ts';
import { takeEndSignals } from '#core/end-signals.ts';
import { keepTicksFast } from '#core/keep-ticks-fast.ts';
import { showProgress } from '#core/show-progress.ts';

// A gateway has little that survives a collection. Handing it to four threads costs more than it saves, and where the
// process has one core they stop it for 27 ms instead of 4 (measured).
setFlagsFromString('--no-parallel-scavenge');
keepTicksFast();

const signals = takeEndSignals();
// The very first start also compiles the sources, which takes seconds.
const progress = showProgress(process.stderr, systemClock, 'Starting', 0);
const { runGateway } = await import('./start/run-gateway.ts');
await runGateway(signals, progress);
