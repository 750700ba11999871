import { createSecretKey, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashApiKey } from '#core/accounts/api-key.ts';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import type { AuditLine } from '#core/audit-log/audit-log.ts';
import { DAY_MS } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { Secret } from '#core/secret.ts';
import type { DemoMode } from '../../api/config/config.ts';
import { type Demo, type DemoOptions, ensureDemo } from '../../api/start/demo.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger, type MemoryLedger } from '../support/memory-ledger.ts';
import { TOKEN } from './admin-harness.ts';

let dataDir = '';
let clock: FakeClock;
let ledger: MemoryLedger;
let lines: AuditLine[];
const pepper = { id: 'test', secret: createSecretKey(randomBytes(32)) };

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'faregate-demo-'));
  clock = createFakeClock();
  ledger = createMemoryLedger({ clock });
  lines = [];
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const start = (more: Partial<DemoOptions> = {}, mode: DemoMode = 'first-start'): Promise<Demo | null> =>
  ensureDemo(
    {
      ledger,
      audit: { write: async (line) => void lines.push(line) },
      ids: createIdSource(clock),
      clock,
      pepper,
      dataDir,
      baseUrl: 'http://127.0.0.1:8080/v1',
      mcpUrl: 'http://127.0.0.1:8080/mcp',
      adminUrl: 'http://127.0.0.1:9090/admin',
      adminToken: new Secret(TOKEN),
      ...more,
    },
    mode,
  );

const path = () => join(dataDir, 'demo.json');
const file = () => JSON.parse(readFileSync(path(), 'utf8'));
const lookUp = (key: string) => ledger.findKey([hashApiKey(key, pepper)]);

async function agent(agentId = 1) {
  const view = await ledger.readAgent(agentId);
  if (view === null || view === 'unavailable') throw new Error('no such agent');
  return view;
}

async function revokeKeys(): Promise<void> {
  for (const { keyId } of (await agent()).keys) {
    await executeDurably(ledger, {
      type: 'revoke_key',
      readVersion: null,
      agentId: 1,
      keyId,
      actingKeyId: null,
    });
  }
}

const makeAgent = (agentId: number, name: string) =>
  executeDurably(ledger, {
    type: 'set_agent',
    agentId,
    mode: 'create',
    source: 'launches',
    sourceVersion: 1,
    status: 'active',
    name,
    token: 'TOKEN',
  });

test('the first start makes an agent with $5 and a key, and writes down where everything is', async () => {
  expect(await start()).toEqual({
    agentId: 1,
    file: path(),
    key: 'usable',
    status: 'active',
    spendableUsd: '5',
  });
  const { key } = file();
  expect(file()).toEqual({
    base_url: 'http://127.0.0.1:8080/v1',
    mcp_url: 'http://127.0.0.1:8080/mcp',
    agent_id: 1,
    key: expect.stringMatching(/^fg_/),
    admin_url: 'http://127.0.0.1:9090/admin',
    admin_token: TOKEN,
  });
  expect(await lookUp(key)).toMatchObject({ found: true, agentId: 1, revoked: false });
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  expect(readdirSync(dataDir)).toEqual(['demo.json']);
});

test('its agent, its credit and its key are in the audit log, begun and done, and no secret is', async () => {
  await start();
  expect(lines.map(({ action, result }) => `${action} ${result}`)).toEqual([
    'agents.create started',
    'agents.create ok',
    'credit.grant started',
    'credit.grant ok',
    'keys.create started',
    'keys.create ok',
  ]);
  const [{ keyId } = { keyId: 0 }] = (await agent()).keys;
  const done = lines.filter(({ result }) => result === 'ok').map(({ subject }) => subject);
  expect(done).toEqual([
    { name: 'demo', status: 'active', id: 1 },
    { agent_id: 1, usd: '5', days: 7, grant_id: 'demo', repeated: false },
    { agent_id: 1, label: 'demo', spending_limit: 'none', id: keyId },
  ]);
  expect(JSON.stringify(lines)).not.toContain(file().key);
  lines = [];
  await start();
  expect(lines).toEqual([]);
});

test('nothing is made when the audit log cannot be written', async () => {
  const audit = { write: async () => Promise.reject(new Error('disk full')) };
  await expect(start({ audit })).rejects.toThrow('disk full');
  expect(await ledger.listAgents()).toEqual([]);
});

test('a later start uses the same key, adds nothing, and follows changed ports', async () => {
  await start();
  const { key } = file();
  const events = ledger.journal.length;
  clock.advance(20 * DAY_MS);
  const second = await start({ baseUrl: 'http://127.0.0.1:8081/v1' });
  expect(ledger.journal.length).toBe(events);
  expect(second).toMatchObject({ agentId: 1, key: 'usable', spendableUsd: '0' });
  expect(file()).toMatchObject({ base_url: 'http://127.0.0.1:8081/v1', key });
});

test('a start with a configuration file makes none, and writes changed ports into the file of an earlier one', async () => {
  expect(await start({}, 'off')).toBeNull();
  expect([await ledger.listAgents(), readdirSync(dataDir)]).toEqual([[], []]);
  await start();
  const { key } = file();
  expect(await start({ adminUrl: 'http://127.0.0.1:9191/admin' }, 'off')).toBeNull();
  expect(file()).toMatchObject({ admin_url: 'http://127.0.0.1:9191/admin', agent_id: 1, key });
});

test('a ledger that knows other agents gets a demo agent only where it is asked for', async () => {
  await makeAgent(1, 'Acme Ltd');
  expect(await start()).toBeNull();
  expect(await ledger.listAgents()).toHaveLength(1);
  expect(await start({}, 'on')).toMatchObject({ agentId: 2, key: 'usable' });
  expect(await start()).toMatchObject({ agentId: 2, key: 'usable' });
});

test('a revoked key stays revoked over any number of starts', async () => {
  await start();
  const before = file();
  await revokeKeys();
  const events = ledger.journal.length;
  for (const mode of ['first-start', 'on', 'first-start'] as const) {
    expect(await start({}, mode)).toMatchObject({ agentId: 1, key: 'revoked' });
  }
  expect(file()).toEqual(before);
  expect(ledger.journal.length).toBe(events);
});

test.each([
  ['is deleted', () => rmSync(path())],
  ['is deleted after its key was revoked', () => revokeKeys().then(() => rmSync(path()))],
  ['is emptied', () => writeFileSync(path(), '')],
  ['is cut off', () => writeFileSync(path(), '{"agent_id": 1')],
  ['has lost its key', () => writeFileSync(path(), '{"agent_id": 1}')],
  ['is that of another folder', () => writeFileSync(path(), '{"agent_id": 1, "key": "fg_other"}')],
])('a file that %s brings neither a key nor credit', async (_how, damage) => {
  await start();
  await damage();
  const events = ledger.journal.length;
  for (const mode of ['first-start', 'on'] as const) {
    expect(await start({}, mode)).toMatchObject({ agentId: 1, key: 'lost' });
  }
  expect(ledger.journal.length).toBe(events);
});

test('a start that ends at any step is completed by the next one, with one agent, one grant and one key', async () => {
  const dieAfter = (events: number, isDone: boolean): Ledger => ({
    ...ledger,
    async execute(command) {
      if (ledger.journal.length < events) return ledger.execute(command);
      if (isDone) await ledger.execute(command);
      throw new Error('killed');
    },
  });
  for (let step = 0; step < 4; step++) {
    for (const isDone of [false, true]) {
      ledger = createMemoryLedger({ clock });
      rmSync(path(), { force: true });
      await start({ ledger: dieAfter(step, isDone) }).catch(() => undefined);
      expect(await start()).toMatchObject({ agentId: 1, key: 'usable', spendableUsd: '5' });
      expect(await ledger.listAgents()).toHaveLength(1);
      const view = await agent();
      expect(view.grantedNanoUsd).toBe(5_000_000_000n);
      expect(view.keys.map(({ prefix }) => prefix)).toEqual([file().key.slice(0, 12)]);
    }
  }
});

test("somebody else's agent that is named demo gets neither the credit nor a key", async () => {
  await makeAgent(1, 'demo');
  expect(await start()).toBeNull();
  expect(await start({}, 'on')).toMatchObject({ agentId: 2 });
  expect(await agent(1)).toMatchObject({ grantedNanoUsd: 0n, keys: [] });
});

test('keys that somebody gave the demo agent live on, whatever becomes of its own', async () => {
  await start();
  await revokeKeys();
  await executeDurably(ledger, {
    type: 'put_key',
    readVersion: null,
    agentId: 1,
    keyId: 7,
    label: 'mine',
    prefix: 'fg_',
    hash: 'h7',
    limit: null,
    actingKeyId: null,
    madeOverMcp: false,
    limits: { activeKeys: 10, mcpKeysPerDay: 20 },
  });
  rmSync(path());
  await start();
  expect((await agent()).keys.find(({ label }) => label === 'mine')).toMatchObject({ revokedAtMs: null });
});

test('a ledger that does not answer stops it', async () => {
  await ledger.close();
  await expect(start()).rejects.toThrow('the ledger does not answer');
});
