import {
  at,
  charged,
  day,
  does,
  type LedgerCase,
  ok,
  refused,
  repeated,
  START_MS,
  seesKey,
} from '../case.ts';
import {
  activeAgent,
  agentWith,
  changeKey,
  putKey,
  reserve,
  revokeKey,
  setAgent,
  settle,
} from '../commands.ts';

const overMcp = { actingKeyId: 1, madeOverMcp: true };
const limit = { limitNanoUsd: 50n, reset: 'daily' } as const;
const weekly = { limitNanoUsd: 50n, reset: 'weekly' } as const;

export const changeKeyCases: readonly LedgerCase[] = [
  {
    promise: 'a change of label or limit keeps what the key has spent and holds, and who made it',
    rows: [
      ...agentWith(100n),
      does(putKey(2, overMcp), ok),
      does(reserve(1, 20n, { keyId: 2 }), ok),
      does(settle(1, 15n), charged(15n)),
      does(reserve(2, 10n, { keyId: 2 }), ok),
      does(changeKey(2, { label: 'new', limit }), ok),
      seesKey(1, 2, {
        label: 'new',
        prefix: 'fg_prefix002',
        createdByKeyId: 1,
        createdAtMs: START_MS,
        lastUsedAtMs: START_MS,
        monthNanoUsd: 15n,
        limit: { limitNanoUsd: 50n, spentNanoUsd: 15n, heldNanoUsd: 10n },
      }),
      does(changeKey(2, { limit: null }), ok),
      seesKey(1, 2, { label: 'new', limit: null }),
    ],
  },
  {
    promise:
      'a change that rests on an older state of its key changes nothing, even where that state has come back',
    rows: [
      ...activeAgent,
      does(putKey(2), ok),
      seesKey(1, 2, { version: 3 }),
      does(changeKey(2, { limit: weekly, readVersion: 3 }), ok),
      does(changeKey(2, { limit, readVersion: 3 }), refused('changed_since')),
      seesKey(1, 2, { version: 4, limit: { limitNanoUsd: 50n, reset: 'weekly' } }),
      does(changeKey(2, { limit: null, readVersion: 4 }), ok),
      does(changeKey(2, { limit, readVersion: 3 }), refused('changed_since')),
      seesKey(1, 2, { version: 5, limit: null }),
      does(changeKey(2, { limit: null, readVersion: 3 }), repeated),
    ],
  },
  {
    promise: 'neither calls nor other keys keep a change from its key',
    rows: [
      ...agentWith(100n),
      does(putKey(2), ok),
      does(reserve(1, 20n, { keyId: 2 }), ok),
      does(settle(1, 15n), charged(15n)),
      does(changeKey(1, { label: 'other' }), ok),
      does(changeKey(2, { limit, readVersion: 4 }), ok),
      seesKey(1, 2, { version: 8, limit: { limitNanoUsd: 50n, reset: 'daily' } }),
    ],
  },
  {
    promise:
      'a key that was made or revoked after it was read is neither changed nor revoked by a late command',
    rows: [
      ...activeAgent,
      does(changeKey(1, { label: 'desk' }), ok),
      does(revokeKey(1, { readVersion: 2 }), refused('changed_since')),
      seesKey(1, 1, { revokedAtMs: null }),
      does(revokeKey(1, { readVersion: 3 }), ok),
      seesKey(1, 1, { version: 4, revokedAtMs: START_MS }),
      does(revokeKey(1, { readVersion: 2 }), repeated),
      does(changeKey(1, { label: 'lap', readVersion: 3 }), refused('key_revoked')),
    ],
  },
  {
    promise: 'a key whose making arrives late is not made once another key was made, changed or revoked',
    rows: [
      does(setAgent(), ok),
      does(putKey(1, { readVersion: 0 }), ok),
      does(putKey(2, { readVersion: 0 }), refused('changed_since')),
      does(putKey(1, { readVersion: 0 }), repeated),
      does(changeKey(1, { label: 'desk' }), ok),
      does(putKey(2, { readVersion: 2 }), refused('changed_since')),
      does(revokeKey(1), ok),
      does(putKey(2, { readVersion: 3 }), refused('changed_since')),
      does(putKey(2, { readVersion: 4 }), ok),
    ],
  },
  {
    promise: 'what is not named stays as it is at that moment, so that two changes both count',
    rows: [
      ...activeAgent,
      does(putKey(2), ok),
      does(changeKey(2, { label: 'laptop' }), ok),
      does(changeKey(2, { limit: weekly }), ok),
      seesKey(1, 2, { label: 'laptop', limit: { limitNanoUsd: 50n, reset: 'weekly' } }),
      does(changeKey(2, { label: 'desk' }), ok),
      seesKey(1, 2, { label: 'desk', limit: { limitNanoUsd: 50n, reset: 'weekly' } }),
    ],
  },
  {
    promise: 'a change to what is there already changes nothing',
    rows: [
      ...activeAgent,
      does(putKey(2, { limit }), ok),
      does(changeKey(2), repeated),
      does(changeKey(2, { label: 'key 2' }), repeated),
      does(changeKey(2, { limit }), repeated),
      does(changeKey(2, { label: 'key 2', limit }), repeated),
      does(changeKey(1, { limit: null }), repeated),
      does(changeKey(2, { limit: weekly }), ok),
      does(changeKey(2, { limit: { ...weekly, limitNanoUsd: 51n } }), ok),
      does(changeKey(2, { label: '' }), ok),
      seesKey(1, 2, { label: '', limit: { limitNanoUsd: 51n, reset: 'weekly' } }),
    ],
  },
  {
    promise: 'a changed key still starts calls with its hash, and its periods go on',
    rows: [
      ...agentWith(1_000n),
      does(reserve(1, 40n), ok),
      does(settle(1, 40n), charged(40n)),
      does(changeKey(1, { limit }), ok),
      does(
        reserve(2, 11n),
        refused('key_limit', {
          remainingNanoUsd: 10n,
          heldNanoUsd: 0n,
          limitNanoUsd: 50n,
          resetsAtMs: day(1),
        }),
      ),
      does(reserve(3, 10n), ok),
      at(day(1)),
      does(reserve(4, 40n), ok),
    ],
  },
  {
    promise: 'a key that does not exist, or belongs to another agent, is not changed',
    rows: [
      does(changeKey(1), refused('unknown_key')),
      ...activeAgent,
      does(setAgent({ agentId: 2 }), ok),
      does(putKey(7, { agentId: 2 }), ok),
      does(changeKey(9, { label: 'mine' }), refused('unknown_key')),
      does(changeKey(7, { label: 'mine' }), refused('unknown_key')),
      seesKey(2, 7, { label: 'key 7' }),
    ],
  },
  {
    promise: 'a revoked key is not changed, not even to what it is',
    rows: [
      ...activeAgent,
      does(putKey(2), ok),
      does(revokeKey(2), ok),
      does(changeKey(2, { limit }), refused('key_revoked')),
      does(changeKey(2), refused('key_revoked')),
      seesKey(1, 2, { limit: null }),
    ],
  },
  {
    promise: 'a key with a limit changes no keys, not even its own',
    rows: [
      ...activeAgent,
      does(putKey(2, { limit }), ok),
      does(changeKey(1, { actingKeyId: 2, label: 'other' }), refused('acting_key_limited')),
      does(changeKey(2, { actingKeyId: 2, limit: null }), refused('acting_key_limited')),
      does(changeKey(2, { actingKeyId: 2 }), refused('acting_key_limited')),
    ],
  },
  {
    promise:
      'a revoked key, or one of another agent, changes no keys; a repeated change is answered as it was',
    rows: [
      ...activeAgent,
      does(putKey(2), ok),
      does(putKey(3), ok),
      does(setAgent({ agentId: 2 }), ok),
      does(putKey(7, { agentId: 2 }), ok),
      does(changeKey(3, { actingKeyId: 2, label: 'desk' }), ok),
      does(revokeKey(2), ok),
      does(changeKey(3, { actingKeyId: 2, label: 'desk' }), repeated),
      does(changeKey(3, { actingKeyId: 2, label: 'other' }), refused('acting_key_revoked')),
      does(changeKey(3, { actingKeyId: 7, label: 'other' }), refused('acting_key_revoked')),
      does(changeKey(3, { actingKeyId: 99, label: 'other' }), refused('acting_key_revoked')),
    ],
  },
  {
    promise: 'an agent that is not active still changes its keys',
    rows: [
      ...activeAgent,
      does(setAgent({ sourceVersion: 2, status: 'suspended' }), ok),
      does(changeKey(1, { actingKeyId: 1, label: 'renamed' }), ok),
      seesKey(1, 1, { label: 'renamed' }),
    ],
  },
];
