import type { ServerResponse } from 'node:http';
import type { CallId } from '#core/ids.ts';
import { errorBody, errorHeaders, errorStatus } from '../contract/error-body.ts';
import type { ApiError, ErrorShape } from '../contract/errors.ts';
import { answerHeaders } from '../contract/headers.ts';
import type { MarketError } from '../contract/market-errors.ts';
import { sendJson } from './send-json.ts';

/** What of a call an answer shows; a `CallContext` is one. */
export interface AnswerFacts {
  shape: ErrorShape;
  callId: CallId;
  callIdHeader: string;
  /** Pages of other origins may read it. */
  isPublic?: true;
}

/**
 * A refusal, in the shape of its route. After the first byte no status can be sent: the connection is cut.
 */
export function renderError(
  res: ServerResponse,
  error: ApiError | MarketError,
  call: AnswerFacts,
  more: Record<string, string> = {},
): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const headers = { ...answerHeaders(call), ...errorHeaders(error), ...more };
  sendJson(res, errorStatus(error.code, call.shape), headers, errorBody(error, call.shape));
}
