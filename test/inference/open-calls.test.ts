import { describe, expect, it } from 'vitest';
import type { Log } from '#core/log.ts';
import { OpenCalls, type Ticking } from '../../api/inference/hold/open-calls.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

function call(onTick: (nowMs: number) => void = () => {}): Ticking & { ticks: number; ended: boolean } {
  return {
    callId: 0,
    ticks: 0,
    ended: false,
    tick(nowMs) {
      this.ticks++;
      onTick(nowMs);
    },
    endForShutdown() {
      this.ended = true;
    },
  };
}

describe('running calls', () => {
  it('end with a drain, also those whose hold comes only then', () => {
    const calls = new OpenCalls(createFakeClock(), silent);
    const [open, late] = [call(), call()];
    calls.add(open);
    expect(calls.endAll()).toBe(1);
    calls.add(late);
    expect([open.ended, late.ended, calls.endedByShutdown]).toEqual([true, true, 2]);
  });

  it('are looked at once a second by one timer, and by none when there are none', () => {
    const clock = createFakeClock();
    const calls = new OpenCalls(clock, silent);
    expect(clock.pendingTimers()).toBe(0);
    const [one, two] = [call(), call()];
    calls.add(one);
    calls.add(two);
    expect([calls.size, clock.pendingTimers()]).toEqual([2, 1]);
    clock.advance(3_000);
    expect([one.ticks, two.ticks]).toEqual([3, 3]);
    calls.delete(one);
    clock.advance(1_000);
    expect([one.ticks, two.ticks]).toEqual([3, 4]);
    calls.delete(two);
    clock.advance(1_000);
    expect([calls.size, clock.pendingTimers()]).toEqual([0, 0]);
    calls.add(one);
    clock.advance(1_000);
    expect(one.ticks).toBe(4);
  });

  it('may end, and begin, while they are looked at', () => {
    const clock = createFakeClock();
    const calls = new OpenCalls(clock, silent);
    const late = call();
    const doomed = call();
    const first = call(() => {
      calls.delete(first);
      calls.delete(doomed);
      calls.add(late);
    });
    calls.add(first);
    calls.add(doomed);
    clock.advance(1_000);
    expect([first.ticks, doomed.ticks, calls.size]).toEqual([1, 0, 1]);
    clock.advance(1_000);
    expect(late.ticks).toBeGreaterThan(0);
  });

  it('all end where a drain has no more time, and are counted', () => {
    const calls = new OpenCalls(createFakeClock(), silent);
    const [one, gone] = [call(), call()];
    calls.add(one);
    calls.add(gone);
    calls.delete(gone);
    expect(calls.endAll()).toBe(1);
    expect([one.ended, gone.ended, calls.endedByShutdown]).toEqual([true, false, 1]);
  });

  it('are told the time', () => {
    const clock = createFakeClock();
    const calls = new OpenCalls(clock, silent);
    const times: number[] = [];
    calls.add(call((nowMs) => void times.push(nowMs)));
    const startMs = clock.monotonicMs();
    clock.advance(2_000);
    expect(times).toEqual([startMs + 1_000, startMs + 2_000]);
  });
});
