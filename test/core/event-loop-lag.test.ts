import { describe, expect, it } from 'vitest';
import { EventLoopLag } from '#core/capacity/event-loop-lag.ts';
import { watchLoopDelay } from '#core/capacity/loop-delay.ts';
import type { Clock } from '#core/clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** A clock whose timers fire late, because the thread was away. */
function lateClock(): Clock & { run(ms: number): void; away(ms: number): void } {
  const clock = createFakeClock();
  let awayMs = 0;
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs() + awayMs,
    setTimer: (delayMs, fire) => clock.setTimer(delayMs, fire),
    run: (ms) => clock.advance(ms),
    away(ms) {
      awayMs += ms;
    },
  };
}

describe('how late a thread is', () => {
  it('is nothing while its timers fire in time', () => {
    const clock = lateClock();
    const delay = watchLoopDelay(clock);
    clock.run(1_000);
    expect(delay.takeMs()).toBe(0);
    delay.stop();
  });

  it.each([
    ['away once for 110 ms of 1.1 seconds', [110], 990, 5.5],
    ['away for a second of two', [1_000], 1_000, 250],
    ['away half of the time, for 20 ms each', Array.from({ length: 50 }, () => 20), 1_000, 5],
    ['away half of the time, for 500 ms each', [500, 500], 1_000, 125],
  ])('%s: what comes at any moment waits so long', (_what, pauses, ranMs, waitMs) => {
    const clock = lateClock();
    const delay = watchLoopDelay(clock);
    for (const pauseMs of pauses) {
      clock.away(pauseMs);
      clock.run(ranMs / pauses.length);
    }
    expect(delay.takeMs()).toBeCloseTo(waitMs, 6);
    expect(delay.takeMs()).toBe(0);
    delay.stop();
  });

  it('is known while the thread is still at it, before any timer could fire', () => {
    const clock = lateClock();
    const delay = watchLoopDelay(clock);
    clock.away(1_020);
    expect(delay.takeMs()).toBeCloseTo(490, 0);
    delay.stop();
  });

  it('leaves no timer behind', () => {
    const clock = createFakeClock();
    const delay = watchLoopDelay(clock);
    clock.advance(100);
    delay.stop();
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('a process that is late with its work', () => {
  function start(limitMs = 100) {
    const clock = createFakeClock();
    const limits = { limitMs };
    let delayMs = 0;
    let asked = 0;
    const lag = new EventLoopLag({
      delay: {
        takeMs() {
          asked += 1;
          return delayMs;
        },
        stop() {},
      },
      clock,
      limitMs: () => limits.limitMs,
    });
    return {
      lag,
      limits,
      asked: () => asked,
      /** A second in which the thread was so late. */
      second(ms: number): boolean {
        delayMs = ms;
        clock.advance(1_000);
        return lag.isOver();
      },
      clock,
    };
  }

  it('takes calls up to its limit, and none beyond until it is at half of it', () => {
    const { second } = start();
    expect([0, 100, 101, 99, 51, 50, 99, 100, 101].map(second)).toEqual([
      ...[false, false, true, true, true, false, false, false, true],
    ]);
  });

  it('measures at most once a second, however many calls come', () => {
    const { lag, second, asked, clock } = start();
    second(500);
    for (let i = 0; i < 1_000; i++) expect(lag.isOver()).toBe(true);
    clock.advance(999);
    expect(lag.isOver()).toBe(true);
    expect(asked()).toBe(1);
    clock.advance(1);
    lag.isOver();
    expect(asked()).toBe(2);
  });

  it('is forgotten with the first calm second, and with a limit that was raised', () => {
    const { second, limits, lag } = start();
    expect(second(5_000)).toBe(true);
    expect(lag.lagMs()).toBe(5_000);
    expect(second(0)).toBe(false);
    expect(lag.lagMs()).toBe(0);
    expect(second(5_000)).toBe(true);
    limits.limitMs = 20_000;
    expect(second(5_000)).toBe(false);
  });
});
