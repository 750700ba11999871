import { HOUR_MS } from '#core/clock.ts';
import { RESULT_LINK_MS, RESULTS_BYTES_MAX } from '#core/limits.ts';
import { after, at, charged, chargedBefore, does, type LedgerCase, ok, refused, START_MS } from '../case.ts';
import { agentWith, reserve, reserveVideo, settle, settleOrphan } from '../commands.ts';

const image = (call: number) => reserve(call, 1n, { kind: 'image' });
const stores = (bytes: number, untilMs = START_MS + RESULT_LINK_MS) => ({ stored: { bytes, untilMs } });
const full = (retryAfterMs: number) => refused('storage_full', { retryAfterMs });

export const storedCases: readonly LedgerCase[] = [
  {
    promise:
      'an image starts while the stored ones are below their bound, and waits for the first to go at it',
    rows: [
      ...agentWith(100n),
      does(image(1), ok),
      does(settle(1, 1n, stores(RESULTS_BYTES_MAX - 1)), charged(1n)),
      does(image(2), ok),
      does(settle(2, 1n, stores(1)), charged(1n)),
      does(image(3), full(RESULT_LINK_MS)),
      at(START_MS + RESULT_LINK_MS - 1),
      does(image(4), full(1)),
      after(1),
      does(image(5), ok),
    ],
  },
  {
    promise: 'images count until the hour is over in which their links end',
    rows: [
      ...agentWith(100n),
      does(image(1), ok),
      does(settle(1, 1n, stores(RESULTS_BYTES_MAX, START_MS + HOUR_MS + 1)), charged(1n)),
      does(image(2), full(2 * HOUR_MS)),
      at(START_MS + 2 * HOUR_MS - 1),
      does(image(3), full(1)),
      after(1),
      does(image(4), ok),
    ],
  },
  {
    promise: 'those of one hour are one sum, and the soonest hour is the wait',
    rows: [
      ...agentWith(100n),
      ...[1, 2, 3].map((call) => does(image(call), ok)),
      does(settle(1, 1n, stores(RESULTS_BYTES_MAX / 2, START_MS + 3 * HOUR_MS)), charged(1n)),
      does(settle(2, 1n, stores(RESULTS_BYTES_MAX / 2, START_MS + 3 * HOUR_MS)), charged(1n)),
      does(settle(3, 1n, stores(7, START_MS + HOUR_MS)), charged(1n)),
      does(image(4), full(HOUR_MS)),
      after(HOUR_MS),
      does(image(5), full(2 * HOUR_MS)),
    ],
  },
  {
    promise: 'a full storage stops images, and nothing else',
    rows: [
      ...agentWith(100n),
      does(image(1), ok),
      does(settle(1, 1n, stores(RESULTS_BYTES_MAX)), charged(1n)),
      does(reserve(2, 1n), ok),
      does(reserveVideo(3, 1n), ok),
      does(image(4), full(RESULT_LINK_MS)),
    ],
  },
  {
    promise: 'what is sent twice, by an orphan or by a call without images counts once or not at all',
    rows: [
      ...agentWith(100n),
      does(image(1), ok),
      does(reserve(2, 1n), ok),
      does(settle(1, 1n, stores(RESULTS_BYTES_MAX - 1)), charged(1n)),
      does(settle(1, 1n, stores(RESULTS_BYTES_MAX)), chargedBefore(1n)),
      does(settle(2, 1n, stores(RESULTS_BYTES_MAX)), charged(1n)),
      does(image(3), ok),
      after(HOUR_MS),
      does((world) => ({ ...settleOrphan(3)(world), ...stores(RESULTS_BYTES_MAX) }), charged(0n)),
      does(image(4), ok),
    ],
  },
];
