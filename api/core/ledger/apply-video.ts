import type { LedgerEventOf } from '../events/ledger-event.ts';
import type { VideoJob } from '../videos/video-job.ts';
import { LedgerEventError } from './ledger-errors.ts';
import type { AgentState, Hold } from './state.ts';

type VideoEvent = LedgerEventOf<'video_claimed' | 'video_submitted' | 'video_withdrawn'>;

export function addVideo(agent: AgentState, event: LedgerEventOf<'reserved'>): void {
  if (event.video === undefined) return;
  agent.videos.set({
    ...event.video,
    agentId: event.agentId,
    keyId: event.keyId,
    callId: event.callId,
    model: event.call.model,
    providerId: event.price.providerId,
    estimatedNanoUsd: BigInt(event.nanoUsd),
    createdAtMs: event.atMs,
    claim: null,
    submitted: null,
    end: null,
  });
}

export function applyVideoClaimed(agent: AgentState, event: LedgerEventOf<'video_claimed'>): void {
  const job = openVideo(agent, event);
  if (job.claim !== null) throw new LedgerEventError(event, 'the video is claimed already');
  agent.videos.set({ ...job, claim: { nonce: event.nonce, atMs: event.atMs } });
}

export function applyVideoSubmitted(agent: AgentState, event: LedgerEventOf<'video_submitted'>): void {
  const job = openVideo(agent, event);
  if (job.claim === null || job.submitted !== null) {
    throw new LedgerEventError(event, 'the video is not claimed, or submitted already');
  }
  agent.videos.set({ ...job, submitted: { providerJobId: event.providerJobId, atMs: event.atMs } });
}

export function applyVideoWithdrawn(agent: AgentState, event: LedgerEventOf<'video_withdrawn'>): void {
  const job = openVideo(agent, event);
  if (job.submitted !== null) throw new LedgerEventError(event, 'the video is submitted already');
  agent.videos.set({ ...job, claim: null });
}

/**
 * The video that this event ends, as it is then; `null`: it ends none. `agent` is the agent before the event. One that nobody
 * had begun and that ends as `service_unavailable` is an order whose sender was told that there is none.
 */
export function endedVideo(agent: AgentState | undefined, event: LedgerEventOf<'settled'>): VideoJob | null {
  // Nearly all settlements are of agents without an open video.
  if (agent === undefined || agent.videos.open === 0) return null;
  const job = videoOf(agent, agent.holds.get(event.callId));
  if (job === null) return null;
  const file = event.video ?? null;
  const wasRefused = file === null && job.claim === null && event.end.errorCode === 'service_unavailable';
  return {
    ...job,
    // Design section 7: a refused order does not use its key up.
    idempotencyKey: wasRefused ? null : job.idempotencyKey,
    end: {
      atMs: event.atMs,
      chargedNanoUsd: BigInt(event.chargedNanoUsd),
      errorCode: file === null ? (event.end.errorCode ?? 'gateway_error') : null,
      file,
    },
  };
}

export function videoOf(agent: AgentState | undefined, hold: Hold | undefined): VideoJob | null {
  if (agent === undefined || hold === undefined || hold.videoId === null) return null;
  return agent.videos.get(hold.videoId) ?? null;
}

function openVideo(agent: AgentState, event: VideoEvent): VideoJob {
  const job = videoOf(agent, agent.holds.get(event.callId));
  if (job === null) throw new LedgerEventError(event, 'the call has no open video');
  return job;
}
