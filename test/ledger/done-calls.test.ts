import { expect, test } from 'vitest';
import { DoneCalls } from '#core/ledger/done-calls.ts';
import { DONE_KEPT_MS } from '#core/limits.ts';
import { callIdAt, START_MS } from './case.ts';

const doneAt = (settledAtMs: number) => ({ nonce: 'n', chargedNanoUsd: 1n, settledAtMs });

test('a call that ended long after its neighbours keeps none of them, and is kept itself', () => {
  const ids = [0, 1, 2_000, 60_000].map((ms) => callIdAt(START_MS + ms));
  const [early, late, near, far] = ids;
  if (early === undefined || late === undefined || near === undefined || far === undefined) throw new Error();
  const done = new DoneCalls();
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
