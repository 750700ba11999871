import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GcraBuckets } from '#core/rates/gcra.ts';

const buckets = (ratePerMinute: number, burst: number) =>
  new GcraBuckets({ ratePerMinute: () => ratePerMinute, burst: () => burst });

/** Spends where nothing has to be waited for, and tells when that was. */
function starts(of: GcraBuckets, atMs: readonly number[], subject = 1): number[] {
  return atMs.filter((nowMs) => {
    if (of.waitMs(subject, nowMs) > 0) return false;
    of.spend(subject, nowMs);
    return true;
  });
}

const rate = fc.integer({ min: 1, max: 6_000 });
const burst = fc.integer({ min: 1, max: 100 });
const gap = fc.oneof(fc.constant(0), fc.nat({ max: 50 }), fc.nat({ max: 5_000 }));
const times = fc.array(gap, { minLength: 1, maxLength: 300 }).map((gaps) => {
  let nowMs = 1_700_000_000_000;
  return gaps.map((gapMs) => {
    nowMs += gapMs;
    return nowMs;
  });
});

describe('a rate with a burst', () => {
  it('lets through in any window at most the burst and what the window’s length allows', () => {
    fc.assert(
      fc.property(rate, burst, times, (ratePerMinute, size, atMs) => {
        const started = starts(buckets(ratePerMinute, size), atMs);
        for (let from = 0; from < started.length; from++) {
          for (let to = from; to < started.length; to++) {
            const windowMs = (started[to] ?? 0) - (started[from] ?? 0);
            const allowed = size + (windowMs * ratePerMinute) / 60_000;
            expect(to - from + 1).toBeLessThanOrEqual(allowed + 1e-3);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('lets through whoever waited as long as it said, and nobody a millisecond sooner', () => {
    fc.assert(
      fc.property(rate, burst, fc.nat({ max: 300 }), (ratePerMinute, size, spent) => {
        const of = buckets(ratePerMinute, size);
        const nowMs = 1_700_000_000_000;
        for (let i = 0; i < spent; i++) of.spend(1, nowMs);
        const waitMs = of.waitMs(1, nowMs);
        expect(waitMs > 0).toBe(spent >= size);
        expect(of.waitMs(1, nowMs + waitMs)).toBe(0);
        if (waitMs > 0) expect(of.waitMs(1, nowMs + waitMs - 1)).toBeGreaterThan(0);
      }),
    );
  });

  it('is 60 at once and 600 a minute by the spec’s numbers', () => {
    const nowMs = 1_700_000_000_000;
    const every10ms = Array.from({ length: 6_000 }, (_, i) => nowMs + i * 10);
    expect(starts(buckets(600, 60), Array(100).fill(nowMs))).toHaveLength(60);
    expect(starts(buckets(600, 60), every10ms)).toHaveLength(660 - 1);
  });

  it('a refusal costs nothing: asking is free', () => {
    const of = buckets(60, 1);
    of.spend(1, 0);
    for (let i = 0; i < 1_000; i++) expect(of.waitMs(1, 0)).toBe(1_000);
    expect(of.waitMs(1, 1_000)).toBe(0);
  });

  it('knows its subjects apart, and forgets those who have rested when there are too many', () => {
    const of = buckets(60, 1);
    of.spend(0, 0);
    expect(of.waitMs(1, 0)).toBe(0);
    for (let subject = 1; subject < 99_999; subject++) of.spend(subject, 0);
    of.spend(200_000, 5_000);
    of.spend(200_001, 5_000);
    of.spend(200_002, 5_000);
    expect(of.waitMs(200_000, 5_000)).toBe(1_000);
    expect(of.waitMs(0, 5_000)).toBe(0);
  });

  it('follows a changed limit at once', () => {
    const limits = { rate: 60, burst: 1 };
    const of = new GcraBuckets({ ratePerMinute: () => limits.rate, burst: () => limits.burst });
    of.spend(1, 0);
    expect(of.waitMs(1, 0)).toBe(1_000);
    limits.burst = 2;
    expect(of.waitMs(1, 0)).toBe(0);
  });
});
