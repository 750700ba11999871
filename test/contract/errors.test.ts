import { describe, expect, test } from 'vitest';
import { RETRY_AFTER_MAX_MS } from '#core/limits.ts';
import { errorBody, errorHeaders, errorStatus, errorType } from '../../api/contract/error-body.ts';
import { apiError, errorCodes as codes, type ErrorRow, errorTable } from '../../api/contract/errors.ts';
import { readText } from '../docs/repository-files.ts';

const spec = readText('docs/spec.md');

/** The rows of the spec's table of codes: code, status, type, cause, retry, cost. */
const [, codesSection = ''] = /^### Codes \(all 31\)\n([\s\S]*?)^#/m.exec(spec) ?? [];
const specRows = codesSection
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter(([, code = '']) => /^[a-z]+(_[a-z]+)*$/.test(code))
  .map(([, ...cells]) => cells);

/** The types of the messages format that differ from the table. */
const [, typesSentence = ''] = /^Messages-format `error\.type` differs [^:]*: (.*)$/m.exec(spec) ?? [];
const messagesTypes = new Map(
  typesSentence.split(';').flatMap((clause) => {
    const [, subjects = '', type = ''] = /^(.*) uses? `(\w+)`$/.exec(clause.trim()) ?? [];
    return [...subjects.matchAll(/`(\w+)`/g)].map(([, code = '']) => [code, type] as const);
  }),
);

/** The spec does not show some classes ("see below"). Codes of that kind wait and are free, as `errorTable` explains. */
const retryClasses: Readonly<Record<string, string>> = {
  'fix first': 'fix_first',
  'after wait': 'after_wait',
  retry: 'retry',
  'see below': 'after_wait',
};
const costClasses: Readonly<Record<string, string>> = {
  free: 'free',
  'only what the provider recorded, usually nothing': 'recorded',
  'see below': 'free',
};

/** Code, status, type, status and type in the messages format, retry, cost. */
const expectedRows = [
  ...specRows.map(([code = '', http = '', type = '', , retry = '', cost = '']) => {
    const [status, messagesStatus = status] = http.match(/\d{3}/g) ?? [];
    const messagesType = messagesTypes.get(code) ?? type;
    return [code, status, type, messagesStatus, messagesType, retryClasses[retry], costClasses[cost]];
  }),
  // Codes beside the spec's table.
  ['not_ready', '404', 'not_found_error', '404', 'not_found_error', 'fix_first', 'free'],
];

test('the table holds the 31 codes of the spec, in its order, then that of videos, and no other', () => {
  expect(specRows).toHaveLength(31);
  expect(messagesTypes.size).toBe(11);
  expect(codes).toEqual(expectedRows.map(([code]) => code));
});

test.each(codes.map((code, index) => ({ code, row: expectedRows[index] })))(
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
