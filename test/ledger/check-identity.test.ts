import { beforeEach, describe, expect, test } from 'vitest';
import { checkIdentity } from '#core/ledger/machine/check-identity.ts';
import type { AgentState, Hold, KeyState, Lot } from '#core/ledger/machine/state.ts';
import { BALANCE_CAP_NANO_USD } from '#core/limits.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { charged, day, does, ok, START_MS } from './case.ts';
import { agentWith, finish, grant, reserve, settle } from './commands.ts';

interface Parts {
  agent: AgentState;
  lot: Lot;
  hold: Hold;
  pending: Hold;
  video: Hold;
  key: KeyState;
}

/** Each damage alone must be named; else the audit would pass it. */
const damages: [string, (parts: Parts) => void, RegExp][] = [
  ['credit from nowhere', ({ agent }) => (agent.grantedNanoUsd += 1n), /granted and moved in/],
  ['a charge too much', ({ agent }) => (agent.chargedNanoUsd += 1n), /granted and moved in/],
  ['an expiry too much', ({ agent }) => (agent.expiredNanoUsd += 1n), /granted and moved in/],
  ['a sale too much', ({ agent }) => (agent.movedOutNanoUsd += 1n), /granted and moved in/],
  ['a purchase too much', ({ agent }) => (agent.movedInNanoUsd += 1n), /granted and moved in/],
  ['free credit from nowhere', ({ lot }) => (lot.freeNanoUsd += 1n), /granted and moved in/],
  ['a lot below zero', ({ lot }) => (lot.freeNanoUsd = -1n), /below zero/],
  ['a lot that holds less than nothing', ({ lot }) => (lot.heldNanoUsd = -1n), /below zero/],
  ['lots out of order', ({ agent }) => agent.lots.reverse(), /out of order/],
  ['two lots of one day', ({ agent, lot }) => agent.lots.unshift({ ...lot }), /out of order/],
  [
    'a lot left behind empty',
    ({ agent }) => agent.lots.push({ expiresAtMs: day(20), freeNanoUsd: 0n, heldNanoUsd: 0n }),
    /is empty/,
  ],
  [
    'a lot that holds more than its calls',
    ({ lot }) => {
      lot.heldNanoUsd += 1n;
      lot.freeNanoUsd -= 1n;
    },
    /its calls/,
  ],
  [
    'a call that vanished with its hold',
    ({ agent, hold }) => {
      agent.holds.delete(hold.callId);
      agent.leases.delete(hold.callId);
    },
    /its calls/,
  ],
  ['a hold that its lots do not sum up to', ({ hold }) => (hold.nanoUsd += 1n), /allocated/],
  ['allocations out of order', ({ hold }) => hold.allocations.reverse(), /allocations out of order/],
  [
    'a call that is open and done',
    ({ agent, hold }) => agent.done.set(hold.callId, { nonce: 'n', chargedNanoUsd: 0n, settledAtMs: 1 }),
    /open and done/,
  ],
  ['a slot without a call', ({ agent }) => agent.leases.set(1, START_MS), /does not run/],
  ['a slot of a finished call', ({ agent, pending }) => agent.leases.set(pending.callId, 1), /does not run/],
  ['a slot of a video', ({ agent, video }) => agent.leases.set(video.callId, 1), /video has a slot/],
  ['a key that holds more than its calls', ({ key }) => (key.heldNanoUsd += 1n), /key 1: holds/],
  ['a key that is gone', ({ agent }) => agent.keys.delete(1), /no key 1/],
  ['more charged today than ever', ({ agent }) => (agent.chargedToday.nanoUsd = 999n), /charged today/],
  [
    'a balance above the cap',
    ({ agent, lot }) => {
      lot.freeNanoUsd += BALANCE_CAP_NANO_USD;
      agent.grantedNanoUsd += BALANCE_CAP_NANO_USD;
    },
    /above the cap/,
  ],
];

describe('the audit of an agent', () => {
  let parts: Parts;

  beforeEach(async () => {
    const clock = createFakeClock(START_MS);
    const ledger = createMemoryLedger({ clock });
    const world = { ledger, clock, callIds: new Map() };
    for (const row of [
      ...agentWith(100n),
      does(grant(10n, { grantId: 'soon', expiresAtMs: day(2) }), ok),
      does(reserve(1, 20n), ok),
      does(reserve(2, 5n), ok),
      does(reserve(3, 5n, { kind: 'video' }), ok),
      does(reserve(4, 5n), ok),
      does(finish(2), ok),
      does(settle(4, 3n), charged(3n)),
    ]) {
      await row(world);
    }
    const agent = ledger.state.agents.get(1);
    const lot = agent?.lots.at(-1);
    const [hold, pending, video] = agent?.holds.values() ?? [];
    const key = agent?.keys.get(1);
    if (!agent || !lot || !hold || !pending || !video || !key) throw new Error('the agent lacks a part');
    parts = { agent, lot, hold, pending, video, key };
  });

  test('finds nothing wrong with a sound agent', () => {
    expect(checkIdentity(parts.agent)).toBeNull();
  });

  test.each(damages)('names %s', (_, damage, problem) => {
    damage(parts);
    expect(checkIdentity(parts.agent)).toMatch(problem);
  });
});
