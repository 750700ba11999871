import { expect, it } from 'vitest';
import { SharedDeadline } from '../../api/inference/hold/shared-deadline.ts';
import { createFakeClock } from '../support/fake-clock.ts';

it('ends each wait once, at its own time or before, with one timer for all and none when nobody waits', () => {
  const clock = createFakeClock();
  const waits = new SharedDeadline(clock, 250);
  const ended: [name: string, atMs: number][] = [];
  const start = (name: string) => waits.start(() => ended.push([name, clock.monotonicMs()]));
  start('first');
  clock.advance(100);
  const second = start('second');
  start('third');
  expect(clock.pendingTimers()).toBe(1);
  clock.advance(50);
  waits.end(second);
  waits.end(second);
  clock.advance(1_000);
  expect(ended).toEqual([
    ['second', 150],
    ['first', 250],
    ['third', 350],
  ]);
  expect(clock.pendingTimers()).toBe(0);

  waits.end(start('alone'));
  expect([ended.at(-1), clock.pendingTimers()]).toEqual([['alone', 1_150], 0]);
});
