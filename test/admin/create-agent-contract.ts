import { expect, test } from 'vitest';
import { createAgent } from '#core/accounts/create-agent.ts';
import { setAgentStatus } from '#core/accounts/set-agent-status.ts';
import { AGENT_ID_MAX } from '#core/events/fed-agent-id.ts';
import type { AgentSummary, Ledger } from '#core/ledger/ledger.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

const MAKERS = 180;
const MANY = 60_000;
/** All but the first number, as an exchange may have announced them. */
const denseAgents: AgentSummary[] = Array.from({ length: MANY }, (_, n) => ({
  ...{ agentId: n + 2, name: 'an agent', token: null, status: 'active', createdAtMs: 0 },
}));

/** How agents get their ids, on any ledger. `open`: an empty one. */
export function testCreateAgent(open: (clock: FakeClock) => Promise<Ledger>): void {
  test('many who make agents at once get one each, with the name that they gave', async () => {
    const clock = createFakeClock();
    const ledger = await open(clock);
    const names = Array.from({ length: MAKERS }, (_, n) => `agent ${n}`);
    const made = await Promise.all(
      names.map(async (name) => {
        const result = await createAgent({ ledger }, { name, status: 'active', source: 'operator' });
        return { name, agentId: result.ok ? result.agentId : result.reason };
      }),
    );
    const agents = await ledger.listAgents();
    if (agents === 'unavailable') throw new Error('no agents');
    const byId = (a: { agentId: unknown }, b: { agentId: unknown }) => Number(a.agentId) - Number(b.agentId);
    expect(made.sort(byId)).toEqual(agents.map(({ agentId, name }) => ({ name, agentId })).sort(byId));
    expect(new Set(made.map(({ agentId }) => agentId)).size).toBe(MAKERS);
    await ledger.close();
  });

  test('one after the other they are numbered from 1', async () => {
    const clock = createFakeClock();
    const ledger = await open(clock);
    for (const agentId of [1, 2, 3]) {
      expect(await createAgent({ ledger }, { name: 'a', status: 'active', source: 'operator' })).toEqual({
        ok: true,
        agentId,
      });
    }
    await ledger.close();
  });

  test('an agent with a far number, which only a feed can name, moves no later number', async () => {
    const clock = createFakeClock();
    const ledger = await open(clock);
    const far = { type: 'set_agent', agentId: AGENT_ID_MAX, mode: 'upsert', source: 'a.feed' } as const;
    const command = { ...far, sourceVersion: 1, status: 'active', name: 'far', token: null } as const;
    await (await ledger.execute(command)).durable;
    for (const agentId of [1, 2]) {
      const made = await createAgent({ ledger }, { name: 'a', status: 'active', source: 'operator' });
      expect(made).toEqual({ ok: true, agentId });
    }
    await ledger.close();
  });

  test('two who want the one number that is free before very many others both get one', async () => {
    const clock = createFakeClock();
    const ledger = await open(clock);
    const listed = { ...bound(ledger), listAgents: async () => denseAgents };
    const make = () => createAgent({ ledger: listed }, { name: 'a', status: 'active', source: 'operator' });
    const ids = (await Promise.all([make(), make()])).map((made) => (made.ok ? made.agentId : 0));
    expect(Math.min(...ids)).toBe(1);
    expect(Math.max(...ids)).toBeGreaterThan(MANY);
    await ledger.close();
  });

  test('an agent whose making was asked for twice, because no answer came, is made once', async () => {
    const clock = createFakeClock();
    const ledger = await open(clock);
    const deaf: Ledger = {
      ...bound(ledger),
      async execute(command) {
        await (await ledger.execute(command)).durable;
        return ledger.execute(command);
      },
    };
    const made = await createAgent({ ledger: deaf }, { name: 'a', status: 'active', source: 'operator' });
    expect(made).toEqual({ ok: true, agentId: 1 });
    expect(await ledger.listAgents()).toHaveLength(1);
    await ledger.close();
  });

  test('its operator may suspend it at once, by a clock that has not moved or is behind', async () => {
    const clock = createFakeClock();
    const ledger = await open(clock);
    const deps = { ledger, clock };
    await createAgent(deps, { name: 'a', status: 'active', source: 'operator' });
    const said = await setAgentStatus(deps, { agentId: 1, source: 'operator', status: 'suspended' });
    expect(said).toMatchObject({ ok: true, agent: { status: 'suspended' } });
    await ledger.close();
  });
}

/** Its methods, which stand in a class. */
const bound = (ledger: Ledger): Ledger => ({
  execute: (command) => ledger.execute(command),
  findKey: (hashes) => ledger.findKey(hashes),
  recallKey: (hashes) => ledger.recallKey(hashes),
  readAgent: (agentId) => ledger.readAgent(agentId),
  listAgents: () => ledger.listAgents(),
  listEnded: (byMs) => ledger.listEnded(byMs),
  listHolds: () => ledger.listHolds(),
  readVideo: (agentId, videoId) => ledger.readVideo(agentId, videoId),
  findVideoByKey: (agentId, idempotencyKey) => ledger.findVideoByKey(agentId, idempotencyKey),
  listOpenVideos: () => ledger.listOpenVideos(),
  close: () => ledger.close(),
});
