import type { Provider } from '#core/catalog/catalog.ts';
import { type FileName, formatFileName, hourOf } from '#core/files/file-name.ts';
import { VIDEO_KEPT_MS } from '#core/limits.ts';
import type { AttoUsd } from '#core/money.ts';
import { downloadVideo } from './download-video.ts';
import { endMade } from './end-video.ts';
import { afterDownload, afterPoll, youngWaitMs } from './next-video-step.ts';
import { NO_ANSWERS, type OpenVideo } from './open-video.ts';
import { type JobAnswer, readJobAnswer } from './read-job-answer.ts';
import { again, settleFailed, settleUnconfirmed } from './settle-unconfirmed.ts';
import type { After, VideoParts } from './video-parts.ts';

/** Asks the provider how its job is; what is made is fetched, kept, and only then charged. */
export async function followVideo(
  parts: VideoParts,
  video: OpenVideo,
  providerJobId: string,
): Promise<After> {
  const { catalog, clock, turns, videos } = parts;
  const provider = catalog.provider(video.job.providerId);
  const answer: JobAnswer =
    provider === undefined
      ? { state: 'unclear' }
      : readJobAnswer(
          await turns.poll(provider.id)(async () =>
            parts.closing.aborted ? { kind: 'not_sent' } : videos.poll(provider, providerJobId),
          ),
          providerJobId,
        );
  if (parts.closing.aborted) return { waitMs: youngWaitMs(0) };
  const next = afterPoll(answer, { ...video.answers, ageMs: clock.now() - video.job.createdAtMs });
  countAnswer(video, answer);
  switch (next.do) {
    case 'wait':
      return next;
    case 'fail':
      return settleFailed(parts, video, provider, next);
    case 'download':
      return turns.download(() => keepResult(parts, video, { provider, providerJobId, cost: next.cost }));
  }
}

/** A kind of answer counts for as long as no other comes between. */
function countAnswer(video: OpenVideo, answer: JobAnswer): void {
  const { working, unclear, missing, costless } = video.answers;
  switch (answer.state) {
    case 'working':
      video.answers = { ...NO_ANSWERS, working: working + 1 };
      break;
    case 'unclear':
      video.answers = { working, unclear: unclear + 1, missing, costless };
      break;
    case 'missing':
      video.answers = { working, unclear: 0, missing: missing + 1, costless };
      break;
    case 'completed':
      video.answers = { working, unclear: 0, missing, costless: costless + 1 };
      break;
    case 'failed':
  }
}

async function keepResult(
  parts: VideoParts,
  video: OpenVideo,
  made: { provider: Provider | undefined; providerJobId: string; cost: AttoUsd | null },
): Promise<After> {
  const { clock, closing, log } = parts;
  const { job } = video;
  const { provider, providerJobId, cost } = made;
  if (closing.aborted || provider === undefined) return again(video);
  const madeAtMs = clock.now();
  const name: FileName = {
    kind: 'videos',
    endHour: hourOf(madeAtMs + VIDEO_KEPT_MS),
    agentId: job.agentId,
    id: job.videoId,
    contentType: 'video/mp4',
  };
  const downloaded = await downloadVideo({ ...parts, provider, providerJobId, name });
  if (downloaded.kind === 'stored') {
    const file = { path: formatFileName(name), ...downloaded.file, madeAtMs };
    const ending = endMade(job, { file, cost, provider, nowMs: clock.now() });
    return settleUnconfirmed(parts, video, { do: 'end', ending, booked: null });
  }
  if (closing.aborted) return again(video);
  if (downloaded.kind === 'storage_failed') {
    const { error } = downloaded;
    log.warn('a video cannot be stored, it is tried again', { callId: job.callId, error });
  }
  const next = afterDownload(downloaded.kind, {
    ageMs: clock.now() - job.createdAtMs,
    failures: video.sourceFailures,
    cost,
  });
  if (next.do === 'fail') return settleFailed(parts, video, provider, next);
  if (downloaded.kind !== 'storage_failed') video.sourceFailures++;
  return again(video);
}
