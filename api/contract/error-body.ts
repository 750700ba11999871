import { SECOND_MS } from '#core/clock.ts';
import {
  type ApiError,
  type ErrorCode,
  type ErrorDetails,
  type ErrorRow,
  type ErrorShape,
  errorTable,
} from './errors.ts';
import { type MarketError, type MarketErrorCode, marketErrorTable } from './market-errors.ts';

export interface ChatErrorBody {
  error: { message: string; type: string; code: AnyErrorCode; param: string | null };
}

export interface MessagesErrorBody {
  type: 'error';
  error: { type: string; message: string; code: AnyErrorCode; details?: ErrorDetails };
}

export interface MarketErrorBody {
  error: { code: AnyErrorCode; message: string };
}

/** A code in both tables has the same status in both. */
export type AnyErrorCode = ErrorCode | MarketErrorCode;
const rows: Readonly<Record<AnyErrorCode, ErrorRow>> = { ...marketErrorTable, ...errorTable };

export function errorStatus(code: AnyErrorCode, shape: ErrorShape): number {
  const row = rows[code];
  return shape === 'messages' ? (row.messages?.status ?? row.status) : row.status;
}

export function errorType(code: AnyErrorCode, shape: ErrorShape): string {
  const row = rows[code];
  return shape === 'messages' ? (row.messages?.type ?? row.type) : row.type;
}

/** Spec: Errors, Shapes. The same object stands in error answers and in the error events of streams. */
export function errorBody(
  error: ApiError | MarketError,
  shape: ErrorShape,
): ChatErrorBody | MessagesErrorBody | MarketErrorBody {
  const { code, message, param } = error;
  if (shape === 'market') return { error: { code, message } };
  const type = errorType(code, shape);
  if (shape === 'messages') return { type: 'error', error: { type, message, code, ...detailsOf(error) } };
  return { error: { message, type, code, param } };
}

const detailsOf = (error: ApiError | MarketError): { details?: ErrorDetails } =>
  'details' in error && error.details !== undefined ? { details: error.details } : {};

/** The headers that depend on the error alone. */
export function errorHeaders(error: ApiError | MarketError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.code === 'invalid_api_key') headers['www-authenticate'] = 'Bearer realm="faregate"';
  if (error.retryAfterMs !== undefined) {
    const waitMs = wholeMs(error.retryAfterMs);
    Object.assign(headers, retryHeaders(waitMs));
    if (error.callsPerMinute !== undefined) {
      headers['x-ratelimit-limit-requests'] = String(error.callsPerMinute);
      headers['x-ratelimit-remaining-requests'] = '0';
      headers['x-ratelimit-reset-requests'] = waitMs < SECOND_MS ? `${waitMs}ms` : `${waitMs / SECOND_MS}s`;
    }
  }
  if (error.shouldRetry === false || rows[error.code].retry === 'fix_first')
    headers['x-should-retry'] = 'false';
  return headers;
}

/** Both ways in which clients are told how long to wait. */
export function retryHeaders(retryAfterMs: number): Record<string, string> {
  const waitMs = wholeMs(retryAfterMs);
  return { 'retry-after': String(Math.ceil(waitMs / SECOND_MS)), 'retry-after-ms': String(waitMs) };
}

/** Up: a client that comes back a moment too early is refused again. Zero would mean "at once". */
const wholeMs = (waitMs: number): number => Math.max(1, Math.ceil(waitMs));
