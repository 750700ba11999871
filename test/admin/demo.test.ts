import { createSecretKey, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashApiKey } from '#core/accounts/api-key.ts';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import { DAY_MS } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { Secret } from '#core/secret.ts';
import { banner, type Demo, type DemoOptions, ensureDemo } from '../../api/demo.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger, type MemoryLedger } from '../support/memory-ledger.ts';
import { TOKEN } from './admin-harness.ts';

let dataDir = '';
let clock: FakeClock;
let ledger: MemoryLedger;
const pepper = { id: 'test', secret: createSecretKey(randomBytes(32)) };

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'faregate-demo-'));
  clock = createFakeClock();
  ledger = createMemoryLedger({ clock });
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const start = (more: Partial<DemoOptions> = {}): Promise<Demo> =>
  ensureDemo({
    ledger,
    ids: createIdSource(clock),
    clock,
    pepper,
    dataDir,
    baseUrl: 'http://127.0.0.1:8080/v1',
    mcpUrl: 'http://127.0.0.1:8080/mcp',
    adminUrl: 'http://127.0.0.1:9090/admin',
    adminToken: new Secret(TOKEN),
    ...more,
  });

const file = () => JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
const lookUp = (key: string) => ledger.findKey([hashApiKey(key, pepper)]);

async function agent(agentId = 1) {
  const view = await ledger.readAgent(agentId);
  if (view === null || view === 'unavailable') throw new Error('no such agent');
  return view;
}

test('the first start makes an agent with $5 and a key, and writes down where everything is', async () => {
  const demo = await start();
  expect(demo).toMatchObject({ agentId: 1, status: 'active', spendableUsd: '5' });
  expect(file()).toEqual({
    base_url: 'http://127.0.0.1:8080/v1',
    mcp_url: 'http://127.0.0.1:8080/mcp',
    agent_id: 1,
    key: demo.key,
    admin_url: 'http://127.0.0.1:9090/admin',
    admin_token: TOKEN,
  });
  expect(await lookUp(demo.key)).toMatchObject({ found: true, agentId: 1, revoked: false });
  expect(statSync(join(dataDir, 'demo.json')).mode & 0o777).toBe(0o600);
  expect(readdirSync(dataDir)).toEqual(['demo.json']);
});

test('a later start uses the same key, adds nothing, and follows changed ports', async () => {
  const first = await start();
  const events = ledger.journal.length;
  clock.advance(20 * DAY_MS);
  const second = await start({ baseUrl: 'http://127.0.0.1:8081/v1' });
  expect(ledger.journal.length).toBe(events);
  expect(second).toMatchObject({ agentId: 1, key: first.key, spendableUsd: '0' });
  expect(file()).toMatchObject({ base_url: 'http://127.0.0.1:8081/v1', key: first.key });
});

test('a lost file is written again: same agent, no second credit, and only the new key lives', async () => {
  const first = await start();
  clock.advance(10 * DAY_MS);
  rmSync(join(dataDir, 'demo.json'));
  const second = await start();
  expect(second.agentId).toBe(1);
  expect(second.key).not.toBe(first.key);
  expect(await lookUp(first.key)).toMatchObject({ revoked: true });
  expect(await lookUp(second.key)).toMatchObject({ revoked: false });
  expect((await agent()).grantedNanoUsd).toBe(5_000_000_000n);
});

test.each(['', '{', '{"agent_id": 1}', '[]'])('a file that holds %j is written again', async (text) => {
  await start();
  writeFileSync(join(dataDir, 'demo.json'), text);
  const demo = await start();
  expect(await lookUp(demo.key)).toMatchObject({ found: true, agentId: 1 });
});

test('a revoked key is replaced, and a key of another data folder too', async () => {
  const first = await start();
  const [key] = (await agent()).keys;
  await executeDurably(ledger, { type: 'revoke_key', agentId: 1, keyId: key?.keyId ?? 0, actingKeyId: null });
  expect((await start()).key).not.toBe(first.key);
  ledger = createMemoryLedger({ clock });
  const other = await start();
  expect(await lookUp(other.key)).toMatchObject({ found: true, agentId: 1 });
});

test('starts that end before the file is written never leave more than one key that works', async () => {
  const dieAfter = (events: number): Ledger => ({
    ...ledger,
    async execute(command) {
      if (ledger.journal.length >= events) throw new Error('killed');
      return ledger.execute(command);
    },
  });
  for (let round = 0; round < 3; round++) {
    for (let more = 0; more < 4; more++) {
      const limit = ledger.journal.length + more;
      await start({ ledger: dieAfter(limit) }).catch(() => undefined);
      rmSync(join(dataDir, 'demo.json'), { force: true });
    }
  }
  const demo = await start();
  expect(await ledger.listAgents()).toHaveLength(1);
  const view = await agent();
  expect(view.grantedNanoUsd).toBe(5_000_000_000n);
  const working = view.keys.filter((key) => key.revokedAtMs === null);
  expect(working.map((key) => key.prefix)).toEqual([demo.key.slice(0, 12)]);
});

test("somebody else's agent that is named demo gets neither the credit nor a key", async () => {
  await executeDurably(ledger, {
    type: 'set_agent',
    agentId: 1,
    mode: 'create',
    source: 'launches',
    sourceVersion: 1,
    status: 'active',
    name: 'demo',
    token: 'DEMO',
  });
  const demo = await start();
  expect(demo.agentId).toBe(2);
  expect(await agent(1)).toMatchObject({ grantedNanoUsd: 0n, keys: [] });
});

test('keys that somebody gave the demo agent live on, and ten of them do not stop a start', async () => {
  await start();
  for (let keyId = 1; keyId <= 9; keyId++) {
    await executeDurably(ledger, {
      type: 'put_key',
      agentId: 1,
      keyId,
      label: 'mine',
      prefix: 'fg_',
      hash: `h${keyId}`,
      limit: null,
      actingKeyId: null,
      madeOverMcp: false,
      limits: { activeKeys: 10, mcpKeysPerDay: 20 },
    });
  }
  rmSync(join(dataDir, 'demo.json'));
  await start();
  const mine = (await agent()).keys.filter((key) => key.label === 'mine');
  expect(mine.every((key) => key.revokedAtMs === null)).toBe(true);
});

test('a ledger that does not answer stops it, and the file stays as it was', async () => {
  await start();
  const before = file();
  await ledger.close();
  await expect(start({ baseUrl: 'http://127.0.0.1:1/v1' })).rejects.toThrow('the ledger does not answer');
  expect(file()).toEqual(before);
});

const demo: Demo = {
  baseUrl: 'http://127.0.0.1:8080/v1',
  mcpUrl: 'http://127.0.0.1:8080/mcp',
  adminUrl: 'http://127.0.0.1:9090/admin',
  agentId: 1,
  key: 'fg_secret',
  file: join(process.cwd(), '.faregate', 'demo.json'),
  status: 'active',
  spendableUsd: '5',
};

test('the banner prints a call to paste, to a model of the simulator where there is one', () => {
  const text = banner(demo, [{ id: 'openai/dear' }, { id: 'faregate-sim/small' }]);
  expect(text).toContain('"model":"faregate-sim/small"');
  expect(text).toContain('make cli ARGS="agents list"');
  expect(text).toContain('.faregate/demo.json');
  expect(text).not.toMatch(/no credit left|suspended/);
  expect(banner(demo, [{ id: 'openai/dear' }])).toContain('"model":"openai/dear"');
  expect(banner(demo, [])).toContain('curl http://127.0.0.1:8080/v1/balance');
});

test('the banner says how to grant credit once it is gone, and how to lift a suspension', () => {
  expect(banner({ ...demo, spendableUsd: '0' }, [])).toContain('make cli ARGS="credit grant 1 5"');
  expect(banner({ ...demo, status: 'suspended' }, [])).toContain('make cli ARGS="agents activate 1"');
  const elsewhere = { ...demo, file: '/srv/gate/demo.json', spendableUsd: '0' };
  expect(banner(elsewhere, [])).toContain('FAREGATE_DATA=/srv/gate make cli');
});
