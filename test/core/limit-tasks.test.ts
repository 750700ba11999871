import { expect, test } from 'vitest';
import { limitTasks } from '#core/limit-tasks.ts';

test('runs no more tasks at one time than it may, each once and in order, also after some failed', async () => {
  const run = limitTasks(3);
  const started: number[] = [];
  let running = 0;
  let most = 0;
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) =>
      run(async () => {
        started.push(i);
        most = Math.max(most, ++running);
        for (let turns = 0; turns < i % 4; turns++) await null;
        running--;
        if (i % 5 === 0) throw new Error(`task ${i}`);
        return i;
      }),
    ),
  );
  expect(most).toBe(3);
  expect(started).toEqual(Array.from({ length: 20 }, (_, i) => i));
  expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(4);
});
