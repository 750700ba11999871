import type { HistoryStore } from '#core/calls/history-store.ts';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import type { AgentStates } from '#core/ledger/cluster/agent-states.ts';
import type { ShardReader } from '#core/ledger/cluster/shard-reader.ts';
import type { Log } from '#core/log.ts';
import { type ProjectedTotals, ShardProjection } from './shard-projection.ts';

export interface ProjectorOptions {
  /** Takes part in sharing out the shards: each that comes to this process is read by a reader of its own. */
  join: (openReader: (shard: number) => ShardReader) => Promise<{ stop(): Promise<void> }>;
  states: AgentStates;
  history: HistoryStore;
  clock: Clock;
  log: Log;
}

export interface Projector {
  stats(): ProjectorStats;
  /** What was read is written, where the store takes it at once; nothing is lost where it does not. */
  stop(): Promise<void>;
}

export interface ProjectorStats extends ProjectedTotals {
  /** That this process has at present. */
  shards: number;
  lagEvents: number;
  /** Age of the oldest event of those. */
  lagMs: number;
}

/** Between two looks at which shards have to be copied. */
const POLL_MS = 10 * SECOND_MS;

/** Makes the log readable. Any number of processes share its shards; one more or less loses and doubles nothing. */
export async function startProjector(options: ProjectorOptions): Promise<Projector> {
  const { clock, log } = options;
  const totals: ProjectedTotals = { events: 0, calls: 0 };
  const projections = new Set<ShardProjection>();

  const group = await options.join((shard) => {
    const onClosed = () => void projections.delete(projection);
    const projection = new ShardProjection({ ...options, shard, totals, onClosed });
    projections.add(projection);
    return projection;
  });

  /** One after the other, or all would wait for the store at the same moment. */
  const copy = async (): Promise<void> => {
    for (const projection of [...projections]) {
      const { shard } = projection;
      await projection
        .copyWhenDue()
        .catch((error: unknown) => log.error('a shard could not be copied', { shard, error }));
    }
    if (!stopped) timer = clock.setTimer(POLL_MS, () => void copy());
  };
  let stopped = false;
  let timer = clock.setTimer(POLL_MS, () => void copy());
  return {
    stats() {
      const lags = Array.from(projections, (projection) => projection.lag());
      return {
        ...totals,
        shards: lags.length,
        lagEvents: lags.reduce((total, { events }) => total + events, 0),
        lagMs: Math.max(0, ...lags.map(({ ms }) => ms)),
      };
    },
    async stop() {
      stopped = true;
      timer.cancel();
      const last = [...projections];
      await group.stop();
      await Promise.all(
        last.map((projection) =>
          projection.copyAtEnd().catch((error: unknown) => {
            log.warn('a shard could not be copied at the end', { shard: projection.shard, error });
          }),
        ),
      );
    },
  };
}
