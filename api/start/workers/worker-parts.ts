import type { Registry } from 'prom-client';
import type { FeedCounts } from '#core/events/feed-metrics.ts';
import type { Log } from '#core/log.ts';
import type { NanoUsd } from '#core/money.ts';
import type { CountLoss } from '#core/operator-losses.ts';
import type { StartWaits } from '#core/start-waits.ts';
import type { TrustedClock } from '#core/trusted-clock.ts';
import type { Config } from '../../config/config.ts';
import type { ClusterStorage } from '../../config/storage-settings.ts';

/** What every role works with. */
export interface WorkerParts {
  config: Config;
  /** Hears of each reload that was taken. */
  onReload: (listener: (config: Config) => void) => void;
  storage: ClusterStorage;
  registry: Registry;
  waits: StartWaits;
  clock: TrustedClock;
  log: Log;
  /** Counted once for all roles of a process. */
  loss: CountLoss;
  charged: (nanoUsd: NanoUsd) => void;
  feedCounts: (topic: string) => FeedCounts;
}

export interface RunningRole {
  /** By name, for readiness. */
  checks: Readonly<Record<string, () => boolean>>;
  /** What it works on goes to other processes. */
  stop(): Promise<void>;
}
