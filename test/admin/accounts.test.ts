import { createSecretKey, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAgent } from '#core/accounts/create-agent.ts';
import { createKey } from '#core/accounts/create-key.ts';
import { setAgentStatus } from '#core/accounts/set-agent-status.ts';
import { defaultLimits } from '#core/limits.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';

const world = () => {
  const clock = createFakeClock();
  return { clock, ledger: createMemoryLedger({ clock }) };
};

test('two who speak with one voice in the same millisecond are both heard, in their order', async () => {
  const { ledger } = world();
  await createAgent({ ledger }, { name: 'a', status: 'inactive', source: 'operator' });
  const say = (status: 'active' | 'suspended') =>
    setAgentStatus({ ledger }, { agentId: 1, source: 'operator', status });
  const answers = await Promise.all([say('suspended'), say('active')]);
  expect(answers).toMatchObject([{ ok: true }, { ok: true }]);
  const said = ledger.journal.filter((event) => event.type === 'agent_set').map((event) => event.status);
  expect(said).toEqual(['inactive', 'suspended', 'active']);
});

test('a key whose id another process has drawn gets another id, and both keys work', async () => {
  const { ledger } = world();
  await createAgent({ ledger }, { name: 'a', status: 'active', source: 'operator' });
  const pepper = { id: 'test', secret: createSecretKey(randomBytes(32)) };
  const drawn = [7, 7, 8];
  const ids = { next: () => drawn.shift() ?? 9 };
  const key = () =>
    createKey(
      { ledger, ids, pepper },
      { agentId: 1, label: 'k', limit: null, limits: defaultLimits, actingKeyId: null },
    );
  expect(await key()).toMatchObject({ ok: true, keyId: 7 });
  expect(await key()).toMatchObject({ ok: true, keyId: 8 });
  const view = await ledger.readAgent(1);
  expect(view).toMatchObject({ keys: [{ keyId: 7 }, { keyId: 8 }] });
});
