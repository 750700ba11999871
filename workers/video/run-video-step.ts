import { endFailed } from './end-video.ts';
import { followVideo } from './follow-video.ts';
import { nextVideoStep } from './next-video-step.ts';
import { isOwnClaim, type OpenVideo } from './open-video.ts';
import { settleUnconfirmed } from './settle-unconfirmed.ts';
import { submitInTurn } from './submit-video.ts';
import type { After, VideoParts } from './video-parts.ts';

/** One step of one video: what is owed to the journal first, then what the pure rules say. */
export async function runVideoStep(parts: VideoParts, video: OpenVideo): Promise<After> {
  const { catalog, claimGraceMs, clock } = parts;
  const { job, owed, claimSeenMs } = video;
  if (owed !== null) return settleUnconfirmed(parts, video, owed);
  const nowMs = clock.now();
  const claimKnownMs = claimSeenMs === null ? 0 : clock.monotonicMs() - claimSeenMs;
  const step = nextVideoStep(isOwnClaim(video) ? { ...job, claim: null } : job, {
    nowMs,
    claimKnownMs,
    claimGraceMs,
  });
  switch (step.do) {
    case 'submit':
      return submitInTurn(parts, video);
    case 'poll':
      return followVideo(parts, video, step.providerJobId);
    case 'await_claim':
      return { waitMs: claimGraceMs - claimKnownMs };
    case 'fail': {
      const ending = endFailed(job, step, { provider: catalog.provider(job.providerId), nowMs });
      return settleUnconfirmed(parts, video, { do: 'end', ending, booked: null });
    }
  }
}
