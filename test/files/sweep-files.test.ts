import { expect, test } from 'vitest';
import type { FileStore } from '#core/files/file-store.ts';
import { FILES_SWEEP_MS, sweepFiles } from '#core/files/sweep-files.ts';
import type { Log } from '#core/log.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/gateway.ts';

function start(deleteEnded: FileStore['deleteEnded']) {
  const clock = createFakeClock();
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  const log: Log = { info: note, warn: note, error: note };
  return { clock, logged, sweep: sweepFiles({ files: { deleteEnded }, clock, log }) };
}

test('files are swept at the start and each hour, also after a store that failed, until the end', async () => {
  const sweptAtMs: number[] = [];
  const { clock, logged, sweep } = start(async (nowMs) => {
    sweptAtMs.push(nowMs);
    if (sweptAtMs.length === 2) throw new Error('no store');
  });
  const startedAtMs = clock.now();
  for (let swept = 1; swept <= 3; swept++) {
    await until(() => clock.pendingTimers() === 1);
    expect(sweptAtMs).toHaveLength(swept);
    clock.advance(FILES_SWEEP_MS);
  }
  await until(() => clock.pendingTimers() === 1);
  expect(sweptAtMs.map((atMs) => (atMs - startedAtMs) / FILES_SWEEP_MS)).toEqual([0, 1, 2, 3]);
  expect(logged).toEqual(['files not deleted']);
  await sweep.stop();
  expect(clock.pendingTimers()).toBe(0);
});

test('an end stops what is being deleted, says nothing of it, and nothing begins after it', async () => {
  const { clock, logged, sweep } = start(
    (_nowMs, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      }),
  );
  await sweep.stop();
  expect(logged).toEqual([]);
  expect(clock.pendingTimers()).toBe(0);
});
