import { describe, expect, it } from 'vitest';
import { waitInError, waitInHeaders } from '../../api/providers/provider-wait.ts';

/* Every vendor names the wait in a place and a unit of its own, and no caller is told a shorter one. */

const NOW_MS = Date.UTC(2026, 10, 20, 10, 0, 0);
const at = (ms: number): string => new Date(NOW_MS + ms).toISOString();

describe('the wait that headers name', () => {
  it.each<[string, Record<string, string>, number]>([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['parts of a second', { 'retry-after': '0.25' }, 250],
    ['milliseconds', { 'retry-after-ms': '2500', 'retry-after': '3' }, 2_500],
    ['milliseconds of Azure', { 'x-ms-retry-after-ms': '1200' }, 1_200],
    ['a date', { 'retry-after': 'Fri, 20 Nov 2026 10:00:09 GMT' }, 9_000],
    [
      'a date, by a clock that is an hour behind',
      { 'retry-after': 'Fri, 20 Nov 2026 09:00:09 GMT', date: 'Fri, 20 Nov 2026 09:00:00 GMT' },
      9_000,
    ],
    ['a date that has passed', { 'retry-after': 'Fri, 20 Nov 2026 09:59:00 GMT' }, 0],
    [
      'when requests start again',
      { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m2.5s' },
      62_500,
    ],
    [
      'when tokens start again, and not the requests that are left',
      {
        'x-ratelimit-remaining-requests': '12',
        'x-ratelimit-reset-requests': '6h0m0s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '120ms',
      },
      120,
    ],
    [
      'the longer of two that are used up',
      {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '3s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '8',
      },
      8_000,
    ],
    [
      'a date of one vendor',
      { 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': at(12_000) },
      12_000,
    ],
    ['a time in milliseconds', { 'x-ratelimit-reset': String(NOW_MS + 5_000) }, 5_000],
    ['a time in seconds', { 'x-ratelimit-reset': String(NOW_MS / 1_000 + 5) }, 5_000],
    ['seconds until a reset', { 'ratelimit-remaining': '0', 'ratelimit-reset': '30' }, 30_000],
  ])('is read from %s', (_what, headers, ms) => {
    expect(waitInHeaders(headers, NOW_MS)).toBe(ms);
  });

  it.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['milliseconds of more than a month', { 'retry-after-ms': '999999999999' }],
    ['seconds of more than a month', { 'retry-after': '99999999' }],
    ['a date of another century', { 'retry-after': 'Fri, 20 Nov 2099 10:00:09 GMT' }],
    [
      'a limit of which something is left',
      { 'x-ratelimit-remaining-requests': '1', 'x-ratelimit-reset-requests': '3s' },
    ],
    ['a reset alone, of a limit that has a count', { 'x-ratelimit-reset-requests': '3s' }],
    ['words', { 'retry-after': 'soon' }],
    ['a negative number', { 'retry-after': '-5' }],
    ['an exponent', { 'retry-after': '1e3' }],
    ['a month and more', { 'x-ratelimit-reset': String(NOW_MS + 40 * 86_400_000) }],
    ['a date that is none', { 'ratelimit-remaining': '0', 'ratelimit-reset': '2026-99-99T10:00:00Z' }],
    ['an empty one', { 'ratelimit-remaining': '0', 'ratelimit-reset': '' }],
  ])('is not known by %s', (_what, headers) => {
    expect(waitInHeaders(headers, NOW_MS)).toBeNull();
  });
});

describe('the wait that an error names', () => {
  it.each<[object, number]>([
    [{ retry_after: 11 }, 11_000],
    [{ retryAfter: 0.5 }, 500],
    [{ retry_after_ms: 700 }, 700],
    [{ metadata: { retry_after_seconds: 4 } }, 4_000],
    [{ metadata: { headers: { 'Retry-After': '8' } } }, 8_000],
    [
      {
        metadata: { headers: { 'X-RateLimit-Reset': String(NOW_MS + 6_000), 'X-RateLimit-Remaining': '0' } },
      },
      6_000,
    ],
    [{ metadata: { headers: { 'X-RateLimit-Reset': NOW_MS + 6_000 } } }, 6_000],
    [{ availability: { retry_after: 9 } }, 9_000],
    [{ details: [{ '@type': 'x' }, { retryDelay: '34.4s' }] }, 34_400],
    [{ message: 'Rate limit reached. Please try again in 1m20.5s.' }, 80_500],
  ])('is read from %j', (error, ms) => {
    expect(waitInError({ ...error }, NOW_MS)).toBe(ms);
  });

  it.each([
    {},
    { retry_after: '11' },
    { retry_after: -1 },
    { retry_after: 1e12 },
    { metadata: { headers: [] } },
    { details: {} },
  ])('is not known by %j', (error) => {
    expect(waitInError({ ...error }, NOW_MS)).toBeNull();
  });
});
