import type { Config } from '../../api/config/config.ts';

/** How long Redis may take on a machine that is busy with tests, where no test is about that. */
export const PATIENT_MS = 15_000;

/** The entry of an API process that waits so long. */
export const PATIENT_API = 'test/support/patient-api.ts';

/** The configuration of a cluster whose API processes wait that long for Redis. */
export const withPatience = (config: Config): Config =>
  config.storage.mode === 'cluster'
    ? { ...config, storage: { ...config.storage, redis: { ...config.storage.redis, timeoutMs: PATIENT_MS } } }
    : config;
