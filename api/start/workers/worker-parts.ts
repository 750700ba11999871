import { Counter, type Registry } from 'prom-client';
import { createFeedMetrics, type FeedCounts } from '#core/events/feed-metrics.ts';
import type { Log } from '#core/log.ts';
import type { NanoUsd } from '#core/money.ts';
import { type CountLoss, createOperatorLosses, toGraphUsd } from '#core/operator-losses.ts';
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

/** What all roles of a process count together. */
export function countForAll(registry: Registry): Pick<WorkerParts, 'loss' | 'charged' | 'feedCounts'> {
  const registers = [registry];
  const chargedUsd = new Counter({ name: 'faregate_charged_usd_total', help: 'Dollars charged', registers });
  return {
    loss: createOperatorLosses(registry),
    charged: (nanoUsd) => chargedUsd.inc(toGraphUsd(nanoUsd)),
    feedCounts: createFeedMetrics(registry),
  };
}

/** Who hears of each configuration that is taken while a process runs. */
export function createReloads<Config>() {
  const listeners: ((config: Config) => void)[] = [];
  let latest: { config: Config } | null = null;
  return {
    tell(config: Config): void {
      latest = { config };
      for (const listener of listeners) listener(config);
    },
    /** At once, too, of the latest that was taken before: a role that waited for its store has missed it. */
    listen(listener: (config: Config) => void): void {
      listeners.push(listener);
      if (latest !== null) listener(latest.config);
    },
  };
}
