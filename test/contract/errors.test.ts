import { describe, expect, test } from 'vitest';
import { RETRY_AFTER_MAX_MS } from '#core/limits.ts';
import { errorBody, errorHeaders, errorStatus, errorType } from '../../api/contract/error-body.ts';
import { apiError, type ErrorCode, type ErrorRow, errorTable } from '../../api/contract/errors.ts';

/** The spec's table by hand: code, status, type, status and type in the messages format, retry, cost. */
const spec = `
invalid_api_key          401 authentication_error  401 authentication_error  fix_first  free
agent_inactive           403 permission_error      403 permission_error      fix_first  free
agent_suspended          403 permission_error      403 permission_error      fix_first  free
invalid_request          400 invalid_request_error 400 invalid_request_error fix_first  free
unknown_model            400 invalid_request_error 400 invalid_request_error fix_first  free
model_not_served         400 invalid_request_error 400 invalid_request_error fix_first  free
tool_not_served          400 invalid_request_error 400 invalid_request_error fix_first  free
request_too_large        413 invalid_request_error 413 request_too_large     fix_first  free
request_over_capacity    400 invalid_request_error 400 invalid_request_error fix_first  free
not_found                404 not_found_error       404 not_found_error       fix_first  free
insufficient_balance     402 billing_error         402 billing_error         fix_first  free
key_limit                402 billing_error         402 billing_error         fix_first  free
rate_limited             429 rate_limit_error      429 rate_limit_error      after_wait free
too_many_running_calls   429 rate_limit_error      429 rate_limit_error      after_wait free
daily_share_used         429 rate_limit_error      429 rate_limit_error      after_wait free
model_busy               503 server_error          529 overloaded_error      after_wait free
gateway_busy             503 server_error          503 overloaded_error      after_wait free
gateway_capacity         503 server_error          503 overloaded_error      after_wait free
gateway_unavailable      503 server_error          503 server_error          after_wait free
catalog_unavailable      503 server_error          503 server_error          after_wait free
service_unavailable      503 server_error          503 server_error          after_wait free
provider_unavailable     503 server_error          503 server_error          after_wait free
gateway_error            500 server_error          500 api_error             retry      free
upstream_timeout         504 server_error          504 api_error             retry      recorded
upstream_unreachable     502 server_error          502 api_error             retry      free
provider_error           502 server_error          502 api_error             retry      recorded
no_provider              404 not_found_error       404 not_found_error       fix_first  free
provider_refused         403 permission_error      403 permission_error      fix_first  free
unprocessable            422 server_error          422 api_error             fix_first  free
timeout                  408 server_error          408 api_error             retry      recorded
upstream_error           502 server_error          502 api_error             retry      recorded
not_ready                404 not_found_error       404 not_found_error       fix_first  free`;

const rows = spec
  .trim()
  .split('\n')
  .map((line) => line.split(/\s+/));
const codes = Object.keys(errorTable).filter((code): code is ErrorCode => code in errorTable);

test('the table holds the 31 codes of the spec, in its order, then that of videos, and no other', () => {
  expect(codes).toEqual(rows.map(([code]) => code));
  expect(codes).toHaveLength(32);
});

test.each(codes.map((code, index) => ({ code, row: rows[index] })))(
  '$code has the status, types, retry and cost of the spec',
  ({ code, row }) => {
    const { retry, cost } = errorTable[code];
    expect([
      code,
      String(errorStatus(code, 'chat')),
      errorType(code, 'chat'),
      String(errorStatus(code, 'messages')),
      errorType(code, 'messages'),
      retry,
      cost,
    ]).toEqual(row);
  },
);

test('every 429 and 503 names a wait of one second to one minute, and nothing else names one', () => {
  for (const code of codes) {
    const { status, retryAfterMs }: ErrorRow = errorTable[code];
    if (status !== 429 && status !== 503) expect(retryAfterMs, code).toBeUndefined();
    else {
      expect(retryAfterMs, code).toBeGreaterThanOrEqual(1000);
      expect(retryAfterMs, code).toBeLessThanOrEqual(60_000);
    }
  }
});

test('every default message is one sentence that a person can read', () => {
  for (const code of codes) expect(errorTable[code].message, code).toMatch(/^[A-Z][^.]{20,140}\.$/);
});

describe('waits', () => {
  test('an advertised wait is never over a minute, so that no client sleeps through it', () => {
    const error = apiError('gateway_capacity', { retryAfterMs: 3_600_000 });
    expect(error.retryAfterMs).toBe(RETRY_AFTER_MAX_MS);
    expect(errorHeaders(error)).toEqual({ 'retry-after': '60', 'retry-after-ms': '60000' });
  });

  test('daily_share_used tells the true wait and tells clients not to retry by themselves', () => {
    const error = apiError('daily_share_used', { retryAfterMs: 7 * 3_600_000 });
    expect(errorHeaders(error)).toEqual({
      'retry-after': '25200',
      'retry-after-ms': '25200000',
      'x-should-retry': 'false',
    });
  });

  test.each([
    [0, '1', '1'],
    [0.2, '1', '1'],
    [99.5, '1', '100'],
    [1000, '1', '1000'],
    [1001, '2', '1001'],
    [59_999, '60', '59999'],
  ])('a wait of %d ms is rounded up, and is at least a second', (retryAfterMs, seconds, ms) => {
    expect(errorHeaders(apiError('rate_limited', { retryAfterMs }))).toEqual({
      'retry-after': seconds,
      'retry-after-ms': ms,
    });
  });
});

test('both shapes carry the code, and only the chat shape the field at fault', () => {
  const error = apiError('invalid_request', { message: 'No.', param: 'max_tokens' });
  expect(errorBody(error, 'chat')).toEqual({
    error: { message: 'No.', type: 'invalid_request_error', code: 'invalid_request', param: 'max_tokens' },
  });
  expect(errorBody(error, 'messages')).toEqual({
    type: 'error',
    error: { type: 'invalid_request_error', message: 'No.', code: 'invalid_request' },
  });
});

test('who starts calls too fast is told the limit, and when the next may start', () => {
  const headers = (retryAfterMs: number) =>
    errorHeaders(apiError('rate_limited', { retryAfterMs, callsPerMinute: 600 }));
  expect(headers(120)).toEqual({
    'retry-after': '1',
    'retry-after-ms': '120',
    'x-ratelimit-limit-requests': '600',
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': '120ms',
  });
  expect(headers(2_500)['x-ratelimit-reset-requests']).toBe('2.5s');
  expect(errorHeaders(apiError('too_many_running_calls'))).not.toHaveProperty('x-ratelimit-limit-requests');
});
