import { expect, test } from 'vitest';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import {
  JOURNAL_BATCH_EVENTS_MAX,
  JOURNAL_LOADED_EVENTS,
  JOURNAL_LOADED_TURNS,
  JOURNAL_TURNS,
  JournalQueue,
} from '#core/ledger/embedded/journal-queue.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const event: LedgerEvent = { v: 1, agentId: 1, version: 1, atMs: 1, type: 'key_revoked', keyId: 1 };
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A queue whose disk takes no time; `sizes` has one number a commit. */
function open() {
  const sizes: number[] = [];
  const queue = new JournalQueue({
    clock: createFakeClock(0),
    lastSeq: 0,
    async commit({ firstSeq, lastSeq }) {
      sizes.push(lastSeq - firstSeq + 1);
    },
    onCommitted() {},
    onFailed(error) {
      throw error;
    },
  });
  const add = (count: number) => {
    let durable = queue.barrier();
    for (let i = 0; i < count; i++) durable = queue.add({ event, call: null, ended: null, video: null });
    return durable;
  };
  return { sizes, add };
}

test('under load one commit carries what some turns of the event loop have decided', async () => {
  const { sizes, add } = open();
  await add(JOURNAL_LOADED_EVENTS);
  const durable = add(5);
  for (let n = 1; n < JOURNAL_LOADED_TURNS; n++) {
    await turn();
    void add(5);
  }
  await durable;
  expect(sizes).toEqual([JOURNAL_LOADED_EVENTS, 5 * JOURNAL_LOADED_TURNS]);
});

test("a small commit lets what was decided with it go first, such as the call's request, and waits no longer", async () => {
  const { sizes, add } = open();
  await add(JOURNAL_LOADED_EVENTS - 1);
  void add(1);
  for (let n = 1; n < JOURNAL_TURNS; n++) await turn();
  expect(sizes).toEqual([JOURNAL_LOADED_EVENTS - 1]);
  await turn();
  expect(sizes).toEqual([JOURNAL_LOADED_EVENTS - 1, 1]);
});

test('a full batch waits for no company, however much is behind it', async () => {
  const { sizes, add } = open();
  await add(JOURNAL_LOADED_EVENTS);
  void add(2 * JOURNAL_BATCH_EVENTS_MAX + 1);
  await turn();
  await turn();
  expect(sizes).toEqual([JOURNAL_LOADED_EVENTS, JOURNAL_BATCH_EVENTS_MAX, JOURNAL_BATCH_EVENTS_MAX]);
});
