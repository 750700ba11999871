import { expect, test } from 'vitest';
import { RecentlySettled } from '#core/ledger/machine/recently-settled.ts';
import { DONE_KEPT_MS } from '#core/limits.ts';
import { callIdAt, START_MS } from './case.ts';

const doneAt = (settledAtMs: number) => ({ nonce: 'n', chargedNanoUsd: 1n, settledAtMs });

test('a call that ended long after its neighbours keeps none of them, and is kept itself', () => {
  const ids = [0, 1, 2_000, 60_000].map((ms) => callIdAt(START_MS + ms));
  const [early, late, near, far] = ids;
  if (early === undefined || late === undefined || near === undefined || far === undefined) throw new Error();
  const done = new RecentlySettled();
  done.set(early, doneAt(START_MS));
  done.set(near, doneAt(START_MS + 2_000));
  done.set(far, doneAt(START_MS + 60_000));
  done.set(late, doneAt(START_MS + 1_800_000));
  expect([...done].map(([callId]) => callId).sort((a, b) => a - b)).toEqual(ids);
  done.forget(START_MS + DONE_KEPT_MS + 60_000);
  expect([...done]).toEqual([[late, doneAt(START_MS + 1_800_000)]]);
  expect([done.has(early), done.has(late)]).toEqual([false, true]);
  done.forget(START_MS + DONE_KEPT_MS + 1_800_000);
  expect([...done]).toEqual([]);
});

test('an ended call is found wherever it stands among those of its seconds, and an id that is none never', () => {
  const ids = [5, 1, 9, 3].map((step) => callIdAt(START_MS, step));
  const done = new RecentlySettled(ids.map((id, i) => [id, doneAt(START_MS + i)]));
  expect(ids.map((id) => done.get(id)?.settledAtMs)).toEqual([0, 1, 2, 3].map((ms) => START_MS + ms));
  expect([0, 2, 4, 10].map((step) => done.has(callIdAt(START_MS, step)))).toEqual(Array(4).fill(false));
});
