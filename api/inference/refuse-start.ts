import type { CapacityAnswer } from '#core/capacity/capacity.ts';
import { isoTime } from '#core/clock.ts';
import type { ReserveRefusal } from '#core/ledger/command.ts';
import type { UnavailableResult } from '#core/ledger/ledger.ts';
import type { AgentStatus } from '#core/ledger/state.ts';
import { GIGABYTE, RESULTS_BYTES_MAX, RETRY_AFTER_MAX_MS } from '#core/limits.ts';
import { formatUsd, type NanoUsd } from '#core/money.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import type { CallPlan } from './call-plan.ts';
import { largestFittingCap } from './estimate.ts';

/** How a start that does not fit can be made to, in the words of what was asked for. */
export interface StartAdvice {
  /** The field that decides most of the hold. */
  param: string | null;
  /** A sentence: what would fit, or else `remedy`. */
  toFit(availableNanoUsd: NanoUsd, remedy: string): string;
  /** The same beside the advice to wait; `null`: nothing like it fits now. */
  fittingNow(availableNanoUsd: NanoUsd): string | null;
}

export const adviseText = (plan: CallPlan): StartAdvice => ({
  param: plan.outputCapField,
  toFit: (availableNanoUsd, remedy) => capAdvice(plan, availableNanoUsd, remedy),
  fittingNow(availableNanoUsd) {
    const cap = largestFittingCap(plan, availableNanoUsd);
    return cap === null ? null : `Now the largest \`${plan.outputCapField}\` that fits is ${cap}.`;
  },
});

/** Agent status refuses only what starts a call, a video, a picture or an upload. */
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
  perCallNanoUsd: NanoUsd,
): ApiError | null {
  switch (answer) {
    case 'admitted':
      return null;
    case 'over_per_call':
      return apiError('request_over_capacity', {
        ...(advise.param === null ? {} : { param: advise.param }),
        message:
          `This call would hold $${formatUsd(holdNanoUsd)}, more than the $${formatUsd(perCallNanoUsd)} that one call ` +
          `may hold here now. ${advise.toFit(perCallNanoUsd, 'or choose a cheaper model')}`,
      });
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

/** What the ledger refused, in the spec's codes. Both 402 name the amounts and what would fit. */
export function refuseReserve(
  refusal: ReserveRefusal | UnavailableResult,
  advise: StartAdvice,
  holdNanoUsd: NanoUsd,
  { nowMs, callsPerMinute, waitForClockMs }: ReserveFacts,
): ApiError {
  const hold = formatUsd(holdNanoUsd);
  switch (refusal.reason) {
    case 'clock_apart':
      return refuseClock(nowMs, waitForClockMs());
    case 'unavailable':
    case 'unknown_agent':
    // Of a video alone, and that looks for it first.
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
          `This agent's stored pictures have reached their ${RESULTS_BYTES_MAX / GIGABYTE} GB: the next one can be made ` +
          `when the first of them end, at ${isoTime(nowMs + refusal.retryAfterMs)}.`,
      });
    case 'daily_share':
      return apiError('daily_share_used', { retryAfterMs: refusal.resetsAtMs - nowMs });
    case 'key_limit': {
      const { remainingNanoUsd, heldNanoUsd, limitNanoUsd, resetsAtMs } = refusal;
      return apiError('key_limit', {
        message:
          `This call would hold $${hold}, but this key has $${formatUsd(remainingNanoUsd)} left of its ` +
          `$${formatUsd(limitNanoUsd)} limit until ${isoTime(resetsAtMs)}.` +
          advice(
            advise,
            holdNanoUsd,
            remainingNanoUsd,
            heldNanoUsd,
            'choose a cheaper model, or raise the limit',
          ),
      });
    }
    case 'balance': {
      const { spendableNanoUsd, heldNanoUsd } = refusal;
      return apiError('insufficient_balance', {
        message:
          `This call would hold $${hold}, but $${formatUsd(spendableNanoUsd)} is spendable.` +
          advice(advise, holdNanoUsd, spendableNanoUsd, heldNanoUsd, 'choose a cheaper model, or add credit'),
      });
    }
  }
}

/** What the caller can do: wait for a running call, where that may help, or ask for less. */
function advice(
  advise: StartAdvice,
  holdNanoUsd: NanoUsd,
  leftNanoUsd: NanoUsd,
  heldNanoUsd: NanoUsd,
  remedy: string,
): string {
  const mayFitLater = heldNanoUsd > 0n && leftNanoUsd + heldNanoUsd >= holdNanoUsd;
  if (!mayFitLater) return ` ${advise.toFit(leftNanoUsd, remedy)}`;
  const wait = ` Running calls hold $${formatUsd(heldNanoUsd)}: it may fit when one ends.`;
  const now = advise.fittingNow(leftNanoUsd);
  return now === null ? wait : `${wait} ${now}`;
}

function capAdvice(plan: CallPlan, availableNanoUsd: NanoUsd, remedy: string): string {
  const cap = largestFittingCap(plan, availableNanoUsd);
  return cap === null
    ? `Not even an answer of one token fits: ${lessToolSteps(plan)}shorten the prompt, ${remedy}.`
    : `The largest \`${plan.outputCapField}\` that fits is ${cap}.`;
}

/** Each step of a search or fetch reads everything again: most of such a hold is steps. */
const lessToolSteps = ({ candidates }: CallPlan): string =>
  candidates.some(({ serverTools }) => (serverTools?.stepsMax ?? 0) > 1)
    ? 'send a lower `max_tool_calls`, '
    : '';
