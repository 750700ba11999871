import { isRecord } from '#core/is-record.ts';
import { BALANCE_CAP_NANO_USD } from '#core/limits.ts';
import { type AttoUsd, nanoToAtto, parseAttoUsd } from '#core/money.ts';
import type { VideoErrorCode } from '#core/videos/video-error-codes.ts';

/** What became of one small request to a provider. */
export type ProviderAnswer =
  | { kind: 'answered'; status: number; body: unknown; retryAfter: boolean }
  /** No byte of it has left: there was no connection. */
  | { kind: 'not_sent' }
  /** Sent, at least in part: no answer came, or no whole one. */
  | { kind: 'lost' };

/** What a provider says of a job that it has. */
export type JobAnswer =
  | { state: 'working' }
  | { state: 'completed'; cost: AttoUsd | null }
  /** `cost`: what it bills all the same. */
  | { state: 'failed'; code: VideoErrorCode; cost: AttoUsd | null }
  | { state: 'missing' }
  /** Nothing that says how the job is. */
  | { state: 'unclear' };

export function readJobAnswer(answer: ProviderAnswer, providerJobId: string): JobAnswer {
  if (answer.kind !== 'answered') return { state: 'unclear' };
  if (answer.status === 404 || answer.status === 410) return { state: 'missing' };
  const { status, body } = answer;
  // The answer to another's request would hand one agent the video of another.
  if (status !== 200 || !isRecord(body) || body.id !== providerJobId) return { state: 'unclear' };
  const cost = readCost(body.usage);
  switch (body.status) {
    case 'completed':
      return { state: 'completed', cost };
    case 'failed':
    case 'cancelled':
      return { state: 'failed', code: failureCode(body.error), cost };
    case 'expired':
      return { state: 'failed', code: 'timed_out', cost };
    default:
      // A new word for being made is no reason to end it; how long it may take is bounded.
      return typeof body.status === 'string' ? { state: 'working' } : { state: 'unclear' };
  }
}

/** Its own name of the job, fit for a path; `null`: there is none. */
export function readJobId(body: unknown): string | null {
  if (!isRecord(body) || typeof body.id !== 'string') return null;
  return /^[\w-][\w.:-]{0,255}$/.test(body.id) ? body.id : null;
}

const POLICY =
  /\b(?:policy|policies|moderat\w*|safety|flagged|prohibited|nsfw|sensitive|copyright\w*|violat\w*|guidelines?|not allowed|content[ _-]?filter\w*)\b/i;

/** The provider's words stay here: they may repeat the prompt. */
export const failureCode = (error: unknown): 'content_refused' | 'generation_failed' =>
  POLICY.test(errorText(error)) ? 'content_refused' : 'generation_failed';

function errorText(error: unknown): string {
  if (typeof error === 'string') return error;
  if (!isRecord(error)) return '';
  return [error.message, error.code, error.type].filter((each) => typeof each === 'string').join(' ');
}

const COST_MAX = nanoToAtto(BALANCE_CAP_NANO_USD);

/** `null`: missing, or none that can be believed. An explicit zero is a cost. */
function readCost(usage: unknown): AttoUsd | null {
  if (!isRecord(usage) || typeof usage.cost !== 'number') return null;
  // With the operator's own key there, it is the router's fee and not the vendor's bill.
  if (usage.is_byok === true) return null;
  const cost = parseAttoUsd(String(usage.cost));
  return cost === null || cost > COST_MAX ? null : cost;
}
