import { formatFileName, hourOf } from '#core/files/file-name.ts';
import { VIDEO_KEPT_MS } from '#core/limits.ts';
import type { VideoFile } from '#core/videos/video-job.ts';
import type { VideoWorld } from './video-world.ts';

const tokens = { prompt: 0, completion: 0, reasoning: null, cached: 0 };

/** What a worker tells the ledger of a video: taken by the provider, then made, or failed with a code. */
export async function endVideo(
  world: VideoWorld,
  videoId: string,
  end: { costNanoUsd: bigint } | { errorCode: string },
): Promise<void> {
  const { agentId, callId, submitted } = await world.job(videoId);
  if (submitted === null) await submitVideo(world, videoId);
  const madeAtMs = world.clock.now();
  const failed = 'errorCode' in end;
  const file: VideoFile = {
    path: formatFileName({
      kind: 'videos',
      endHour: hourOf(madeAtMs + VIDEO_KEPT_MS),
      agentId,
      id: videoId,
      contentType: 'video/mp4',
    }),
    bytes: 3,
    sha256: '0'.repeat(64),
    madeAtMs,
  };
  await world.told({
    type: 'settle',
    agentId,
    callId,
    costNanoUsd: failed ? 0n : end.costNanoUsd,
    end: {
      outcome: failed ? 'failed' : 'ok',
      httpStatus: null,
      errorCode: failed ? end.errorCode : null,
      tokens,
      durationMs: 1,
    },
    cause: 'end',
    ...(failed ? {} : { video: file }),
  });
}

export async function submitVideo(world: VideoWorld, videoId: string): Promise<void> {
  const { agentId, callId } = await world.job(videoId);
  await world.told({ type: 'claim_video', agentId, callId, nonce: 'n' });
  await world.told({ type: 'submit_video', agentId, callId, nonce: 'n', providerJobId: `job-${videoId}` });
}
