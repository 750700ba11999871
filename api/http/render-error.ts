import type { ServerResponse } from 'node:http';
import { errorBody, errorHeaders, errorStatus } from '../contract/error-body.ts';
import type { ApiError } from '../contract/errors.ts';
import { type AnswerFacts, commonHeaders } from '../contract/headers.ts';
import type { MarketError } from '../contract/market-errors.ts';
import { sendJson } from './send-json.ts';

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
  const headers = { ...commonHeaders(call), ...errorHeaders(error), ...more };
  sendJson(res, errorStatus(error.code, call.shape), headers, errorBody(error, call.shape));
}
