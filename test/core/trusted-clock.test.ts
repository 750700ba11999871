import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { trustedClock } from '#core/trusted-clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** Of a machine whose clock has gone well since it started. */
function provenClock() {
  const machine = createFakeClock();
  const clock = trustedClock(machine);
  machine.advance(5 * MINUTE_MS);
  clock.now();
  return { machine, clock };
}

test('a machine that believes for some minutes that it is next week moves no time of ours', () => {
  const { machine, clock } = provenClock();
  const before = clock.now();
  for (const stepMs of [8 * DAY_MS, -DAY_MS]) {
    machine.set(machine.now() + stepMs);
    expect(clock.now()).toBe(before);
    machine.set(machine.now() - stepMs);
    expect(clock.now()).toBe(before);
  }
});

test('a step that lasts five minutes is believed, as after a sleep, and time goes on until then', () => {
  const { machine, clock } = provenClock();
  const before = clock.now();
  machine.set(machine.now() + 8 * HOUR_MS);
  expect(clock.now()).toBe(before);
  machine.advance(5 * MINUTE_MS - SECOND_MS);
  expect(clock.now()).toBe(before + 5 * MINUTE_MS - SECOND_MS);
  machine.advance(SECOND_MS);
  expect(clock.now()).toBe(machine.now());
  machine.advance(HOUR_MS);
  expect(clock.now()).toBe(machine.now());
});

test('two steps are each doubted for themselves', () => {
  const { machine, clock } = provenClock();
  const before = clock.now();
  for (let i = 0; i < 10; i++) {
    machine.set(machine.now() + HOUR_MS);
    machine.advance(MINUTE_MS);
    expect(clock.now()).toBe(before + (i + 1) * MINUTE_MS);
  }
});

test('what a time server corrects by little is followed at once, however often', () => {
  const { machine, clock } = provenClock();
  for (let i = 0; i < 100; i++) {
    machine.set(machine.now() + MINUTE_MS);
    machine.advance(SECOND_MS);
    expect(clock.now()).toBe(machine.now());
  }
});

test('a machine that learns the time within five minutes of our start is followed at once', () => {
  const machine = createFakeClock();
  const clock = trustedClock(machine);
  for (const stepMs of [30 * DAY_MS, -DAY_MS]) {
    machine.set(machine.now() + stepMs);
    machine.advance(MINUTE_MS);
    expect(clock.now()).toBe(machine.now());
  }
});
