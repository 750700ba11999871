import { expect, test } from 'vitest';
import { createFakeClock } from './fake-clock.ts';

test('timers fire in the order in which they fall due, each at its own time', () => {
  const clock = createFakeClock(1_000);
  const fired: [string, number][] = [];
  clock.setTimer(20, () => fired.push(['b', clock.now()]));
  clock.setTimer(10, () => {
    fired.push(['a', clock.now()]);
    clock.setTimer(5, () => fired.push(['set on the way', clock.now()]));
  });
  clock.setTimer(31, () => fired.push(['late', clock.now()]));
  clock.advance(30);
  expect(fired).toEqual([
    ['a', 1_010],
    ['set on the way', 1_015],
    ['b', 1_020],
  ]);
  expect(clock.now()).toBe(1_030);
  expect(clock.monotonicMs()).toBe(30);
  expect(clock.pendingTimers()).toBe(1);
});

test('a cancelled timer does not fire', () => {
  const clock = createFakeClock();
  clock.setTimer(10, () => expect.unreachable()).cancel();
  clock.advance(20);
  expect(clock.pendingTimers()).toBe(0);
});

test('a step of the wall clock fires nothing and leaves durations alone', () => {
  const clock = createFakeClock(1_000);
  clock.setTimer(10, () => expect.unreachable());
  clock.set(500);
  expect(clock.now()).toBe(500);
  expect(clock.monotonicMs()).toBe(0);
  clock.advance(5);
  expect(clock.now()).toBe(505);
});
