import { DAY_MS, HOUR_MS } from '#core/clock.ts';
import { after, at, day, does, type LedgerCase, ok, refused, repeated, START_MS, sees } from '../case.ts';
import { activeAgent, agentWith, expire, grant, reserve, setAgent, startUpload } from '../commands.ts';

const limits = (uploadsPerDay: number) => ({ limits: { uploadsPerDay } });
const tooMany = (retryAfterMs: number) => refused('uploads_per_day', { retryAfterMs });

export const startUploadCases: readonly LedgerCase[] = [
  {
    promise: 'an upload costs nothing and holds nothing',
    rows: [
      ...agentWith(5n),
      does(startUpload('upl_1'), ok),
      sees(1, { version: 4, holds: [], chargedNanoUsd: 0n, lots: [{ freeNanoUsd: 5n, heldNanoUsd: 0n }] }),
    ],
  },
  {
    promise: 'an agent that is unknown, inactive or suspended starts no upload',
    rows: [
      does(startUpload('upl_1'), refused('unknown_agent')),
      does(grant(5n), ok),
      does(startUpload('upl_1'), refused('agent_inactive')),
      does(setAgent({ status: 'suspended' }), ok),
      does(startUpload('upl_1'), refused('agent_suspended')),
      does(setAgent({ sourceVersion: 2 }), ok),
      does(startUpload('upl_1'), ok),
    ],
  },
  {
    promise: 'an agent starts an upload with a nano-dollar of free credit, and none without',
    rows: [
      ...activeAgent,
      does(startUpload('upl_1'), refused('balance')),
      does(grant(1n), ok),
      does(startUpload('upl_1'), ok),
      does(reserve(1, 1n), ok),
      does(startUpload('upl_2'), refused('balance')),
    ],
  },
  {
    promise: 'credit that has ended starts no upload, expired or not',
    rows: [
      ...activeAgent,
      does(grant(5n, { expiresAtMs: day(1) }), ok),
      at(day(1) - 1),
      does(startUpload('upl_1'), ok),
      at(day(1)),
      does(startUpload('upl_2'), refused('balance')),
      does(expire(), { ok: true, expiredNanoUsd: 5n }),
      does(startUpload('upl_2'), refused('balance')),
    ],
  },
  {
    promise:
      'so many are started in any 24 hours; the next waits until the oldest is a day old, to the millisecond',
    rows: [
      ...agentWith(5n),
      does(startUpload('upl_1', limits(3)), ok),
      after(HOUR_MS),
      does(startUpload('upl_2', limits(3)), ok),
      does(startUpload('upl_3', limits(3)), ok),
      after(HOUR_MS),
      does(startUpload('upl_4', limits(3)), tooMany(22 * HOUR_MS)),
      after(22 * HOUR_MS - 1),
      does(startUpload('upl_4', limits(3)), tooMany(1)),
      after(1),
      does(startUpload('upl_4', limits(3)), ok),
      does(startUpload('upl_5', limits(3)), tooMany(HOUR_MS)),
      after(HOUR_MS),
      does(startUpload('upl_5', limits(3)), ok),
      does(startUpload('upl_6', limits(3)), ok),
      does(startUpload('upl_7', limits(3)), tooMany(23 * HOUR_MS)),
    ],
  },
  {
    promise: 'all two hundred of the default count, and the one after them waits',
    rows: [
      ...agentWith(5n),
      ...Array.from({ length: 200 }, (_, i) => [does(startUpload(`upl_${i}`), ok), after(1_000)]).flat(),
      does(startUpload('upl_more'), tooMany(DAY_MS - 200_000)),
      at(START_MS + DAY_MS),
      does(startUpload('upl_more'), ok),
      does(startUpload('upl_yet_more'), tooMany(1_000)),
    ],
  },
  {
    promise: 'after the operator has lowered the limit, as many have to leave as are too many',
    rows: [
      ...agentWith(5n),
      does(startUpload('upl_1'), ok),
      after(HOUR_MS),
      does(startUpload('upl_2'), ok),
      after(HOUR_MS),
      does(startUpload('upl_3'), ok),
      does(startUpload('upl_4', limits(2)), tooMany(23 * HOUR_MS)),
      does(startUpload('upl_4', limits(4)), ok),
    ],
  },
  {
    promise: 'an upload that is started twice within a day counts once, whatever has changed since',
    rows: [
      ...agentWith(5n),
      does(startUpload('upl_1', limits(2)), ok),
      after(HOUR_MS),
      does(startUpload('upl_1', limits(2)), repeated),
      does(startUpload('upl_2', limits(2)), ok),
      does(startUpload('upl_1', limits(2)), repeated),
      does(setAgent({ sourceVersion: 2, status: 'suspended' }), ok),
      does(startUpload('upl_1', limits(2)), repeated),
      does(setAgent({ sourceVersion: 3 }), ok),
      at(START_MS + DAY_MS - 1),
      does(startUpload('upl_1', limits(2)), repeated),
      at(START_MS + DAY_MS),
      does(startUpload('upl_1', limits(2)), ok),
      does(startUpload('upl_3', limits(2)), tooMany(HOUR_MS)),
    ],
  },
  {
    promise: 'each agent has its own uploads, and a refused one does not count',
    rows: [
      ...agentWith(5n),
      does(setAgent({ agentId: 2 }), ok),
      does(grant(5n, { agentId: 2 }), ok),
      does(startUpload('upl_1', limits(1)), ok),
      does(startUpload('upl_2', limits(1)), tooMany(DAY_MS)),
      does(startUpload('upl_2', limits(2)), ok),
      does(startUpload('upl_1', { agentId: 2, ...limits(1) }), ok),
    ],
  },
  {
    promise: 'uploads of one moment count each',
    rows: [
      ...agentWith(5n),
      does(startUpload('upl_b', limits(2)), ok),
      does(startUpload('upl_a', limits(2)), ok),
      does(startUpload('upl_c', limits(2)), tooMany(DAY_MS)),
      after(DAY_MS),
      does(startUpload('upl_c', limits(2)), ok),
      does(startUpload('upl_d', limits(2)), ok),
    ],
  },
];
