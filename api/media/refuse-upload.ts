import { isoTime } from '#core/clock.ts';
import { RETRY_AFTER_MAX_MS } from '#core/limits.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import type { UploadRefused } from './create-upload.ts';

/** As `POST /uploads` says it. The spec shows no codes for this route: these are the ones of the same causes elsewhere. */
export function refuseUpload(refused: UploadRefused, nowMs: number): ApiError {
  switch (refused.reason) {
    case 'agent_inactive':
    case 'agent_suspended':
      return apiError(refused.reason);
    case 'balance':
      return apiError('insufficient_balance', {
        message: 'An upload is free, but it needs an agent with credit, and this one has none left.',
      });
    case 'uploads_per_day':
      return apiError('rate_limited', {
        retryAfterMs: refused.retryAfterMs,
        longWait: refused.retryAfterMs > RETRY_AFTER_MAX_MS,
        message: `This agent has started as many uploads as it may in any 24 hours; the next one may start at ${isoTime(nowMs + refused.retryAfterMs)}.`,
      });
    // Not a wait: clients would ask again and again for what only the operator can add.
    case 'no_files':
      return apiError('not_found', {
        message: 'This gateway keeps no files; send public https links instead of uploads.',
      });
    case 'unavailable':
      return apiError('service_unavailable');
    default:
      return refused satisfies never;
  }
}
