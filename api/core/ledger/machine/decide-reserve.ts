import { DAY_MS, SECOND_MS, startOfDayMs } from '../../clock.ts';
import type { LedgerEventOf } from '../../events/ledger-event.ts';
import { idTimeMs } from '../../ids.ts';
import { CALL_ID_AGE_MAX_MS, CLOCK_APART_MAX_MS, HOLD_LEASE_MS } from '../../limits.ts';
import { maxBigint } from '../../money.ts';
import type { Reserve, ReserveRefusal, ReserveResult, VideoOrder } from '../command.ts';
import { findVideo, findVideoByKey, runningCalls } from './agent-queries.ts';
import { agentStatus } from './agent-status.ts';
import { changed, type Decision, requireAmount, unchanged } from './decision.ts';
import { allocate, heldNanoUsd, spendableNanoUsd } from './lots.ts';
import { periodOf, periodSumOf, sumSince } from './periods.ts';
import { findDone } from './recently-settled.ts';
import { startRate } from './start-rate.ts';
import type { AgentState, KeyState, LedgerState } from './state.ts';
import { storageFullUntilMs } from './stored-images.ts';

/** A slot frees itself when any of the running calls ends, which nobody can foretell. */
export const RUNNING_RETRY_MS = SECOND_MS;
/** Nor when a video ends; callers look at theirs about so often. */
export const OPEN_VIDEOS_RETRY_MS = 10 * SECOND_MS;

/**
 * Refuses in a fixed order: what concerns the caller first, then what a retry can solve, then money. `ReserveRefusal` lists it
 * (`command.ts`).
 */
export function decideReserve(state: LedgerState, command: Reserve, nowMs: number): Decision<ReserveResult> {
  requireAmount(command.nanoUsd);
  const untimely = refuseUntimely(command, nowMs);
  if (untimely !== null) return unchanged(untimely);
  const agent = state.agents.get(command.agentId);
  if (agent === undefined) return unchanged({ ok: false, reason: 'unknown_agent' });
  const known = answerKnownCall(agent, command, nowMs) ?? refuseKnownVideo(agent, command, nowMs);
  if (known !== null) return unchanged(known);
  const key = agent.keys.get(command.keyId);
  if (key === undefined || key.revokedAtMs !== null) return unchanged({ ok: false, reason: 'key_revoked' });
  const status = agentStatus(agent);
  if (status !== 'active') return unchanged({ ok: false, reason: `agent_${status}` });
  const rate = startRate(agent.startsTatUs, command.limits, nowMs);
  if (!rate.ok) return unchanged({ ok: false, reason: 'rate', retryAfterMs: rate.retryAfterMs });
  const refusal =
    refuseRunningCalls(agent, command, nowMs) ??
    refuseOpenVideos(agent, command) ??
    refuseFullStorage(agent, command, nowMs) ??
    refuseDailyShare(agent, command, nowMs) ??
    refuseKeyLimit(key, command, nowMs) ??
    refuseBalance(agent, command, nowMs);
  if (refusal !== null) return unchanged(refusal);
  return changed({ ok: true, repeated: false }, reserved(agent, command, rate.nextTatUs, nowMs));
}

/** An id from the future would outlive the memory of ended calls, which bounds ids from the past. */
function refuseUntimely(command: Reserve, nowMs: number): ReserveRefusal | null {
  if (Math.abs(command.callerNowMs - nowMs) > CLOCK_APART_MAX_MS) return { ok: false, reason: 'clock_apart' };
  const madeAtMs = idTimeMs(command.callId);
  if (madeAtMs > nowMs + CLOCK_APART_MAX_MS) return { ok: false, reason: 'clock_apart' };
  if (madeAtMs < nowMs - CALL_ID_AGE_MAX_MS) return { ok: false, reason: 'stale_id' };
  return null;
}

function answerKnownCall(agent: AgentState, command: Reserve, nowMs: number): ReserveResult | null {
  const hold = agent.holds.get(command.callId);
  if (hold !== undefined) {
    return hold.nonce === command.nonce ? { ok: true, repeated: true } : { ok: false, reason: 'id_taken' };
  }
  const done = findDone(agent, command.callId, nowMs);
  if (done === null) {
    return agent.givenUp.has(command.callId, nowMs)
      ? { ok: false, reason: 'done', chargedNanoUsd: 0n }
      : null;
  }
  if (done.nonce !== command.nonce) return { ok: false, reason: 'id_taken' };
  return { ok: false, reason: 'done', chargedNanoUsd: done.chargedNanoUsd };
}

/** Before key and agent are looked at: the first order was answered, and so is its repetition. */
function refuseKnownVideo(agent: AgentState, { video }: Reserve, nowMs: number): ReserveRefusal | null {
  if (video === undefined) return null;
  const { videoId, idempotencyKey } = video;
  const known = idempotencyKey === null ? null : findVideoByKey(agent, idempotencyKey, nowMs);
  if (known !== null) return { ok: false, reason: 'video_exists', videoId: known.videoId };
  return findVideo(agent, videoId, nowMs) === null ? null : { ok: false, reason: 'id_taken' };
}

/** Videos hold money but take no slot. */
function refuseRunningCalls(agent: AgentState, command: Reserve, nowMs: number): ReserveRefusal | null {
  if (command.kind === 'video') return null;
  const running = runningCalls(agent, nowMs);
  if (running < command.limits.runningCalls) return null;
  return { ok: false, reason: 'running_calls', runningCalls: running, retryAfterMs: RUNNING_RETRY_MS };
}

function refuseOpenVideos({ videos }: AgentState, { video }: Reserve): ReserveRefusal | null {
  if (video === undefined || videos.open < video.openVideosMax) return null;
  return { ok: false, reason: 'open_videos', openVideos: videos.open, retryAfterMs: OPEN_VIDEOS_RETRY_MS };
}

function refuseFullStorage(agent: AgentState, { kind }: Reserve, nowMs: number): ReserveRefusal | null {
  const fullUntilMs = kind === 'image' ? storageFullUntilMs(agent, nowMs) : null;
  if (fullUntilMs === null) return null;
  return { ok: false, reason: 'storage_full', retryAfterMs: fullUntilMs - nowMs };
}

function refuseDailyShare(agent: AgentState, command: Reserve, nowMs: number): ReserveRefusal | null {
  const share = command.limits.dailyShareNanoUsd;
  if (share === null) return null;
  const dayStartsAtMs = startOfDayMs(nowMs);
  const used = sumSince(agent.chargedToday, dayStartsAtMs, nowMs) + heldNanoUsd(agent);
  if (used + command.nanoUsd <= share) return null;
  return { ok: false, reason: 'daily_share', resetsAtMs: dayStartsAtMs + DAY_MS };
}

/** What is held counts in the present period, so that no period's charges can pass the limit. */
function refuseKeyLimit(key: KeyState, command: Reserve, nowMs: number): ReserveRefusal | null {
  if (key.limit === null) return null;
  const { limitNanoUsd, reset } = key.limit;
  const { startsAtMs, resetsAtMs } = periodOf(reset, nowMs);
  const left = limitNanoUsd - sumSince(periodSumOf(key, reset), startsAtMs, nowMs) - key.heldNanoUsd;
  if (command.nanoUsd <= left) return null;
  return {
    ok: false,
    reason: 'key_limit',
    remainingNanoUsd: maxBigint(left, 0n),
    heldNanoUsd: key.heldNanoUsd,
    limitNanoUsd,
    resetsAtMs,
  };
}

function refuseBalance(agent: AgentState, command: Reserve, nowMs: number): ReserveRefusal | null {
  const spendable = spendableNanoUsd(agent, nowMs);
  if (command.nanoUsd <= spendable) return null;
  return { ok: false, reason: 'balance', spendableNanoUsd: spendable, heldNanoUsd: heldNanoUsd(agent) };
}

function reserved(
  agent: AgentState,
  command: Reserve,
  startsTatUs: number,
  nowMs: number,
): LedgerEventOf<'reserved'> {
  const allocations = allocate(agent.lots, command.nanoUsd, nowMs);
  return {
    v: 1,
    type: 'reserved',
    agentId: command.agentId,
    version: agent.version + 1,
    atMs: nowMs,
    callId: command.callId,
    nonce: command.nonce,
    keyId: command.keyId,
    kind: command.kind,
    nanoUsd: String(command.nanoUsd),
    allocations: allocations.map(({ expiresAtMs, nanoUsd }) => ({ expiresAtMs, nanoUsd: String(nanoUsd) })),
    leaseEndsAtMs: command.kind === 'video' ? null : nowMs + HOLD_LEASE_MS,
    startsTatUs,
    timeLimitMs: command.timeLimitMs,
    call: command.call,
    price: command.price,
    ...(command.video !== undefined && { video: videoFacts(command.video) }),
  };
}

/** Without the operator's bound, which is no fact of the video. */
const videoFacts = ({ videoId, idempotencyKey, upstreamModel, orderFile }: VideoOrder) => ({
  videoId,
  idempotencyKey,
  upstreamModel,
  orderFile,
});
