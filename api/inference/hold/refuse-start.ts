import type { CapacityAnswer } from '#core/capacity/capacity.ts';
import { isoTime } from '#core/clock.ts';
import type { ReserveRefusal } from '#core/ledger/command.ts';
import type { UnavailableResult } from '#core/ledger/ledger.ts';
import type { AgentStatus } from '#core/ledger/machine/state.ts';
import { GIGABYTE, RESULTS_BYTES_MAX, RETRY_AFTER_MAX_MS } from '#core/limits.ts';
import { formatUsd, minBigint, type NanoUsd } from '#core/money.ts';
import { type Advice, type ApiError, apiError, errorTable } from '../../contract/errors.ts';
import { type Fit, fitsNow, type KeyRoom, type StartAdvice, type StartRoom } from './start-advice.ts';

/** Agent status refuses only what starts a call, a video, an image or an upload. */
export function refuseAgent(status: AgentStatus): ApiError | null {
  switch (status) {
    case 'active':
      return null;
    case 'inactive':
      return apiError('agent_inactive');
    case 'suspended':
      return apiError('agent_suspended');
  }
}

/** The operator's capacity in words; `null` where there is room. */
export function refuseCapacity(
  answer: CapacityAnswer,
  advise: StartAdvice,
  holdNanoUsd: NanoUsd,
  { ceilingNanoUsd, room = null }: { ceilingNanoUsd: NanoUsd; room?: StartRoom | null },
): ApiError | null {
  switch (answer) {
    case 'admitted':
      return null;
    case 'over_per_call': {
      const available = room === null ? ceilingNanoUsd : fitsNow(room);
      const fit = advise.fit(available, remedyOf(room, 'or choose a cheaper model'));
      return apiError('request_over_capacity', {
        ...(advise.param === null ? {} : { param: advise.param }),
        advice: { ...fit, waitUntilMs: null },
        message:
          `This call would hold $${formatUsd(holdNanoUsd)}, more than the $${formatUsd(ceilingNanoUsd)} that one call ` +
          `may hold here now. ${wordsOf(fit)}`,
      });
    }
    case 'pool_full':
      return apiError('gateway_capacity');
    case 'ending':
    case 'too_many_running':
    case 'too_late':
      return apiError('gateway_busy');
  }
}

export interface ReserveFacts {
  nowMs: number;
  callsPerMinute: number;
  /** Milliseconds until the ledger's time lets calls start, where it is known to be ahead. */
  waitForClockMs: () => number;
  /** All of the agent's bounds; `null`: not known. */
  room?: StartRoom | null;
}

/** Hours are told as they are, so that no client tries again every two seconds for so long. */
function refuseClock(nowMs: number, waitMs: number): ApiError {
  if (waitMs === 0) return apiError('service_unavailable');
  return apiError('service_unavailable', {
    retryAfterMs: waitMs,
    longWait: waitMs > RETRY_AFTER_MAX_MS,
    message: `A clock of this service was wrong: calls start again at ${isoTime(nowMs + waitMs)} at the latest.`,
  });
}

/** The ledger's refusal in the spec's codes. Both 402 name the amounts and what would fit. */
export function refuseReserve(
  refusal: ReserveRefusal | UnavailableResult,
  advise: StartAdvice,
  holdNanoUsd: NanoUsd,
  facts: ReserveFacts,
): ApiError {
  const { nowMs, callsPerMinute, waitForClockMs } = facts;
  switch (refusal.reason) {
    case 'clock_apart':
      return refuseClock(nowMs, waitForClockMs());
    case 'unavailable':
    case 'unknown_agent':
    // Only a video's reserve answers this, and its order handles it before this function is called.
    case 'video_exists':
      return apiError('service_unavailable');
    case 'stale_id':
    case 'id_taken':
    case 'done':
      return apiError('gateway_busy');
    case 'key_revoked':
      return apiError('invalid_api_key');
    case 'agent_inactive':
    case 'agent_suspended':
      return apiError(refusal.reason);
    case 'rate':
      return apiError('rate_limited', { retryAfterMs: refusal.retryAfterMs, callsPerMinute });
    case 'running_calls':
      return apiError('too_many_running_calls', { retryAfterMs: refusal.retryAfterMs });
    case 'open_videos':
      return apiError('rate_limited', {
        retryAfterMs: refusal.retryAfterMs,
        message: `${refusal.openVideos} videos of this agent are being made, as many as may be at one time: wait until one has ended.`,
      });
    case 'storage_full':
      return apiError('rate_limited', {
        retryAfterMs: refusal.retryAfterMs,
        longWait: refusal.retryAfterMs > RETRY_AFTER_MAX_MS,
        message:
          `This agent's stored images have reached their ${RESULTS_BYTES_MAX / GIGABYTE} GB: the next one can be made ` +
          `when the first of them end, at ${isoTime(nowMs + refusal.retryAfterMs)}.`,
      });
    case 'daily_share':
      return refuseShare(refusal, advise, holdNanoUsd, facts);
    case 'key_limit': {
      const { remainingNanoUsd, ...key } = refusal;
      return refuseKey({ ...key, leftNanoUsd: remainingNanoUsd }, advise, holdNanoUsd, facts);
    }
    case 'balance':
      return refuseBalance(refusal, advise, holdNanoUsd, facts);
  }
}

type Facts = Pick<ReserveFacts, 'nowMs' | 'room'>;

/** The wait until 00:00 UTC is named only where the call would pass then. Otherwise the bound that stays is named. */
function refuseShare(
  { resetsAtMs }: { resetsAtMs: number },
  advise: StartAdvice,
  holdNanoUsd: NanoUsd,
  { nowMs, room = null }: Facts,
): ApiError {
  if (room !== null) {
    const { key, spendableNanoUsd, heldNanoUsd } = room;
    const keyStays =
      key !== null && key.resetsAtMs > resetsAtMs && key.leftNanoUsd + key.heldNanoUsd < holdNanoUsd;
    if (key !== null && (keyStays || key.limitNanoUsd < holdNanoUsd))
      return refuseKey(key, advise, holdNanoUsd, { nowMs, room });
    if (spendableNanoUsd + heldNanoUsd < holdNanoUsd)
      return refuseBalance({ spendableNanoUsd, heldNanoUsd }, advise, holdNanoUsd, { nowMs, room });
  }
  const fit = room === null ? null : advise.fit(fitsNow(room), '');
  const changes = fit?.changes ?? null;
  const fitsNowSentence = fit === null || changes === null ? '' : ` ${nowWords(fit)}`;
  return apiError('daily_share_used', {
    retryAfterMs: resetsAtMs - nowMs,
    advice: { changes, needNanoUsd: null, waitUntilMs: resetsAtMs },
    message: `${errorTable.daily_share_used.message}${fitsNowSentence}`,
  });
}

function refuseKey(
  key: KeyRoom,
  advise: StartAdvice,
  holdNanoUsd: NanoUsd,
  { room = null }: Facts,
): ApiError {
  const { limitNanoUsd, leftNanoUsd, heldNanoUsd, resetsAtMs } = key;
  const [hold, limit] = [formatUsd(holdNanoUsd), formatUsd(limitNanoUsd)];
  const isAboveLimit = holdNanoUsd > limitNanoUsd;
  // A reset of the key does not help a call that the balance does not cover either.
  const isBalanceTooLow = room !== null && room.spendableNanoUsd + room.heldNanoUsd < holdNanoUsd;
  const limitSentence = isAboveLimit
    ? `This call would hold $${hold}, more than this key's whole $${limit} limit until ${isoTime(resetsAtMs)}: waiting for its reset does not help.`
    : `This call would hold $${hold}, but this key has $${formatUsd(leftNanoUsd)} left of its $${limit} limit until ${isoTime(resetsAtMs)}.`;
  const balanceSentence = isBalanceTooLow
    ? ` The balance does not cover it either: $${formatUsd(room.spendableNanoUsd)} is spendable.`
    : '';
  const remedy = isBalanceTooLow
    ? 'choose a cheaper model, raise the limit, or add credit'
    : remedyOf(room, 'choose a cheaper model, or raise the limit');
  const available = room === null ? leftNanoUsd : minBigint(leftNanoUsd, fitsNow(room));
  const mayFitLater = !isBalanceTooLow && heldNanoUsd > 0n && leftNanoUsd + heldNanoUsd >= holdNanoUsd;
  const advised = advice(advise.fit(available, remedy), mayFitLater ? heldNanoUsd : null);
  return apiError('key_limit', {
    message: `${limitSentence}${balanceSentence}${advised.words}`,
    advice: { ...advised.advice, waitUntilMs: isAboveLimit || isBalanceTooLow ? null : resetsAtMs },
  });
}

function refuseBalance(
  { spendableNanoUsd, heldNanoUsd }: Pick<StartRoom, 'spendableNanoUsd' | 'heldNanoUsd'>,
  advise: StartAdvice,
  holdNanoUsd: NanoUsd,
  { room = null }: Facts,
): ApiError {
  const available = room === null ? spendableNanoUsd : minBigint(spendableNanoUsd, fitsNow(room));
  const mayFitLater = heldNanoUsd > 0n && spendableNanoUsd + heldNanoUsd >= holdNanoUsd;
  const fit = advise.fit(available, remedyOf(room, 'choose a cheaper model, or add credit'));
  const advised = advice(fit, mayFitLater ? heldNanoUsd : null);
  return apiError('insufficient_balance', {
    message: `This call would hold $${formatUsd(holdNanoUsd)}, but $${formatUsd(spendableNanoUsd)} is spendable.${advised.words}`,
    advice: { ...advised.advice, waitUntilMs: null },
  });
}

/** A smaller call helps, and so does more of the bound that leaves the least. `unknown`: the words where no bound is known. */
function remedyOf(room: StartRoom | null, unknown: string): string {
  if (room === null) return unknown;
  const least = fitsNow(room);
  if (least === room.ceilingNanoUsd) return 'or choose a cheaper model';
  if (least === room.spendableNanoUsd) return 'choose a cheaper model, or add credit';
  if (least === room.key?.leftNanoUsd) return 'choose a cheaper model, or raise the limit';
  return 'choose a cheaper model, or wait until 00:00 UTC, when a new daily share begins';
}

interface Advised {
  advice: Omit<Advice, 'waitUntilMs'>;
  words: string;
}

/** The caller can wait for running calls, where that may help (`heldNanoUsd`), or ask for less. */
function advice(fit: Fit, heldNanoUsd: NanoUsd | null): Advised {
  const { changes, needNanoUsd } = fit;
  if (heldNanoUsd === null) return { advice: { changes, needNanoUsd }, words: ` ${wordsOf(fit)}` };
  const wait = ` Running calls hold $${formatUsd(heldNanoUsd)}: it may fit when one ends.`;
  const words = changes === null ? wait : `${wait} ${nowWords(fit)}`;
  return { advice: { changes, needNanoUsd }, words };
}

const wordsOf = ({ words, needNanoUsd }: Fit): string =>
  needNanoUsd === null ? words : `${words} At least $${formatUsd(needNanoUsd)} is needed.`;

const nowWords = ({ words }: Fit): string => `Now ${words.charAt(0).toLowerCase()}${words.slice(1)}`;
