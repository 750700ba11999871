import { expect, test } from 'vitest';
import { createEndSignals, SAME_SIGNAL_MS } from '#core/end-signals.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function watched() {
  const clock = createFakeClock();
  const happened: string[] = [];
  const signals = createEndSignals({ clock, exit: (code) => void happened.push(`exit ${code}`) });
  return { clock, happened, signals, end: () => void happened.push('end') };
}

test('a signal before there is anything to end ends the process at once', () => {
  const { happened, signals } = watched();
  signals.onSignal();
  expect(happened).toEqual(['exit 0']);
});

test('signals within two seconds of the first are the same one, however many come', () => {
  const { clock, happened, signals, end } = watched();
  signals.endBy(end);
  signals.onSignal();
  signals.onSignal();
  clock.advance(SAME_SIGNAL_MS / 2);
  signals.onSignal();
  clock.advance(SAME_SIGNAL_MS / 2);
  signals.onSignal();
  expect(happened).toEqual(['end']);
});

test('a signal later than two seconds after the first cuts what still runs', () => {
  const { clock, happened, signals, end } = watched();
  signals.endBy(end);
  signals.onSignal();
  clock.advance(SAME_SIGNAL_MS + 1);
  signals.onSignal();
  expect(happened).toEqual(['end', 'exit 1']);
});

test('a wall clock that steps between two signals changes nothing', () => {
  const { clock, happened, signals, end } = watched();
  signals.endBy(end);
  signals.onSignal();
  clock.set(clock.now() + 10 * SAME_SIGNAL_MS);
  signals.onSignal();
  expect(happened).toEqual(['end']);
});
