import { Registry } from 'prom-client';
import { type MachineClock, systemClock } from '#core/clock.ts';
import { collectNodeMetrics } from '#core/collect-node-metrics.ts';
import { createIdSource } from '#core/ids.ts';
import { createLog, type Log } from '#core/log.ts';
import { observeClock } from '#core/observe-clock.ts';
import { StartWaits } from '#core/start-waits.ts';
import { trustedClock } from '#core/trusted-clock.ts';
import { CONFIRMED_BY_REDIS, watchClock } from '#core/watch-clock.ts';
import type { Config } from '../../config/config.ts';
import { watchConfig } from '../../config/watch-config.ts';
import { openInternalServer } from '../open-internal-server.ts';
import type { Role } from './roles.ts';
import { countForAll, createReloads, type RunningRole, type WorkerParts } from './worker-parts.ts';

export interface RunningWorkers {
  internalUrl: string;
  /** Resolves when all roles work; rejects when one cannot, and then none works any more. */
  started: Promise<void>;
  /** What they work on goes to other processes. A role that still starts is one that died, to the others. */
  stop(): Promise<void>;
}

/** There is nothing for workers to do, or they cannot begin; the message is for the operator. */
export class WorkersError extends Error {
  override readonly name = 'WorkersError';
}

/** Each is loaded where it runs: the drivers that only the others need would cost a worker of videos 18 MB. */
const startRole: Record<Role, (parts: WorkerParts) => Promise<RunningRole>> = {
  settlement: async (parts) => (await import('./start-settlement-role.ts')).startSettlementRole(parts),
  projector: async (parts) => (await import('./start-projector-role.ts')).startProjectorRole(parts),
  video: async (parts) => (await import('./start-video-role.ts')).startVideoRole(parts),
  market: async (parts) => (await import('./start-market-role.ts')).startMarketRole(parts),
};

/** The background work of a cluster in this process, with health and metrics on the internal port. */
export async function startWorkers(
  started: Config,
  options: { roles: readonly Role[]; clock?: MachineClock; log?: Log },
): Promise<RunningWorkers> {
  const { roles, log = createLog() } = options;
  const { storage, server } = started;
  if (storage.mode !== 'cluster') {
    throw new WorkersError(
      'storage.mode is embedded: the gateway does this work itself, in its own process.',
    );
  }
  const clock = trustedClock(options.clock ?? systemClock);
  const registry = new Registry();
  collectNodeMetrics(registry);
  observeClock(registry, clock);
  const watchedClock = watchClock({ clock, log, remedy: CONFIRMED_BY_REDIS, save: null });
  const waits = new StartWaits(clock, log);
  const internalServer = await openInternalServer({
    ...{ server, metrics: registry, waits },
    answerIds: { ids: createIdSource(clock), callIdHeader: server.callIdHeader },
  });
  const reloads = createReloads<Config>();
  const config = watchConfig({
    config: started,
    clock,
    onChange: reloads.tell,
    onReload: ({ ok, message }) =>
      ok
        ? log.info('configuration reloaded', { cause: message })
        : log.error('configuration not reloaded', { cause: message }),
  });
  const running: RunningRole[] = [];
  let ended: Promise<void> | null = null;
  const end = async () => {
    waits.close();
    config.close();
    await watchedClock.stop();
    await internalServer.close();
    await Promise.all(running.map((role) => role.stop()));
  };
  const stop = () => {
    ended ??= end();
    return ended;
  };
  const parts = {
    ...{ config: started, onReload: reloads.listen },
    ...{ storage, registry, waits, clock, log },
    ...countForAll(registry),
  };
  const start = async (role: Role) => {
    const one = await startRole[role](parts);
    if (ended === null) running.push(one);
    else await one.stop();
  };
  // Each by itself: one that waits for its store keeps no other from its work.
  const allStarted = Promise.all(roles.map(start)).then(
    () =>
      internalServer.begin({
        checks: Object.assign({}, ...running.map(({ checks }) => checks)),
        admin: null,
      }),
    async (error: unknown) => {
      // Said at once: the others may take a minute to end, and one of them may fail at it.
      log.error('a role cannot start, the others end', { error });
      await stop().catch(() => undefined);
      throw error;
    },
  );
  return { internalUrl: internalServer.url, started: allStarted, stop };
}
