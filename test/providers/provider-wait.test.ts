import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { waitInError, waitInHeaders } from '../../api/providers/provider-wait.ts';
import { waitInWords } from '../../api/providers/wait-words.ts';

/* Every vendor names the wait in a place and a unit of its own, and no caller is told a shorter one. */

const NOW_MS = Date.UTC(2026, 10, 20, 10, 0, 0);
const at = (ms: number): string => new Date(NOW_MS + ms).toISOString();

describe('the wait that headers name', () => {
  it.each<[string, Record<string, string>, number]>([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['parts of a second', { 'retry-after': '0.25' }, 250],
    ['milliseconds', { 'retry-after-ms': '2500', 'retry-after': '3' }, 2_500],
    ['a name of its own', { 'x-retry-after': '7' }, 7_000],
    ['what is left of the time of a limit', { 'x-ratelimit-timeremaining': '38' }, 38_000],
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
    ['seconds with their unit', { 'retry-after': '120 seconds' }, 120_000],
    ['minutes and seconds', { 'retry-after': '1m30s' }, 90_000],
    ['a date of RFC 850', { 'retry-after': 'Friday, 20-Nov-26 10:00:09 GMT' }, 9_000],
    ['a date as C writes it', { 'retry-after': 'Fri Nov 20 10:00:09 2026' }, 9_000],
    ['an ISO date', { 'retry-after': at(9_000) }, 9_000],
    ['a time since 1970 in its place', { 'retry-after': String(NOW_MS / 1_000 + 5) }, 5_000],
    ['the IETF’s header', { ratelimit: '"default";r=0;t=30' }, 30_000],
    ['the policy that is used up', { ratelimit: '"minute";r=3;t=10, "day";q=9; r=0; t=50' }, 50_000],
    ['an earlier draft of it', { ratelimit: 'limit=10, remaining=0, reset=7' }, 7_000],
    [
      'limits of a minute and of a day',
      {
        'x-ratelimit-remaining-tokens-minute': '0',
        'x-ratelimit-reset-tokens-minute': '11.38',
        'x-ratelimit-remaining-requests-day': '12',
        'x-ratelimit-reset-requests-day': '33011.4',
      },
      11_380,
    ],
    ['a limit by size', { 'ratelimitbysize-remaining': '0', 'ratelimitbysize-reset': '12' }, 12_000],
    [
      'a limit of a subscription',
      {
        'anthropic-ratelimit-unified-status': 'rejected',
        'anthropic-ratelimit-unified-reset': String(NOW_MS / 1_000 + 60),
      },
      60_000,
    ],
    [
      'a reset beside a wait that cannot be read',
      { 'retry-after': 'soon', 'ratelimit-remaining': '0', 'ratelimit-reset': '4' },
      4_000,
    ],
    [
      'seconds beside milliseconds that cannot be read',
      { 'retry-after-ms': 'soon', 'retry-after': '4' },
      4_000,
    ],
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
    ['policies with something left', { ratelimit: '"a";r=1;t=30, "b";r=05;t=9' }],
    [
      'a subscription that is not used up',
      {
        'anthropic-ratelimit-unified-status': 'allowed',
        'anthropic-ratelimit-unified-reset': String(NOW_MS / 1_000 + 60),
      },
    ],
    ['people', { 'retry-after': '5 people' }],
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
    [{ code: 'model_cooldown', reset_seconds: 10 }, 10_000],
    [{ type: 'usage_limit_reached', resets_in_seconds: 90 }, 90_000],
    [{ details: [{ metadata: { quotaResetDelay: '1m2.5s' } }] }, 62_500],
    [{ message: 'Rate limit exceeded. Limit resets at: 2026-11-20 10:00:09 UTC' }, 9_000],
    [{ message: 'Quota used up, try again at 2026-11-20T10:01:00Z.' }, 60_000],
    [{ message: 'You will regain access on 2026-11-21 at 00:00 UTC.' }, 14 * 3_600_000],
    [{ error: 'Model is currently loading', estimated_time: 20.5 }, 20_500],
    [{ retry_after: '11' }, 11_000],
    [{ retryAfter: '1m2s' }, 62_000],
    [{ retry_in: 30 }, 30_000],
    [{ reset_at: NOW_MS / 1_000 + 30 }, 30_000],
    [{ resetsAt: NOW_MS + 30_000 }, 30_000],
  ])('is read from %j', (error, ms) => {
    expect(waitInError({ ...error }, NOW_MS)).toBe(ms);
  });

  it.each([
    {},
    { retry_after: 'soon' },
    { retry_after: -1 },
    { reset_at: 30 },
    { resets_at: 'tomorrow' },
    { retry_after: 1e12 },
    { metadata: { headers: [] } },
    { details: {} },
  ])('is not known by %j', (error) => {
    expect(waitInError({ ...error }, NOW_MS)).toBeNull();
  });
});

describe('a wait', () => {
  it.each([
    ['Rate limit reached for gpt-4. Please try again in 20s.', 20_000],
    ['Please try again in 6m0s.', 360_000],
    ['Please retry in 51.5s.', 51_500],
    ['Please try again in 250ms.', 250],
    ['Too many requests, retry after 30 seconds', 30_000],
    ['The model is loading, wait about 2 minutes', 120_000],
    ['Rate limit reached.', null],
    ['Please try again in 5 min.', 300_000],
    ['Retry in 3 hrs', 10_800_000],
    ['Please try again in 2 minutes 30 seconds.', 150_000],
    ['Your quota resets in 1 hour and 5 min', 3_900_000],
    ['Please try again in 1h6m0.5s', 3_960_500],
    ['Retry after 1 day, 2 hours', 93_600_000],
    ['Wait another 10 secs before the next call', 10_000],
    ['The model is available 24 hours a day', null],
    ['Please wait for 3 people', null],
    ['Please try again in 20', null],
    ['Too many requests. Retry-After: 20', 20_000],
    ['429: {"retry_after": 1.5}', 1_500],
    ['429: {"retry_after_ms": 700}', 700],
    ['retry-after=2m', 120_000],
    ['Rate limited, try again in ~5s', 5_000],
    ['Please retry after 60 (seconds).', 60_000],
    ['Please retry after 1 minute(s)', 60_000],
    ['Please try again in 3600000 ms', 3_600_000],
    ['Please wait 30 more seconds', 30_000],
    ['Retry in: 7 s', 7_000],
    ['Please retry after 1-2 minutes', 120_000],
    ['Please wait for 3 people, then try again in 5s', 5_000],
    ['Retry-After: soon', null],
    ['请 30 秒后重试', 30_000],
    ['请求过于频繁，请1分钟后再试', 60_000],
    ['额度已用完，2小时之后再试', 7_200_000],
    ['服务 24 小时在线', null],
    ['请1小时30分钟后重试', 5_400_000],
    ['请 5 分后再试', 300_000],
    ['请在 5 min 后重试', 300_000],
    ['请求超限，请 1h30m 后重试', 5_400_000],
    ['请30s后重试', 30_000],
    ['Rate limit reached, please retry in 1h30m', 5_400_000],
    ['Retry after 1h:30m', 5_400_000],
    ['Please wait 1 hr 30 mins', 5_400_000],
    ['Limit resets in 3 hrs', 10_800_000],
  ])('is read where it is in words: %s', (message, ms) => {
    expect(waitInWords(message)).toBe(ms);
  });
});

describe('a long message about waits', () => {
  it('is read in a time that grows with its length alone', () => {
    const words = ['try again in ', '1h', '20 ', 'retry-after: ', 'wait ', '1-', ' '.repeat(50), '(seconds)'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 2_000 }), (parts) => {
        const ms = waitInWords(parts.join(''));
        expect(ms === null || ms >= 0).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
