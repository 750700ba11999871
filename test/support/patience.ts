import type { Config } from '../../api/config/config.ts';

/** How long Redis, or a disk, may take on a machine that is busy with tests, where no test is about that. */
export const PATIENT_MS = 15_000;

/** The entry of an API process that waits so long. */
export const PATIENT_API = 'test/support/patient-api.ts';

/**
 * The configuration of a process that waits that long for Redis, and for what it holds to be durable.
 *
 * @param gateTimeoutMs Of a test that moves a clock of its own, which is about the process's own time.
 */
export function withPatience(config: Config, gateTimeoutMs = PATIENT_MS): Config {
  const { storage } = config;
  if (storage.mode === 'embedded') return { ...config, storage: { ...storage, gateTimeoutMs } };
  const redis = { ...storage.redis, timeoutMs: PATIENT_MS };
  return { ...config, storage: { ...storage, redis, gateTimeoutMs } };
}
