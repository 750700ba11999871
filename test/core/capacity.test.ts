import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Capacity } from '#core/capacity/capacity.ts';

const limits = { perCallNanoUsd: 50n, poolNanoUsd: 100n, runningCalls: 3 };
const calm = { isOver: () => false };

describe('what all calls may hold together', () => {
  it.each<[string, bigint[], bigint, string]>([
    ['a call that fits', [], 50n, 'admitted'],
    ['a call that is too dear by itself', [], 51n, 'over_per_call'],
    ['the last that fits', [50n], 50n, 'admitted'],
    ['one beyond the pool', [50n, 50n], 1n, 'pool_full'],
    ['one beyond the number', [1n, 1n, 1n], 1n, 'too_many_running'],
    ['its own fault first, then the money, then the number', [50n, 49n, 1n], 51n, 'over_per_call'],
    ['the money before the number', [50n, 49n, 1n], 1n, 'pool_full'],
    ['a free call takes a place too', [0n, 0n, 0n], 0n, 'too_many_running'],
  ])('%s', (_what, running, next, answer) => {
    const capacity = new Capacity(() => limits, calm);
    for (const nanoUsd of running) expect(capacity.admit(nanoUsd)).toBe('admitted');
    expect(capacity.admit(next)).toBe(answer);
  });

  it('never holds more than the pool, and nothing when all have ended', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: 60n })), (amounts) => {
        const capacity = new Capacity(() => limits, calm);
        const running = amounts.filter((nanoUsd) => capacity.admit(nanoUsd) === 'admitted');
        expect(capacity.heldNanoUsd).toBe(running.reduce((sum, nanoUsd) => sum + nanoUsd, 0n));
        expect(capacity.heldNanoUsd).toBeLessThanOrEqual(limits.poolNanoUsd);
        for (const nanoUsd of running) capacity.release(nanoUsd);
        expect([capacity.heldNanoUsd, capacity.runningCalls]).toEqual([0n, 0]);
      }),
    );
  });

  it('follows the operator’s numbers while calls run', () => {
    const changing = { ...limits };
    const capacity = new Capacity(() => changing, calm);
    capacity.admit(50n);
    changing.poolNanoUsd = 10n;
    expect(capacity.admit(1n)).toBe('pool_full');
    changing.poolNanoUsd = 1_000n;
    changing.perCallNanoUsd = 900n;
    expect(capacity.admit(900n)).toBe('admitted');
    expect(capacity.ceilingNanoUsd).toBe(900n);
  });
});
