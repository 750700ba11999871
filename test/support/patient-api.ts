import { systemClock } from '#core/clock.ts';
import { takeEndSignals } from '#core/end-signals.ts';
import { keepTicksFast } from '#core/keep-ticks-fast.ts';
import { showProgress } from '#core/show-progress.ts';
import { loadConfig } from '../../api/config/config.ts';
import { runGateway } from '../../api/start/run-gateway.ts';
import { withPatience } from './patience.ts';

// An API process like that of `api/main.ts`, for tests of restarts and clocks: on a busy machine Redis may answer later
// than an operator's callers wait for it, which is no failure of either.
keepTicksFast();
const progress = showProgress(process.stderr, systemClock, 'Starting', 0);
await runGateway(takeEndSignals(), progress, async () => withPatience(await loadConfig()));
