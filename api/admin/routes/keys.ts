import { z } from 'zod';
import { changeKey, revokeKey } from '#core/accounts/change-key.ts';
import { createKey } from '#core/accounts/create-key.ts';
import { unreadKey } from '#core/accounts/unread-key.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { KEY_LIMIT_MAX_NANO_USD, KEY_LIMIT_MIN_NANO_USD } from '#core/limits.ts';
import { answerOrRefuse } from '../../contract/errors.ts';
import { oldestFirst, shapeNewKey, spendingLimitRange } from '../../contract/key-record.ts';
import { adminExamples } from '../examples.ts';
import { keyRefusal, readAgent, revokedKey, unavailable, unknownKey } from '../refusals.ts';
import { NewOperatorKey, OperatorKey, shapeKey } from '../schemas/key-record.ts';
import { id, oneLine, toNanoUsd, usdBetween } from '../schemas/values.ts';
import { audited, operatorProcedure, t } from '../trpc.ts';

const { key, newKey } = adminExamples;

const KeyList = z
  .object({ keys: z.array(OperatorKey).meta({ description: 'Oldest first, revoked ones too.' }) })
  .meta({ id: 'KeyList' });

const spendingLimit = z
  .strictObject(
    {
      usd: usdBetween(KEY_LIMIT_MIN_NANO_USD, KEY_LIMIT_MAX_NANO_USD, `from ${spendingLimitRange}`),
      reset: z.enum(['daily', 'weekly', 'monthly'], { error: '"daily", "weekly" or "monthly"' }),
    },
    { error: 'an object with `usd` and `reset`' },
  )
  .meta({ id: 'NewSpendingLimit', description: 'What a key may spend in each period.' });

export const keysRouter = t.router({
  list: operatorProcedure({
    method: 'GET',
    path: '/agents/{agent_id}/keys',
    operationId: 'listKeys',
    tag: 'Keys',
    summary: "List an agent's keys",
    description: 'Oldest first, revoked ones too. Secrets are never shown.',
    errors: ['invalid_request', 'not_found'],
    examples: { answer: { keys: [key] } },
  })
    .input(z.strictObject({ agent_id: id() }))
    .output(KeyList)
    .query(async ({ ctx, input }) => {
      const { keys } = await readAgent(ctx.deps.ledger, input.agent_id);
      return { keys: keys.toSorted(oldestFirst).map(shapeKey) };
    }),

  create: operatorProcedure({
    method: 'POST',
    path: '/agents/{agent_id}/keys',
    operationId: 'createKey',
    tag: 'Keys',
    summary: 'Create a key',
    description: 'The secret stands in this answer and nowhere else.',
    errors: ['not_found'],
    examples: {
      request: { label: 'web shop', spending_limit: { usd: '10', reset: 'daily' } },
      answer: newKey,
    },
  })
    .input(
      z.strictObject({
        agent_id: id(),
        label: oneLine(),
        spending_limit: spendingLimit
          .nullish()
          .meta({ description: 'Absent or null: none, and the key may manage keys over MCP.' }),
      }),
    )
    .use(audited)
    .output(NewOperatorKey)
    .mutation(async ({ ctx, input }) => {
      const { ledger, config, clock } = ctx.deps;
      const { agent_id: agentId, label, spending_limit: given } = input;
      const { limits } = config.current();
      const asked = { label, limit: given ? toLimit(given) : null, actingKeyId: null };
      const made = await createKey(ctx.deps, { agentId, limits, ...asked });
      if (!made.ok) return answerOrRefuse<never>(keyRefusal(made.reason, agentId, limits));
      const { keyId, key, prefix } = made;
      const agent = await ledger.readAgent(agentId);
      const keys = agent === null || agent === 'unavailable' ? [] : agent.keys;
      const view = keys.find((each) => each.keyId === keyId);
      return shapeNewKey(view ?? unreadKey({ keyId, prefix, nowMs: clock.now(), ...asked }), key);
    }),

  update: operatorProcedure({
    method: 'POST',
    path: '/agents/{agent_id}/keys/{key_id}/update',
    operationId: 'updateKey',
    tag: 'Keys',
    summary: 'Change a key',
    description:
      'Its label, its spending limit, or both; what is absent stays. A limit counts what the key has spent in its period ' +
      'before. Calls that run go on.',
    errors: ['not_found'],
    examples: {
      request: { label: 'web shop, EU', spending_limit: { usd: '10', reset: 'daily' } },
      answer: { ...key, label: 'web shop, EU' },
    },
  })
    .input(
      z
        .strictObject({
          agent_id: id(),
          key_id: id(),
          label: oneLine().optional(),
          spending_limit: spendingLimit
            .nullish()
            .meta({ description: 'Absent: stays. Null: none, and the key may manage keys over MCP.' }),
        })
        .refine(({ label, spending_limit }) => label !== undefined || spending_limit !== undefined, {
          error: 'an object with `label`, `spending_limit` or both',
        }),
    )
    .use(audited)
    .output(OperatorKey)
    .mutation(async ({ ctx, input }) => {
      const { ledger } = ctx.deps;
      const { agent_id: agentId, key_id: keyId, label = null, spending_limit: given } = input;
      const limit = given === undefined ? 'keep' : given && toLimit(given);
      const changed = await changeKey(ledger, { agentId, keyId, label, limit, actingKeyId: null });
      return changed.ok || changed.reason === 'unknown_key'
        ? showKey(ledger, agentId, keyId)
        : answerOrRefuse<never>(changed.reason === 'key_revoked' ? revokedKey(keyId) : unavailable());
    }),

  revoke: operatorProcedure({
    method: 'POST',
    path: '/agents/{agent_id}/keys/{key_id}/revoke',
    operationId: 'revokeKey',
    tag: 'Keys',
    summary: 'Revoke a key',
    description: 'It stops on its next call; running calls finish. Revoking twice answers the same.',
    errors: ['not_found'],
    examples: { answer: { ...key, revoked_at: '2026-11-21T11:00:00.000Z' } },
  })
    .input(z.strictObject({ agent_id: id(), key_id: id() }))
    .use(audited)
    .output(OperatorKey)
    .mutation(async ({ ctx, input }) => {
      const { ledger } = ctx.deps;
      const { agent_id: agentId, key_id: keyId } = input;
      const result = await revokeKey(ledger, { agentId, keyId, actingKeyId: null });
      if (!result.ok && result.reason === 'unavailable') return answerOrRefuse<never>(unavailable());
      return showKey(ledger, agentId, keyId);
    }),
});

const toLimit = ({ usd, reset }: z.output<typeof spendingLimit>) => ({
  limitNanoUsd: toNanoUsd(usd),
  reset,
});

/** Of an agent or a key that is not there it is refused. */
async function showKey(ledger: Ledger, agentId: number, keyId: number): Promise<OperatorKey> {
  const { keys } = await readAgent(ledger, agentId);
  const view = keys.find((each) => each.keyId === keyId);
  return view === undefined ? answerOrRefuse<never>(unknownKey(agentId, keyId)) : shapeKey(view);
}
