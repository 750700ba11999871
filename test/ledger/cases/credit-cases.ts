import { DAY_MS } from '#core/clock.ts';
import type { MoveRefusal } from '#core/ledger/command.ts';
import { BALANCE_CAP_NANO_USD as CAP, LOG_KEPT_MS } from '#core/limits.ts';
import {
  after,
  at,
  charged,
  day,
  does,
  type LedgerCase,
  lots,
  ok,
  refused,
  repeated,
  START_MS,
  sees,
  seesNoAgent,
} from '../case.ts';
import {
  activeAgent,
  agentWith,
  expire,
  grant,
  moveIn,
  moveOut,
  reserve,
  setAgent,
  settle,
} from '../commands.ts';

export const grantCases: readonly LedgerCase[] = [
  {
    promise: 'credit is spendable at once and known by the day on which it ends',
    rows: [
      ...activeAgent,
      does(grant(10n, { grantId: 'a', expiresAtMs: day(7) }), ok),
      does(grant(5n, { grantId: 'b', expiresAtMs: day(7) }), ok),
      does(grant(3n, { grantId: 'c', expiresAtMs: day(3) }), ok),
      sees(1, { lots: lots([3, 3n, 0n], [7, 15n, 0n]), grantedNanoUsd: 18n }),
    ],
  },
  {
    promise: 'a grant counts once, however often it is told and whatever it says later',
    rows: [
      ...activeAgent,
      does(grant(10n), ok),
      does(grant(10n), repeated),
      does(grant(99n, { expiresAtMs: day(2) }), repeated),
      sees(1, { lots: lots([8, 10n, 0n]), grantedNanoUsd: 10n }),
      does(grant(10n, { agentId: 2 }), ok),
    ],
  },
  {
    promise: 'a grant is remembered until no lot that it could have filled is left',
    rows: [
      ...activeAgent,
      does(grant(10n), ok),
      at(day(8) - 1),
      does(grant(10n), repeated),
      at(START_MS + 8 * DAY_MS),
      does(grant(10n), refused('lot_ended')),
      sees(1, { grantedNanoUsd: 10n }),
    ],
  },
  {
    promise: 'credit ends at midnight and at no other time',
    rows: [
      ...activeAgent,
      does(grant(10n, { expiresAtMs: day(3) + 1 }), refused('not_midnight')),
      does(grant(10n, { expiresAtMs: day(3) - 1 }), refused('not_midnight')),
      sees(1, { lots: [], grantedNanoUsd: 0n }),
    ],
  },
  {
    promise: 'credit for a day that is over is refused',
    rows: [
      ...activeAgent,
      does(grant(10n, { expiresAtMs: day(0) }), refused('lot_ended')),
      does(grant(10n, { expiresAtMs: day(-30) }), refused('lot_ended')),
      at(day(1)),
      does(grant(10n, { expiresAtMs: day(1) }), refused('lot_ended')),
      does(grant(10n, { expiresAtMs: day(2) }), ok),
    ],
  },
  {
    promise: 'credit lasts at most eight days, so that no agent has more than eight lots',
    rows: [
      ...activeAgent,
      does(grant(10n, { expiresAtMs: day(9) }), refused('lot_too_far')),
      at(day(1) - 1),
      does(grant(10n, { expiresAtMs: day(9) }), refused('lot_too_far')),
      at(day(1)),
      does(grant(10n, { expiresAtMs: day(9) }), ok),
    ],
  },
  {
    promise: 'a balance reaches the cap and never passes it, held credit included',
    rows: [
      ...activeAgent,
      does(grant(CAP + 1n), refused('over_cap')),
      does(grant(CAP - 10n), ok),
      does(reserve(1, 1_000n), ok),
      does(grant(11n, { grantId: 'b' }), refused('over_cap')),
      does(grant(10n, { grantId: 'b' }), ok),
      does(grant(1n, { grantId: 'c' }), refused('over_cap')),
      does(settle(1, 1n), charged(1n)),
      does(grant(1n, { grantId: 'c' }), ok),
    ],
  },
  {
    promise: 'credit for an agent that nobody has announced makes it, inactive',
    rows: [
      seesNoAgent(7),
      does(grant(10n, { agentId: 7 }), ok),
      sees(7, { name: 'agent 7', token: null, status: 'inactive', lots: lots([8, 10n, 0n]), version: 1 }),
      does(grant(10n, { agentId: 8, expiresAtMs: day(9) }), refused('lot_too_far')),
      seesNoAgent(8),
    ],
  },
  {
    promise: 'a suspended agent still gets its credit',
    rows: [
      does(setAgent({ status: 'suspended' }), ok),
      does(grant(10n), ok),
      sees(1, { lots: lots([8, 10n, 0n]) }),
    ],
  },
];

export const expireCases: readonly LedgerCase[] = [
  {
    promise: 'nothing expires before its time',
    rows: [
      does(expire(), { ok: true, expiredNanoUsd: 0n }),
      seesNoAgent(1),
      ...activeAgent,
      does(expire(), { ok: true, expiredNanoUsd: 0n }),
      does(grant(10n, { expiresAtMs: day(1) }), ok),
      at(day(1) - 1),
      does(expire(), { ok: true, expiredNanoUsd: 0n }),
      sees(1, { lots: lots([1, 10n, 0n]), expiredNanoUsd: 0n }),
    ],
  },
  {
    promise: 'all that has ended expires together, once',
    rows: [
      ...activeAgent,
      ...[1, 2, 3].map((n) => does(grant(10n, { grantId: `g${n}`, expiresAtMs: day(n) }), ok)),
      at(day(2)),
      does(expire(), { ok: true, expiredNanoUsd: 20n }),
      does(expire(), { ok: true, expiredNanoUsd: 0n }),
      sees(1, { lots: lots([3, 10n, 0n]), expiredNanoUsd: 20n }),
    ],
  },
  {
    promise: 'what has not ended by the journal’s clock stays, whatever the ledger’s own shows',
    rows: [
      ...activeAgent,
      ...[1, 2].map((n) => does(grant(10n, { grantId: `g${n}`, expiresAtMs: day(n) }), ok)),
      at(day(2)),
      does(expire(1, day(2) - 1), { ok: true, expiredNanoUsd: 10n }),
      sees(1, { lots: lots([2, 10n, 0n]), expiredNanoUsd: 10n }),
      does(expire(1, day(2)), { ok: true, expiredNanoUsd: 10n }),
    ],
  },
  {
    promise: 'what a call holds does not expire',
    rows: [
      ...activeAgent,
      does(grant(10n, { expiresAtMs: day(1) }), ok),
      does(reserve(1, 4n), ok),
      at(day(1)),
      does(expire(), { ok: true, expiredNanoUsd: 6n }),
      sees(1, { lots: lots([1, 0n, 4n]), expiredNanoUsd: 6n }),
      does(settle(1, 4n), charged(4n)),
      does(expire(), { ok: true, expiredNanoUsd: 0n }),
      sees(1, { lots: [], expiredNanoUsd: 6n }),
    ],
  },
];

const moveRefused = (reason: MoveRefusal) => refused(reason, { repeated: false });
const moveRefusedBefore = (reason: MoveRefusal | 'other_terms') => refused(reason, { repeated: true });
const movedIn = (expiredNanoUsd = 0n) => ({ ok: true, repeated: false, expiredNanoUsd });
const movedInBefore = (expiredNanoUsd = 0n) => ({ ok: true, repeated: true, expiredNanoUsd });

export const moveCases: readonly LedgerCase[] = [
  {
    promise: 'credit moves from one agent to another and keeps its last day',
    rows: [
      ...agentWith(100n),
      does(setAgent({ agentId: 2 }), ok),
      does(moveOut('t1', 30n), ok),
      sees(1, { lots: lots([8, 70n, 0n]), movedOutNanoUsd: 30n }),
      does(moveIn('t1', 30n, { agentId: 2 }), movedIn()),
      sees(2, { lots: lots([8, 30n, 0n]), movedInNanoUsd: 30n, grantedNanoUsd: 0n }),
    ],
  },
  {
    promise: 'a trade moves once, however often it is told',
    rows: [
      ...agentWith(100n),
      does(moveOut('t1', 30n), ok),
      does(moveOut('t1', 30n), repeated),
      does(moveIn('t1', 30n, { agentId: 2 }), movedIn()),
      does(moveIn('t1', 30n, { agentId: 2 }), movedInBefore()),
      sees(1, { movedOutNanoUsd: 30n }),
      sees(2, { movedInNanoUsd: 30n }),
    ],
  },
  {
    promise:
      'the id of a sale moves nothing for another amount, lot or buyer, and its own terms stay accepted',
    rows: [
      ...agentWith(100n),
      does(moveOut('t1', 30n), ok),
      does(moveOut('t1', 31n), moveRefusedBefore('other_terms')),
      does(moveOut('t1', 29n), moveRefusedBefore('other_terms')),
      does(moveOut('t1', 30n, { expiresAtMs: day(7) }), moveRefusedBefore('other_terms')),
      does(moveOut('t1', 30n, { buyerAgentId: 3 }), moveRefusedBefore('other_terms')),
      does(moveOut('t1', 10n ** 18n), moveRefusedBefore('other_terms')),
      does(moveOut('t1', 30n), repeated),
      sees(1, { lots: lots([8, 70n, 0n]), movedOutNanoUsd: 30n }),
    ],
  },
  {
    promise: 'nobody sells more than is free in the lot, nor what a call holds, nor another lot',
    rows: [
      ...agentWith(100n),
      does(reserve(1, 40n), ok),
      does(moveOut('t1', 61n), moveRefused('balance')),
      does(moveOut('t2', 60n, { expiresAtMs: day(7) }), moveRefused('balance')),
      does(moveOut('t3', 60n), ok),
      does(moveOut('t4', 1n), moveRefused('balance')),
      does(moveOut('t5', 0n), moveRefused('nothing')),
      sees(1, { lots: lots([8, 0n, 40n]), movedOutNanoUsd: 60n }),
    ],
  },
  {
    promise: 'credit that has ended cannot be sold',
    rows: [
      ...activeAgent,
      does(grant(10n, { expiresAtMs: day(1) }), ok),
      at(day(1)),
      does(moveOut('t1', 10n, { expiresAtMs: day(1) }), moveRefused('lot_ended')),
      sees(1, { lots: lots([1, 10n, 0n]), movedOutNanoUsd: 0n }),
    ],
  },
  {
    promise: 'a refused sale stays refused, even when the credit has come since',
    rows: [
      ...activeAgent,
      does(moveOut('t1', 10n), moveRefused('balance')),
      does(grant(10n), ok),
      does(moveOut('t1', 10n), moveRefusedBefore('balance')),
      does(moveOut('t1', 1n, { buyerAgentId: 3 }), moveRefusedBefore('balance')),
      does(moveOut('t2', 10n), ok),
      sees(1, { movedOutNanoUsd: 10n }),
    ],
  },
  {
    promise: 'the sale of an agent that nobody knows is refused for good',
    rows: [
      does(moveOut('t1', 10n, { agentId: 5 }), moveRefused('unknown_agent')),
      does(moveOut('t1', 10n, { agentId: 5 }), moveRefusedBefore('unknown_agent')),
      sees(5, { status: 'inactive', lots: [] }),
    ],
  },
  {
    promise: 'bought credit is never refused: an unknown buyer is made, inactive',
    rows: [
      does(moveIn('t1', 10n, { agentId: 5 }), movedIn()),
      sees(5, { name: 'agent 5', status: 'inactive', lots: lots([8, 10n, 0n]), movedInNanoUsd: 10n }),
    ],
  },
  {
    promise: 'bought credit whose last day is over comes in expired',
    rows: [
      ...activeAgent,
      at(day(8)),
      does(moveIn('t1', 10n), movedIn(10n)),
      does(moveIn('t1', 10n), movedInBefore(10n)),
      sees(1, { lots: [], movedInNanoUsd: 10n, expiredNanoUsd: 10n }),
    ],
  },
  {
    promise: 'bought credit beyond the cap comes in expired, the rest is kept',
    rows: [
      ...activeAgent,
      does(grant(CAP - 4n), ok),
      does(moveIn('t1', 10n), movedIn(6n)),
      does(moveIn('t2', 10n), movedIn(10n)),
      sees(1, { lots: lots([8, CAP, 0n]), movedInNanoUsd: 20n, expiredNanoUsd: 16n }),
    ],
  },
  {
    promise: 'an agent can trade with itself',
    rows: [
      ...agentWith(10n),
      does(moveOut('t1', 4n), ok),
      does(moveIn('t1', 4n), movedIn()),
      does(moveOut('t1', 4n), repeated),
      does(moveIn('t1', 4n), movedInBefore()),
      sees(1, { lots: lots([8, 10n, 0n]), movedOutNanoUsd: 4n, movedInNanoUsd: 4n }),
    ],
  },
  {
    promise: 'a trade is remembered as long as the log can repeat it',
    rows: [
      ...agentWith(10n),
      does(moveOut('t1', 4n), ok),
      does(moveOut('t2', 99n), moveRefused('balance')),
      does(moveIn('t3', 4n), movedIn()),
      at(day(8) + LOG_KEPT_MS - 1),
      does(setAgent({ source: 'a', sourceVersion: 1 }), ok),
      does(moveOut('t1', 4n), repeated),
      does(moveOut('t2', 99n), moveRefusedBefore('balance')),
      does(moveIn('t3', 4n), movedInBefore()),
      after(DAY_MS),
      does(setAgent({ source: 'a', sourceVersion: 2 }), ok),
      does(moveOut('t1', 4n), moveRefused('lot_ended')),
      does(moveIn('t3', 4n), movedIn(4n)),
    ],
  },
];
