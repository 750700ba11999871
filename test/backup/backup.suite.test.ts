import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AUDIT_FILE, openSqliteAuditFile } from '#core/audit-log/sqlite-audit-file.ts';
import { writeArchive } from '#core/backup/write-archive.ts';
import { DAY_MS, startOfDayMs, systemClock } from '#core/clock.ts';
import { newAgent } from '#core/ledger/machine/empty-ledger.ts';
import type { AgentState } from '#core/ledger/machine/state.ts';
import { trustedClock } from '#core/trusted-clock.ts';
import { openEmbeddedStore } from '../../api/stores/embedded-store.ts';
import { createDraw } from '../ledger/history/random.ts';
import { hello, startTestGateway } from '../support/gateway.ts';
import { callOf } from './call-of.ts';
import { runFaregate } from './run-cli.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'faregate-backup-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a gateway is backed up while it serves calls, and runs on from the backup with its keys, credit and calls', async () => {
  const file = join(folder, 'backup');
  await using gateway = await startTestGateway({ creditUsd: '5' });
  for (let i = 0; i < 20; i++) expect((await gateway.post(hello())).status).toBe(200);
  const before = { view: await gateway.settled(), calls: await gateway.calls() };

  let running = true;
  const serving = (async () => {
    let served = 0;
    while (running) if ((await gateway.post(hello())).status === 200) served++;
    return served;
  })();
  const backup = await runFaregate(['backup', file, '--json'], { dataDir: gateway.dataDir });
  running = false;
  expect(backup).toMatchObject({ code: 0, err: '' });
  expect(await serving).toBeGreaterThan(0);
  const held = JSON.parse(backup.out);
  expect(held).toMatchObject({ file, shape: 'embedded', agents: 1, active_keys: 1, holds_key_secret: true });
  expect(held.calls).toBeGreaterThanOrEqual(20);

  const again = await runFaregate(['backup', file], { dataDir: gateway.dataDir });
  expect(again).toMatchObject({ code: 2, out: '' });
  expect(again.err).toContain('Replace it?');
  const occupied = await runFaregate(['restore', file, '--yes'], { dataDir: gateway.dataDir });
  expect(occupied).toMatchObject({ code: 1, out: '' });
  expect(occupied.err).toContain('is in use by process');
  // Nothing was done, so nobody did it.
  expect(await gateway.running.deps.store.audit.list({ limit: 10 })).toEqual([]);

  const dataDir = join(folder, 'data');
  const configFile = join(folder, 'faregate.yaml');
  writeFileSync(configFile, `storage: { dataDir: ${dataDir} }\n`);
  const env = { FAREGATE_CONFIG: configFile, FAREGATE_DATA: '' };
  expect(await runFaregate(['restore', file], { dataDir: '', env })).toMatchObject({ code: 0, err: '' });
  await using restored = await startTestGateway({ dataDir, provider: gateway.provider });
  const balance = await restored.balance(gateway.agent);
  expect(Number(balance.spendable_usd)).toBeGreaterThan(0);
  const view = await restored.settled(gateway.agent);
  expect(view.grantedNanoUsd).toBe(before.view.grantedNanoUsd);
  expect(view.chargedNanoUsd).toBeGreaterThanOrEqual(before.view.chargedNanoUsd);
  const { history, audit } = restored.running.deps.store;
  expect(await audit.list({ limit: 10 })).toMatchObject([
    { action: 'restore', operator: userInfo().username, subject: { file }, ended: { result: 'ok' } },
  ]);
  const calls = await history.list({ agentId: gateway.agent.agentId, limit: 100_000 });
  if (calls === 'unavailable') throw new Error('no history');
  expect(calls.reduce((sum, call) => sum + call.chargedNanoUsd, 0n)).toBe(view.chargedNanoUsd);
  const ids = new Set(calls.map(({ callId }) => callId));
  for (const { callId } of before.calls) expect(ids).toContain(callId);
  expect((await restored.post(hello(), { agent: gateway.agent })).status).toBe(200);
});

test('a restore leaves the audit log where it is, and is refused where that cannot be written', async () => {
  const file = join(folder, 'backup');
  await archiveOf(file, [1], 1);
  const dataDir = join(folder, 'data');
  expect(await runFaregate(['restore', file], { dataDir })).toMatchObject({ code: 0 });
  expect(await runFaregate(['restore', file, '--yes'], { dataDir })).toMatchObject({ code: 0 });
  const log = openSqliteAuditFile(join(dataDir, AUDIT_FILE));
  expect(log.list({ limit: 10 }).map(({ action }) => action)).toEqual(['restore', 'restore']);
  log.close();

  const other = join(folder, 'other');
  mkdirSync(join(other, AUDIT_FILE), { recursive: true });
  const refused = await runFaregate(['restore', file], { dataDir: other });
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.err).toContain('The audit log cannot be written, so nothing was done');
  expect(existsSync(join(other, 'ledger.sqlite'))).toBe(false);
});

test('a file that is no backup is refused with a sentence', async () => {
  const file = join(folder, 'backup');
  writeFileSync(file, 'agents: []\n');
  const dataDir = join(folder, 'data');
  expect(await runFaregate(['restore', file], { dataDir })).toEqual({
    code: 1,
    out: '',
    err: `${file} is no backup of Faregate.\n`,
  });
  expect(existsSync(dataDir)).toBe(false);
});

/** Some agents with credit, and calls that share it out. */
async function archiveOf(file: string, agentIds: readonly number[], callsEach: number): Promise<void> {
  const nowMs = systemClock.now();
  const expiresAtMs = startOfDayMs(nowMs) + 8 * DAY_MS;
  async function* entries() {
    for (const agentId of agentIds) {
      const agent: AgentState = {
        ...newAgent(agentId, `agent ${agentId}`, nowMs),
        version: 1 + 2 * callsEach,
        lots: [{ expiresAtMs, freeNanoUsd: 1_000n, heldNanoUsd: 0n }],
        grantedNanoUsd: 1_000n + 50n * BigInt(callsEach),
        chargedNanoUsd: 50n * BigInt(callsEach),
      };
      yield { agent, calls: calls(agentId), videos: noVideos() };
    }
  }
  async function* noVideos() {}
  async function* calls(agentId: number) {
    for (let i = 1; i <= callsEach; i++) yield [callOf(agentId, agentId * 1_000_000 + i)];
  }
  const header = { madeAtMs: nowMs, shape: 'embedded' as const, peppers: [] };
  await writeArchive(file, { header, entries: entries(), lastAtMs: () => nowMs });
}

/** Opened as a start does. */
async function agentIdsOf(dataDir: string): Promise<number[]> {
  const silent = { info() {}, warn() {}, error() {} };
  const store = await openEmbeddedStore({ dataDir, clock: trustedClock(systemClock), log: silent });
  const agents = await store.ledger.listAgents();
  await store.close();
  return agents === 'unavailable' ? [] : agents.map(({ agentId }) => agentId);
}

test('a restore that is killed before any of its moves leaves the old ledger, or the whole new one', async () => {
  const old = join(folder, 'old');
  const next = join(folder, 'next');
  await archiveOf(old, [1, 2], 10);
  await archiveOf(next, [3, 4, 5], 10);
  const dieAtRename = fileURLToPath(new URL('./die-at-rename.ts', import.meta.url));
  const seen: string[] = [];
  for (let dieAt = 1; ; dieAt++) {
    const dataDir = join(folder, `data-${dieAt}`);
    expect(await runFaregate(['restore', old], { dataDir })).toMatchObject({ code: 0 });
    expect(await agentIdsOf(dataDir)).toEqual([1, 2]);
    const env = { DIE_AT_RENAME: String(dieAt) };
    const run = await runFaregate(['restore', next, '--yes'], {
      dataDir,
      env,
      flags: ['--import', dieAtRename],
    });
    const ids = await agentIdsOf(dataDir);
    seen.push(ids.join());
    expect(['1,2', '3,4,5'], `killed before rename ${dieAt}`).toContain(ids.join());
    if (ids.length === 3) expect(readdirSync(dataDir).join()).toContain('before-restore-');
    if (run.code === 0) break;
  }
  expect(seen.length).toBeGreaterThan(3);
  expect(seen).toContain('1,2');
  expect(seen.at(-1)).toBe('3,4,5');
});

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

test(`a restore that is killed at any time leaves the old ledger, or the whole new one (seed ${seed})`, async () => {
  const random = createDraw(seed);
  const archives = { '1,2': join(folder, 'a'), '3,4,5': join(folder, 'b') };
  await archiveOf(archives['1,2'], [1, 2], 2_000);
  await archiveOf(archives['3,4,5'], [3, 4, 5], 2_000);
  const dataDir = join(folder, 'data');
  const startedMs = performance.now();
  await runFaregate(['restore', archives['1,2']], { dataDir });
  const wholeMs = Math.round(performance.now() - startedMs);
  let killed = 0;
  for (let kill = 0; kill < 8; kill++) {
    const to = kill % 2 === 0 ? '3,4,5' : '1,2';
    const before = (await agentIdsOf(dataDir)).join();
    const killAfterMs = wholeMs / 4 + random(wholeMs);
    const run = await runFaregate(['restore', archives[to], '--yes'], { dataDir, killAfterMs });
    if (run.code === null) killed++;
    expect([before, to]).toContain((await agentIdsOf(dataDir)).join());
  }
  expect(killed).toBeGreaterThan(0);
});

test('thirty thousand calls are restored and backed up in little memory', async () => {
  const CALLS = 30_000;
  const first = join(folder, 'first');
  const second = join(folder, 'second');
  const dataDir = join(folder, 'data');
  await archiveOf(first, [1, 2, 3, 4], CALLS / 4);
  // All of them at once would take more.
  const flags = ['--max-old-space-size=64'];
  expect(await runFaregate(['restore', first], { dataDir, flags })).toMatchObject({ code: 0, err: '' });
  const backup = await runFaregate(['backup', second, '--json'], { dataDir, flags });
  expect(backup).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(backup.out)).toMatchObject({ agents: 4, calls: CALLS });
  const [a, b] = [first, second].map((file) =>
    gunzipSync(readFileSync(file)).toString().split('\n').slice(1),
  );
  expect(b?.length).toBe(a?.length);
  expect(b?.filter((line) => line.startsWith('{"call"'))).toEqual(
    a?.filter((line) => line.startsWith('{"call"')),
  );
});
