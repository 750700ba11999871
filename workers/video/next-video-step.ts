import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { isRecord } from '#core/is-record.ts';
import { VIDEO_POLL_MS } from '#core/limits.ts';
import type { AttoUsd } from '#core/money.ts';
import type { VideoErrorCode } from '#core/videos/video-error-codes.ts';
import type { VideoJob } from '#core/videos/video-job.ts';
import { failureCode, type JobAnswer, type ProviderAnswer, readJobId } from './read-job-answer.ts';

/** A video that its provider has not finished by then has failed, and its hold is freed. */
const VIDEO_MAX_MS = 4 * HOUR_MS;
/** The longest pause between two attempts at anything that failed. It doubles up to this. */
const VIDEO_RETRY_MAX_MS = 60 * SECOND_MS;
/** A provider that accepts no new job for this long has failed the video. */
const VIDEO_SUBMIT_TRIES_MS = 15 * MINUTE_MS;
/** How often a download may start over. */
const VIDEO_DOWNLOAD_TRIES = 20;
/**
 * How often in a row a provider may not know a job. Some need a moment to know a job that they have just
 * accepted.
 */
const VIDEO_MISSING_TRIES = 10;
/** How often a finished job is read again for a cost that is not there yet. */
const VIDEO_COST_TRIES = 3;
/**
 * A finished video that could not be fetched or stored by then is given up, before its hold becomes an
 * orphan.
 */
const VIDEO_RESULT_MAX_MS = 5 * HOUR_MS;

/** What a worker does next about a video; it decides nothing else by itself. */
export type VideoStep =
  | { do: 'submit' }
  | { do: 'poll'; providerJobId: string }
  /** Another process may be sending it at this moment. */
  | { do: 'await_claim' }
  | Fail;

export interface Fail {
  do: 'fail';
  code: VideoErrorCode;
  /** The operator pays the provider for it: so much, or `unknown`; `null`: nothing. */
  billed: AttoUsd | 'unknown' | null;
}

const fail = (code: VideoErrorCode, billed: Fail['billed'] = null): Fail => ({ do: 'fail', code, billed });

/** By what the journal says. `claimKnownMs`: how long this process has known of a claim that is not its own. */
export function nextVideoStep(
  { claim, submitted, createdAtMs }: Pick<VideoJob, 'claim' | 'submitted' | 'createdAtMs'>,
  now: { nowMs: number; claimKnownMs: number; claimGraceMs: number },
): VideoStep {
  if (submitted !== null) return { do: 'poll', providerJobId: submitted.providerJobId };
  // Never a second job: whether the dead process got so far as to send it nobody can tell.
  if (claim !== null)
    return now.claimKnownMs < now.claimGraceMs
      ? { do: 'await_claim' }
      : fail('submission_unknown', 'unknown');
  if (isSubmissionLate(now.nowMs - createdAtMs)) return fail('provider_unavailable');
  return { do: 'submit' };
}

export type AfterSubmission =
  | { do: 'note_job'; providerJobId: string }
  /** It surely was not taken, and may be later. */
  | { do: 'withdraw' }
  | Fail;

/** Of the one request that makes a job. What is not surely a refusal may have made one. */
export function afterSubmission(answer: ProviderAnswer): AfterSubmission {
  if (answer.kind === 'not_sent') return { do: 'withdraw' };
  if (answer.kind === 'lost') return fail('submission_unknown', 'unknown');
  const { status, body } = answer;
  if (status >= 200 && status < 300) {
    const providerJobId = readJobId(body);
    return providerJobId === null ? fail('submission_unknown', 'unknown') : { do: 'note_job', providerJobId };
  }
  switch (status) {
    case 400:
    case 403:
    case 422:
      if (failureCode(isRecord(body) ? body.error : null) === 'content_refused')
        return fail('content_refused');
      // Ours, not the agent's: the gateway's key may not.
      return fail(status === 403 ? 'provider_unavailable' : 'invalid_input');
    case 401:
    case 402:
      return fail('provider_unavailable');
    case 429:
      return { do: 'withdraw' };
    case 503:
      // A proxy says it too, of a request whose server it has lost on the way.
      return answer.retryAfter || (isRecord(body) && 'error' in body)
        ? { do: 'withdraw' }
        : fail('submission_unknown', 'unknown');
    case 408:
    case 409:
      return fail('submission_unknown', 'unknown');
    case 451:
      return fail('content_refused');
  }
  if (status >= 500) return fail('submission_unknown', 'unknown');
  // Redirects are not followed: whoever is there is not the provider that was meant.
  return fail(status < 400 ? 'provider_unavailable' : 'invalid_input');
}

export type AfterPoll =
  | { do: 'wait'; waitMs: number }
  /** `cost`: as reported; `null`: not even late. */
  | { do: 'download'; cost: AttoUsd | null }
  | Fail;

export interface PollState {
  ageMs: number;
  /** Answers in a row, this one not among them, by what they said. */
  working: number;
  unclear: number;
  missing: number;
  costless: number;
}

export function afterPoll(answer: JobAnswer, state: PollState): AfterPoll {
  switch (answer.state) {
    case 'completed':
      return answer.cost === null && state.costless < VIDEO_COST_TRIES
        ? { do: 'wait', waitMs: youngWaitMs(state.costless) }
        : { do: 'download', cost: answer.cost };
    case 'failed':
      return fail(answer.code, answer.cost);
    case 'working':
      if (state.ageMs >= VIDEO_MAX_MS) return fail('timed_out', 'unknown');
      return { do: 'wait', waitMs: youngWaitMs(state.working) };
    case 'missing':
      if (state.missing + 1 >= VIDEO_MISSING_TRIES) return fail('result_unavailable', 'unknown');
      return { do: 'wait', waitMs: retryWaitMs(state.missing) };
    case 'unclear':
      if (state.ageMs >= VIDEO_MAX_MS) return fail('timed_out', 'unknown');
      return { do: 'wait', waitMs: Math.max(VIDEO_POLL_MS, retryWaitMs(state.unclear)) };
  }
}

/** Of a download that kept nothing. `failures`: of the provider's, before it. */
export function afterDownload(
  what: 'gone' | 'unfit' | 'source_failed' | 'storage_failed',
  { ageMs, failures, cost }: { ageMs: number; failures: number; cost: AttoUsd | null },
): { do: 'try_again' } | Fail {
  const billed = cost ?? 'unknown';
  const isLate = ageMs >= VIDEO_RESULT_MAX_MS;
  // Storage that is down is our fault: the video waits for it as long as its hold may.
  if (what === 'storage_failed') return isLate ? fail('gateway_error', billed) : { do: 'try_again' };
  const isOver = what === 'unfit' || isLate || failures + 1 >= VIDEO_DOWNLOAD_TRIES;
  return isOver ? fail('result_unavailable', billed) : { do: 'try_again' };
}

export const isSubmissionLate = (ageMs: number): boolean => ageMs >= VIDEO_SUBMIT_TRIES_MS;

/** Some are done within seconds. */
export const youngWaitMs = (polls: number): number =>
  Math.min(VIDEO_POLL_MS, SECOND_MS * 2 ** Math.min(polls, 10));

export const retryWaitMs = (failures: number): number =>
  Math.min(VIDEO_RETRY_MAX_MS, 2 * SECOND_MS * 2 ** Math.min(failures, 10));
