import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { showProgress } from '#core/show-progress.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function terminal(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), { isTTY });
  return { stream, shown: () => String(stream.read() ?? '') };
}

test('a terminal hears of what takes over two seconds, each second, and nothing of it stays', () => {
  const clock = createFakeClock();
  const { stream, shown } = terminal(true);
  const progress = showProgress(stream, clock, 'Starting');
  clock.advance(1_999);
  expect(shown()).toBe('');
  progress.say('Reading the ledger');
  clock.advance(1);
  expect(shown()).toBe('\r\u001b[KReading the ledger … 2 s');
  clock.advance(1_000);
  expect(shown()).toBe('\r\u001b[KReading the ledger … 3 s');
  progress.end();
  expect(shown()).toBe('\r\u001b[K');
  clock.advance(5_000);
  expect(shown()).toBe('');
});

test('what may be late with its timers is told of at once', () => {
  const clock = createFakeClock();
  const { stream, shown } = terminal(true);
  const progress = showProgress(stream, clock, 'Starting', 0);
  expect(shown()).toBe('\r\u001b[KStarting … 0 s');
  progress.end();
  expect(clock.pendingTimers()).toBe(0);
});

test('what is quick says nothing, and neither do pipes and logs ever', () => {
  const clock = createFakeClock();
  const quick = terminal(true);
  showProgress(quick.stream, clock, 'Starting').end();
  const pipe = terminal(false);
  showProgress(pipe.stream, clock, 'Starting');
  clock.advance(10_000);
  expect([quick.shown(), pipe.shown()]).toEqual(['', '']);
});
