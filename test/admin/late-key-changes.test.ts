import { createSecretKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { changeKey, revokeKey } from '#core/accounts/change-key.ts';
import { createKey } from '#core/accounts/create-key.ts';
import { setAgentStatus } from '#core/accounts/set-agent-status.ts';
import { createIdSource } from '#core/ids.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';
import type { Executed, Ledger } from '#core/ledger/ledger.ts';
import { defaultLimits } from '#core/limits.ts';
import { START_MS } from '../ledger/case.ts';
import { activeAgent } from '../ledger/commands.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';

const limit = (usd: bigint) => ({ limitNanoUsd: usd * 1_000_000_000n, reset: 'daily' }) as const;
const unavailable = { ok: false, reason: 'unavailable' };

/** Agent 1 with key 1, and a way to its ledger whose next command is answered as lost and arrives only later. */
async function lateWorld() {
  const clock = createFakeClock(START_MS);
  const ledger = createMemoryLedger({ clock });
  for (const row of activeAgent) await row({ ledger, clock, callIds: new Map() });
  const late: Command[] = [];
  const lateLedger: Ledger = {
    ...ledger,
    async execute<C extends Command>(command: C): Promise<Executed<ResultOf<C>>> {
      late.push(command);
      return { result: { ok: false, reason: 'unavailable' }, durable: Promise.resolve('durable') };
    },
  };
  const arrive = async () => {
    for (const command of late.splice(0)) await ledger.execute(command);
  };
  const readKeys = async () => {
    const agent = await ledger.readAgent(1);
    return agent === null || agent === 'unavailable' ? [] : agent.keys;
  };
  return { clock, ledger, lateLedger, arrive, readKeys };
}

const key1 = { agentId: 1, keyId: 1, label: null, actingKeyId: null };

describe('a request that was told "unavailable" and arrives late', () => {
  it('does not undo a newer change of the same key', async () => {
    const { ledger, lateLedger, arrive, readKeys } = await lateWorld();
    expect(await changeKey(lateLedger, { ...key1, limit: limit(5n) })).toEqual(unavailable);
    expect(await changeKey(ledger, { ...key1, limit: limit(1n) })).toMatchObject({ ok: true });
    await arrive();
    expect(await readKeys()).toMatchObject([{ limit: limit(1n) }]);
  });

  it('does not undo two newer changes that have brought the old limit back', async () => {
    const { ledger, lateLedger, arrive, readKeys } = await lateWorld();
    await changeKey(lateLedger, { ...key1, limit: limit(5n) });
    await changeKey(ledger, { ...key1, limit: limit(1n) });
    await changeKey(ledger, { ...key1, limit: null });
    await arrive();
    expect(await readKeys()).toMatchObject([{ limit: null }]);
  });

  it('does not revoke a key that was changed since', async () => {
    const { ledger, lateLedger, arrive, readKeys } = await lateWorld();
    expect(await revokeKey(lateLedger, { agentId: 1, keyId: 1, actingKeyId: null })).toEqual(unavailable);
    await changeKey(ledger, { ...key1, limit: limit(1n) });
    await arrive();
    expect(await readKeys()).toMatchObject([{ revokedAtMs: null, limit: limit(1n) }]);
  });

  it('makes no second key once its caller has made another one', async () => {
    const { clock, ledger, lateLedger, arrive, readKeys } = await lateWorld();
    const ids = createIdSource(clock);
    const pepper = { id: 'a', secret: createSecretKey(Buffer.alloc(32)) };
    const asked = { agentId: 1, label: 'new', limit: null, limits: defaultLimits, actingKeyId: null };
    expect(await createKey({ ledger: lateLedger, ids, pepper }, asked)).toEqual(unavailable);
    const made = await createKey({ ledger, ids, pepper }, asked);
    await arrive();
    expect((await readKeys()).map(({ keyId }) => keyId)).toEqual([1, made.ok && made.keyId]);
  });

  it('does not bring an older status back, whatever the clocks of the two processes say', async () => {
    const { clock, ledger, lateLedger, arrive } = await lateWorld();
    const operator = { agentId: 1, source: 'admin' };
    clock.set(START_MS + 60_000);
    expect(await setAgentStatus({ ledger: lateLedger }, { ...operator, status: 'active' })).toEqual(
      unavailable,
    );
    clock.set(START_MS);
    await setAgentStatus({ ledger }, { ...operator, status: 'suspended' });
    await arrive();
    expect(await ledger.readAgent(1)).toMatchObject({ status: 'suspended' });
  });
});

describe('a change of a key that another one overtakes', () => {
  it('is read and tried again, so both count', async () => {
    const { ledger, readKeys } = await lateWorld();
    let overtaken = false;
    const overtaking: Ledger = {
      ...ledger,
      async execute<C extends Command>(command: C): Promise<Executed<ResultOf<C>>> {
        if (!overtaken) {
          overtaken = true;
          await changeKey(ledger, { ...key1, label: 'desk', limit: 'keep' });
        }
        return ledger.execute<C>(command);
      },
    };
    expect(await changeKey(overtaking, { ...key1, limit: limit(1n) })).toEqual({ ok: true, repeated: false });
    expect(await readKeys()).toMatchObject([{ label: 'desk', limit: limit(1n) }]);
  });
});
