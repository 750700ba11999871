import { expect, test } from 'vitest';
import { createReloads } from '../../api/start/workers/worker-parts.ts';

test('a role that waited for its store while the configuration changed works by the latest one, and hears of the next', () => {
  const reloads = createReloads<number>();
  const early: number[] = [];
  const late: number[] = [];
  reloads.listen((config) => early.push(config));
  reloads.tell(2);
  reloads.tell(3);
  reloads.listen((config) => late.push(config));
  reloads.tell(4);
  expect({ early, late }).toEqual({ early: [2, 3, 4], late: [3, 4] });
});

test('a role that starts before any change begins with what the process started with', () => {
  const heard: number[] = [];
  createReloads<number>().listen((config) => heard.push(config));
  expect(heard).toEqual([]);
});
