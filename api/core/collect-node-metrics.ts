import { collectDefaultMetrics, type Registry } from 'prom-client';

/** By default a hundred timers a second, which take a hundredth of an idle process's core. */
const LOOP_DELAY_STEP_MS = 100;

/** What Node and the system tell of this process. */
export const collectNodeMetrics = (registry: Registry): void =>
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_DELAY_STEP_MS });
