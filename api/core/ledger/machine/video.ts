import type { LedgerEventOf } from '../../events/ledger-event.ts';
import type { VideoJob } from '../../videos/video-job.ts';
import type {
  ClaimVideo,
  ClaimVideoResult,
  SubmitVideo,
  SubmitVideoResult,
  WithdrawVideo,
  WithdrawVideoResult,
} from '../command.ts';
import { changed, type Decision, headOf, unchanged } from './decision.ts';
import { LedgerEventError } from './ledger-errors.ts';
import type { AgentState, Hold, LedgerState } from './state.ts';

type VideoCommand = ClaimVideo | SubmitVideo | WithdrawVideo;

/** The worker that holds the claim sends the single request to the provider. A submitted job is never claimed again. */
export function decideClaimVideo(
  state: LedgerState,
  command: ClaimVideo,
  nowMs: number,
): Decision<ClaimVideoResult> {
  const open = findOpen(state, command);
  if (open === null) return unchanged({ ok: false, reason: 'no_hold' });
  const { claim, submitted } = open.job;
  if (submitted !== null) return unchanged({ ok: false, reason: 'submitted' });
  if (claim !== null && claim.nonce !== command.nonce) return unchanged({ ok: false, reason: 'claimed' });
  if (claim !== null) return unchanged({ ok: true, repeated: true });
  const { agentId, callId, nonce } = command;
  return changed(DONE, { ...headOf('video_claimed', agentId, open.agent, nowMs), callId, nonce });
}

export function decideSubmitVideo(
  state: LedgerState,
  command: SubmitVideo,
  nowMs: number,
): Decision<SubmitVideoResult> {
  const open = findOpen(state, command);
  if (open === null) return unchanged({ ok: false, reason: 'no_hold' });
  const { claim, submitted } = open.job;
  const { agentId, callId, providerJobId } = command;
  const isOther = submitted !== null && submitted.providerJobId !== providerJobId;
  if (claim?.nonce !== command.nonce || isOther) return unchanged({ ok: false, reason: 'not_claimed' });
  if (submitted !== null) return unchanged({ ok: true, repeated: true });
  return changed(DONE, { ...headOf('video_submitted', agentId, open.agent, nowMs), callId, providerJobId });
}

/** That nobody has a claim is what a withdrawal asks for, and so how a repeated one is answered. */
export function decideWithdrawVideo(
  state: LedgerState,
  command: WithdrawVideo,
  nowMs: number,
): Decision<WithdrawVideoResult> {
  const open = findOpen(state, command);
  if (open === null) return unchanged({ ok: false, reason: 'no_hold' });
  const { claim, submitted } = open.job;
  if (submitted !== null) return unchanged({ ok: false, reason: 'submitted' });
  if (claim === null) return unchanged({ ok: true, repeated: true });
  if (claim.nonce !== command.nonce) return unchanged({ ok: false, reason: 'not_claimed' });
  const { agentId, callId } = command;
  return changed(DONE, { ...headOf('video_withdrawn', agentId, open.agent, nowMs), callId });
}

const DONE = { ok: true, repeated: false } as const;

function findOpen(
  state: LedgerState,
  { agentId, callId }: VideoCommand,
): { agent: AgentState; job: VideoJob } | null {
  const agent = state.agents.get(agentId);
  const job = videoOf(agent, agent?.holds.get(callId));
  return agent === undefined || job === null ? null : { agent, job };
}

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
    // An order that no provider accepted does not use up its idempotency key, so the caller can repeat it.
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
