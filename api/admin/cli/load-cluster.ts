import type { ClusterStorage } from '../../config/storage-settings.ts';
import type { CliContext } from './cli-context.ts';
import { usageError } from './cli-error.ts';

/** The stores of the configuration, for what only a cluster has. Throws a `ConfigError`, see `explaining`. */
export async function loadCluster({ loadStorage }: CliContext): Promise<ClusterStorage> {
  const storage = await loadStorage();
  if (storage.mode === 'cluster') return storage;
  throw usageError(
    'This is for a cluster: name its configuration with FAREGATE_CONFIG, with storage.mode: cluster in it.',
  );
}
