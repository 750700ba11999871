import { DAY_MS, HOUR_MS } from '#core/clock.ts';
import { after, day, does, type LedgerCase, ok, refused, repeated, START_MS, seesKey } from '../case.ts';
import { activeAgent, changeKey, keyLimits, putKey, revokeKey, setAgent } from '../commands.ts';

const overMcp = { actingKeyId: 1, madeOverMcp: true };
const limit = { limitNanoUsd: 50n, reset: 'daily' } as const;

export const putKeyCases: readonly LedgerCase[] = [
  {
    promise: 'a key is made with its label, its limit, and the key that made it',
    rows: [
      ...activeAgent,
      does(putKey(2, { ...overMcp, label: 'laptop', limit }), ok),
      seesKey(1, 2, {
        keyId: 2,
        label: 'laptop',
        prefix: 'fg_prefix002',
        createdAtMs: START_MS,
        createdByKeyId: 1,
        revokedAtMs: null,
        lastUsedAtMs: null,
        limit: { limitNanoUsd: 50n, reset: 'daily', spentNanoUsd: 0n, heldNanoUsd: 0n, resetsAtMs: day(1) },
      }),
      seesKey(1, 1, { createdByKeyId: null }),
    ],
  },
  {
    promise: 'an unknown agent gets no key',
    rows: [does(putKey(1, { agentId: 9 }), refused('unknown_agent'))],
  },
  {
    promise: 'a key with a limit makes no keys, and is told so about those that are made already, too',
    rows: [
      ...activeAgent,
      does(putKey(2, { limit }), ok),
      does(putKey(3, { actingKeyId: 2 }), refused('acting_key_limited')),
      does(putKey(1, { actingKeyId: 2, hash: 'hash-other' }), refused('acting_key_limited')),
      does(putKey(2, { actingKeyId: 2, limit }), refused('acting_key_limited')),
    ],
  },
  {
    promise: 'a revoked key, or one of another agent, makes no keys',
    rows: [
      ...activeAgent,
      does(putKey(2), ok),
      does(setAgent({ agentId: 2 }), ok),
      does(putKey(7, { agentId: 2 }), ok),
      does(revokeKey(2), ok),
      does(putKey(3, { actingKeyId: 2 }), refused('acting_key_revoked')),
      does(putKey(1, { actingKeyId: 2, hash: 'hash-other' }), refused('acting_key_revoked')),
      does(putKey(3, { actingKeyId: 7 }), refused('acting_key_revoked')),
      does(putKey(3, { actingKeyId: 99 }), refused('acting_key_revoked')),
    ],
  },
  {
    promise: 'an agent that is not active gets no new keys from its keys, but from the operator',
    rows: [
      ...activeAgent,
      does(setAgent({ sourceVersion: 2, status: 'suspended' }), ok),
      does(putKey(2, overMcp), refused('agent_not_active')),
      does(putKey(2), ok),
      does(setAgent({ sourceVersion: 3, status: 'inactive' }), ok),
      does(putKey(3, overMcp), refused('agent_not_active')),
    ],
  },
  {
    promise: 'an agent has at most ten active keys; a revoked one makes room',
    rows: [
      ...activeAgent,
      ...[2, 3, 4, 5, 6, 7, 8, 9, 10].map((keyId) => does(putKey(keyId), ok)),
      does(putKey(11), refused('too_many_active_keys')),
      does(putKey(11, overMcp), refused('too_many_active_keys')),
      does(changeKey(10, { label: 'still mine to change' }), ok),
      does(revokeKey(10), ok),
      does(putKey(11), ok),
      does(putKey(12), refused('too_many_active_keys')),
    ],
  },
  {
    promise: 'twenty keys are made over MCP in any 24 hours, revoked ones included',
    rows: [
      ...activeAgent,
      ...Array.from({ length: 20 }, (_, i) => i + 2).flatMap((keyId) => [
        does(putKey(keyId, overMcp), ok),
        does(revokeKey(keyId), ok),
        after(HOUR_MS),
      ]),
      does(putKey(50, overMcp), refused('too_many_mcp_keys')),
      does(putKey(51), ok),
      after(4 * HOUR_MS - 1),
      does(putKey(50, overMcp), refused('too_many_mcp_keys')),
      after(1),
      does(putKey(50, overMcp), ok),
      does(putKey(52, overMcp), refused('too_many_mcp_keys')),
      after(DAY_MS),
      does(putKey(52, overMcp), ok),
    ],
  },
  {
    promise: 'changing a key over MCP is not making one',
    rows: [
      ...activeAgent,
      does(putKey(2, { ...overMcp, limits: { ...keyLimits, mcpKeysPerDay: 1 } }), ok),
      does(changeKey(2, { actingKeyId: 1, label: 'b' }), ok),
      does(
        putKey(3, { ...overMcp, limits: { ...keyLimits, mcpKeysPerDay: 1 } }),
        refused('too_many_mcp_keys'),
      ),
    ],
  },
  {
    promise: 'a key is made once, by its id and its hash',
    rows: [
      ...activeAgent,
      does(putKey(2, { limit }), ok),
      does(putKey(2, { limit }), repeated),
      does(putKey(2, { limit, prefix: 'other' }), repeated),
      seesKey(1, 2, { prefix: 'fg_prefix002' }),
    ],
  },
  {
    promise: 'making a key is answered as it was, even if the key that asked has been revoked since',
    rows: [
      ...activeAgent,
      does(putKey(2, overMcp), ok),
      does(revokeKey(1), ok),
      does(putKey(2, overMcp), repeated),
      does(putKey(3, overMcp), refused('acting_key_revoked')),
    ],
  },
  {
    promise: 'making a key is answered as it was, even if the key has been changed since, which stays',
    rows: [
      ...activeAgent,
      does(putKey(2, overMcp), ok),
      does(changeKey(2, { label: 'renamed', limit }), ok),
      does(putKey(2, overMcp), repeated),
      seesKey(1, 2, { label: 'renamed', limit: { limitNanoUsd: 50n } }),
    ],
  },
  {
    promise: 'an id that another key has, and a hash that another key has, are taken',
    rows: [
      ...activeAgent,
      does(setAgent({ agentId: 2 }), ok),
      does(putKey(1, { hash: 'hash-other' }), refused('id_taken')),
      does(putKey(2, { hash: 'hash-1' }), refused('hash_taken')),
      does(putKey(2, { agentId: 2, hash: 'hash-1' }), refused('hash_taken')),
      does(putKey(1, { agentId: 2, hash: 'hash-other' }), ok),
    ],
  },
  {
    promise: 'a revoked key cannot be made again, and its hash stays taken',
    rows: [
      ...activeAgent,
      does(putKey(2), ok),
      does(revokeKey(2), ok),
      does(putKey(2), refused('key_revoked')),
      does(putKey(2, { hash: 'hash-other' }), refused('id_taken')),
      does(putKey(3, { hash: 'hash-2' }), refused('hash_taken')),
    ],
  },
];

export const revokeKeyCases: readonly LedgerCase[] = [
  {
    promise: 'revoking twice answers the same and keeps the first time',
    rows: [
      ...activeAgent,
      does(putKey(2), ok),
      does(revokeKey(2, { actingKeyId: 1 }), ok),
      after(1_000),
      does(revokeKey(2, { actingKeyId: 1 }), repeated),
      does(revokeKey(2), repeated),
      seesKey(1, 2, { revokedAtMs: START_MS }),
      seesKey(1, 1, { revokedAtMs: null }),
    ],
  },
  {
    promise: 'a key that does not exist, or belongs to another agent, is not revoked',
    rows: [
      does(revokeKey(1), refused('unknown_key')),
      ...activeAgent,
      does(setAgent({ agentId: 2 }), ok),
      does(putKey(7, { agentId: 2 }), ok),
      does(revokeKey(9), refused('unknown_key')),
      does(revokeKey(7), refused('unknown_key')),
      seesKey(2, 7, { revokedAtMs: null }),
    ],
  },
  {
    promise: 'a key with a limit revokes nothing, not even what is revoked already',
    rows: [
      ...activeAgent,
      does(putKey(2, { limit }), ok),
      does(putKey(3), ok),
      does(revokeKey(3, { actingKeyId: 2 }), refused('acting_key_limited')),
      does(revokeKey(2, { actingKeyId: 2 }), refused('acting_key_limited')),
      does(revokeKey(3), ok),
      does(revokeKey(3, { actingKeyId: 2 }), refused('acting_key_limited')),
    ],
  },
  {
    promise: 'a revoked key revokes nothing, but a repeated command is answered as it was',
    rows: [
      ...activeAgent,
      does(putKey(2), ok),
      does(revokeKey(1, { actingKeyId: 1 }), ok),
      does(revokeKey(1, { actingKeyId: 1 }), repeated),
      does(revokeKey(2, { actingKeyId: 1 }), refused('acting_key_revoked')),
      does(revokeKey(2, { actingKeyId: 99 }), refused('acting_key_revoked')),
    ],
  },
  {
    promise: 'a suspended agent can still revoke its keys',
    rows: [
      ...activeAgent,
      does(putKey(2), ok),
      does(setAgent({ sourceVersion: 2, status: 'suspended' }), ok),
      does(revokeKey(2, { actingKeyId: 1 }), ok),
    ],
  },
];
