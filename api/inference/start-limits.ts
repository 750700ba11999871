import type { StartLimits } from '#core/ledger/command.ts';
import type { Gateway } from './gateway.ts';

/** The operator's numbers of this moment. */
export function startLimits({ limits, dailyShareNanoUsd }: Gateway): StartLimits {
  const { callsPerMinute, burst, runningCalls } = limits();
  return { callsPerMinute, burst, runningCalls, dailyShareNanoUsd: dailyShareNanoUsd() };
}
