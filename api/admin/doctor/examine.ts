import type { Clock } from '#core/clock.ts';
import type { Config } from '../../config/config.ts';
import { checkClock } from './check-clock.ts';
import { checkConfiguration } from './check-configuration.ts';
import { checkDataFolder } from './check-data-folder.ts';
import { checkFiles } from './check-files.ts';
import { checkLedgerTime } from './check-ledger-time.ts';
import { checkPorts } from './check-ports.ts';
import { checkProvider } from './check-provider.ts';
import type { Finding } from './finding.ts';
import { type Check, runChecks } from './run-checks.ts';

export interface Examination {
  /** Throws a `ConfigError`. */
  loadConfig: () => Promise<Config>;
  clock: Clock;
  onWaiting: (names: readonly string[]) => void;
}

/** All that a gateway of this configuration needs, looked at from here, whether it runs or not. Changes nothing. */
export async function examine({ loadConfig, ...run }: Examination): Promise<Finding[]> {
  const { config, findings } = await checkConfiguration(loadConfig);
  // What it names is not known: the rest would be about something else.
  if (config === null) return findings;
  return [...findings, ...(await runChecks(await checksFor(config, run.clock), run))];
}

async function checksFor(config: Config, clock: Clock): Promise<Check[]> {
  const { storage, files, market } = config;
  return [
    { name: 'data folder', look: async () => checkDataFolder(storage) },
    { name: 'ports', look: () => checkPorts(config) },
    { name: 'clock', look: () => checkClock(config, clock) },
    ...(storage.mode === 'cluster'
      ? await storeChecks(storage, { clock, hasVideos: files.kind !== 'none', hasMarkets: market === 'on' })
      : [{ name: 'ledger time', look: async () => checkLedgerTime(storage, clock) }]),
    { name: 'files', look: () => checkFiles(files, clock) },
    ...config.providers.map((provider) => ({
      name: `provider ${provider.id}`,
      look: () => checkProvider(provider, config, clock),
    })),
  ];
}

/** The drivers are loaded by whoever has a cluster alone: they take half a second. */
async function storeChecks(
  storage: Extract<Config['storage'], { mode: 'cluster' }>,
  has: { clock: Clock; hasVideos: boolean; hasMarkets: boolean },
): Promise<Check[]> {
  const { checkCassandra, checkKafka, checkRedisStore } = await import('./check-stores.ts');
  return [
    { name: 'redis', look: () => checkRedisStore(storage, has) },
    { name: 'kafka', look: () => checkKafka(storage, has) },
    { name: 'cassandra', look: () => checkCassandra(storage) },
  ];
}
