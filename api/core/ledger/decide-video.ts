import type { LedgerEvent } from '../events/ledger-event.ts';
import type { VideoJob } from '../videos/video-job.ts';
import { videoOf } from './apply-video.ts';
import type {
  ClaimVideo,
  ClaimVideoResult,
  SubmitVideo,
  SubmitVideoResult,
  WithdrawVideo,
  WithdrawVideoResult,
} from './command.ts';
import { changed, type Decision, unchanged } from './decision.ts';
import type { AgentState, LedgerState } from './state.ts';

type VideoCommand = ClaimVideo | SubmitVideo | WithdrawVideo;

/** Whoever has the claim sends the one request to the provider; a job that it has taken is never claimed again. */
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
  const { callId, nonce } = command;
  return changed(DONE, { ...envelope(open.agent, nowMs), type: 'video_claimed', callId, nonce });
}

export function decideSubmitVideo(
  state: LedgerState,
  command: SubmitVideo,
  nowMs: number,
): Decision<SubmitVideoResult> {
  const open = findOpen(state, command);
  if (open === null) return unchanged({ ok: false, reason: 'no_hold' });
  const { claim, submitted } = open.job;
  const { callId, providerJobId } = command;
  const isOther = submitted !== null && submitted.providerJobId !== providerJobId;
  if (claim?.nonce !== command.nonce || isOther) return unchanged({ ok: false, reason: 'not_claimed' });
  if (submitted !== null) return unchanged({ ok: true, repeated: true });
  return changed(DONE, { ...envelope(open.agent, nowMs), type: 'video_submitted', callId, providerJobId });
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
  return changed(DONE, {
    ...envelope(open.agent, nowMs),
    type: 'video_withdrawn',
    callId: command.callId,
  });
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

const envelope = (agent: AgentState, atMs: number) =>
  ({ v: 1, agentId: agent.agentId, version: agent.version + 1, atMs }) satisfies Partial<LedgerEvent>;
