import { Counter, type Registry } from 'prom-client';
import type { RecordedCosts } from '#core/bills/recorded-costs.ts';
import type { CountLoss } from '#core/operator-losses.ts';
import { readMetrics } from '#core/read-metrics.ts';
import { videoErrorCodes } from '#core/videos/video-error-codes.ts';
import type { VideoMembers } from './redis-video-members.ts';
import type { VideoParts } from './video-parts.ts';
import type { VideoWorker } from './video-worker.ts';

/** What operators see of videos, and what their ends mean for other figures. */
export function createVideoMetrics(
  registry: Registry,
  told: {
    loss: CountLoss;
    charged: (nanoUsd: bigint) => void;
    cost: RecordedCosts['note'];
  },
): { onEnded: VideoParts['onEnded']; observe: (worker: VideoWorker) => void } {
  const { gauge, counter } = readMetrics(registry);
  const ended = new Counter({
    name: 'faregate_videos_ended_total',
    help: 'Videos that have ended, by error code; `ok`: made',
    labelNames: ['code'],
    registers: [registry],
  });
  for (const code of ['ok', ...Object.keys(videoErrorCodes)]) ended.inc({ code }, 0);
  let unknown = 0;
  counter(
    'faregate_video_submissions_unknown_total',
    'Videos given up because nobody can tell whether the provider took them',
    () => unknown,
  );
  return {
    onEnded(
      { providerId },
      { errorCode, billedNanoUsd, factorPpm, loss },
      { chargedNanoUsd, overrunNanoUsd },
    ) {
      ended.inc({ code: errorCode ?? 'ok' });
      if (errorCode === 'submission_unknown') unknown += 1;
      told.charged(chargedNanoUsd);
      told.cost(providerId, billedNanoUsd, factorPpm);
      if (loss !== null) told.loss(loss.cause, loss.nanoUsd);
      if (overrunNanoUsd > 0n) told.loss('cost_above_hold', overrunNanoUsd);
    },
    observe(worker) {
      gauge('faregate_open_videos', 'Videos that this process works on', () => worker.open);
      gauge('faregate_video_downloads', 'Results of videos being fetched', () => worker.downloads);
    },
  };
}

export function observeVideoMembers(registry: Registry, members: Pick<VideoMembers, 'count'>): void {
  readMetrics(registry).gauge(
    'faregate_video_workers',
    'Processes that share the open videos, as this one knows them',
    () => members.count,
  );
}
