import { setFlagsFromString } from 'node:v8';
import { takeEndSignals } from '#core/end-signals.ts';
import { keepTicksFast } from '#core/keep-ticks-fast.ts';

// A gateway has little that survives a collection. Handing it to four threads costs more than it saves, and where the
// process has one core they stop it for 27 ms instead of 4 (measured).
setFlagsFromString('--no-parallel-scavenge');
keepTicksFast();

const signals = takeEndSignals();
const { runGateway } = await import('./run-gateway.ts');
await runGateway(signals);
