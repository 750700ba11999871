import { randomBytes } from 'node:crypto';
import { RecordedCosts } from '#core/bills/recorded-costs.ts';
import { createRedisBillStore } from '#core/bills/redis-bill-store.ts';
import { observeCapacity } from '#core/capacity/observe-capacity.ts';
import { shareCapacity } from '#core/capacity/redis-shared-capacity.ts';
import { createCatalog } from '#core/catalog/create-catalog.ts';
import { createFetchProviderJson } from '#core/catalog/fetch-provider-json.ts';
import { MINUTE_MS } from '#core/clock.ts';
import { SHARDS, shardOfAgent } from '#core/ledger/cluster/shards.ts';
import { VIDEO_SUBMIT_MS } from '#core/limits.ts';
import { createProbe } from '#core/provider-health/probe-provider.ts';
import { Prober } from '#core/provider-health/prober.ts';
import { ProviderHealth } from '#core/provider-health/provider-health.ts';
import { earlierClock } from '../../../workers/video/earlier-clock.ts';
import { joinVideoMembers } from '../../../workers/video/redis-video-members.ts';
import { createVideoMetrics, observeVideoMembers } from '../../../workers/video/video-metrics.ts';
import { VideoWorker } from '../../../workers/video/video-worker.ts';
import { openFiles } from '../../stores/open-files.ts';
import { reachLedger } from '../../stores/reach.ts';
import type { RunningRole, WorkerParts } from './worker-parts.ts';

/** A claim of another process without a job is taken over after this long: that process has died. */
const VIDEO_CLAIM_GRACE_MS = 2 * MINUTE_MS;

/** Takes videos from order to file. In any number of processes: they share the open ones out. */
export async function startVideoRole(parts: WorkerParts): Promise<RunningRole> {
  const { config, storage, registry, waits, clock, log } = parts;
  const files = openFiles(config, { clock, publicUrl: () => config.server.publicUrl ?? '' });
  if (files === null) {
    log.info('no files are kept here, so there are no videos to work on');
    return { checks: {}, stop: async () => {} };
  }
  const cluster = await reachLedger(storage, { waits, clock, log });
  const fetchJson = createFetchProviderJson(clock);
  const catalog = createCatalog({ settings: config, clock, log, fetchJson, bundledSimulatorUrl: null });
  parts.onReload((changed) => catalog.apply(changed));
  const costs = new RecordedCosts({ store: createRedisBillStore(cluster.redis), clock, log });
  const members = await joinVideoMembers({ redis: cluster.redis, clock, log });
  const metrics = createVideoMetrics(registry, {
    loss: parts.loss,
    charged: parts.charged,
    cost: (...noted) => costs.note(...noted),
  });
  const prober = new Prober({ clock, probe: createProbe(clock) });
  const current = (providerId: string) => catalog.provider(providerId);
  const worker = new VideoWorker({
    health: new ProviderHealth({ clock, log, prober, current }),
    ledger: cluster.ledger,
    shards: Array.from({ length: SHARDS }, (_, shard) => ({
      has: (agentId: number) => shardOfAgent(agentId, SHARDS) === shard,
      listOpenVideos: () => cluster.ledger.listOpenVideosOf(shard),
    })),
    catalog,
    files,
    clock: earlierClock(clock, () => cluster.ledger.stats().times.apartMs),
    log,
    claimGraceMs: VIDEO_CLAIM_GRACE_MS,
    isOurs: (videoId) => members.isOurs(videoId),
    onEnded: metrics.onEnded,
  });
  metrics.observe(worker);
  observeCapacity(registry, () => worker.heldNanoUsd);
  const sharing = shareCapacity({
    redis: cluster.redis,
    capacity: {
      get heldNanoUsd() {
        return worker.heldNanoUsd;
      },
      othersNanoUsd: 0n,
    },
    processId: `videos-${randomBytes(8).toString('hex')}`,
    clock,
    log,
  });
  observeVideoMembers(registry, members);
  await worker.start();
  return {
    checks: { video: () => cluster.ledger.stats().openShards > 0 },
    async stop() {
      prober.close();
      await worker.stop(VIDEO_SUBMIT_MS);
      await sharing.stop();
      await members.stop();
      await costs.stop();
      catalog.close();
      await cluster.close();
    },
  };
}
