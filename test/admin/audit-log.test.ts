import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AuditEntry, type AuditLog, openAuditLog } from '../../api/admin/audit-log.ts';
import { adminRouter } from '../../api/admin/router.ts';
import { readRoutes } from '../../api/contract/route.ts';
import { type Json, startTestAdmin } from './admin-harness.ts';

test('every change has a line before it is done and one of what came of it', async () => {
  await using admin = await startTestAdmin();
  const answer = await admin.post('/agents', { name: 'alpha' });
  const id = Number(answer.headers.get('x-request-id'));
  const who = { id, operator: 'operator', address: '127.0.0.1', action: 'agents.create' };
  expect(admin.audit()).toEqual([
    {
      at: new Date(admin.clock.now()).toISOString(),
      ...who,
      subject: { name: 'alpha', status: 'active' },
      result: 'started',
    },
    {
      at: new Date(admin.clock.now()).toISOString(),
      ...who,
      subject: { id: 1, name: 'alpha', status: 'active' },
      result: 'ok',
    },
  ]);
});

test('the lines name agents, keys and amounts', async () => {
  await using admin = await startTestAdmin();
  await admin.post('/agents', { name: 'alpha' });
  await admin.post('/agents/1/grants', { usd: '5', grant_id: 'g-1' });
  const { id } = (await admin.post('/agents/1/keys', { label: 'web shop' })).body;
  await admin.post(`/agents/1/keys/${id}/revoke`);
  const done = admin.audit().filter((line: Json) => line.result === 'ok');
  expect(done.slice(1)).toMatchObject([
    { action: 'credit.grant', subject: { agent_id: 1, usd: '5', days: 7, grant_id: 'g-1', repeated: false } },
    { action: 'keys.create', subject: { agent_id: 1, label: 'web shop', id } },
    { action: 'keys.revoke', subject: { agent_id: 1, key_id: id } },
  ]);
});

test('a refused change is written with its code', async () => {
  await using admin = await startTestAdmin();
  await admin.post('/agents/9/suspend');
  expect(admin.audit()).toMatchObject([
    { action: 'agents.suspend', subject: { agent_id: 9 }, result: 'started' },
    { action: 'agents.suspend', subject: { agent_id: 9 }, result: 'not_found' },
  ]);
});

test('every route that changes something is audited, and no route that only reads', async () => {
  await using admin = await startTestAdmin();
  await admin.post('/agents', { name: 'alpha' });
  const fields: Record<string, object> = {
    '/agents': { name: 'beta' },
    '/agents/{agent_id}/grants': { usd: '1' },
    '/agents/{agent_id}/keys': { label: 'k' },
  };
  for (const { name, facts } of readRoutes(adminRouter)) {
    const before = admin.audit().length;
    const path = facts.path.replaceAll(/\{\w+\}/g, '1');
    if (facts.method === 'GET') {
      await admin.get(path);
      expect([name, admin.audit().length - before]).toEqual([name, 0]);
    } else {
      await admin.post(path, fields[facts.path]);
      const lines = admin.audit().slice(before);
      expect(lines.map((line: Json) => line.action)).toEqual([name, name]);
    }
  }
});

test('when the audit log cannot be written, nothing is done', async () => {
  await using admin = await startTestAdmin();
  await admin.closeAudit();
  const answer = await admin.post('/agents', { name: 'alpha' });
  expect(answer.status).toBe(503);
  expect(answer.body.error.message).toContain('nothing was done');
  expect(admin.ledger.journal).toEqual([]);
  expect(admin.logged).toMatchObject([{ event: 'audit log not written', fields: { path: 'agents.create' } }]);
});

describe('the file', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'faregate-audit-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const path = () => join(folder, 'audit.jsonl');
  const lines = () => readFileSync(path(), 'utf8').split('\n');
  const entry = (id: number): AuditEntry => ({
    at: '2026-11-21T10:00:00.000Z',
    id,
    operator: 'operator',
    address: '127.0.0.1',
    action: 'agents.create',
    subject: { name: 'two\nlines' },
    result: 'ok',
  });

  test('is appended to by every start, and only its owner can read it', async () => {
    for (const id of [1, 2]) {
      const log = openAuditLog(folder);
      await log.write(entry(id));
      await log.close();
    }
    expect(lines().map((line) => line && JSON.parse(line).id)).toEqual([1, 2, '']);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  test('keeps lines written at once apart, in their order', async () => {
    const log = openAuditLog(folder);
    await Promise.all(Array.from({ length: 20 }, (_, id) => log.write(entry(id))));
    await log.close();
    const ids = lines().slice(0, -1);
    expect(ids.map((line) => JSON.parse(line).id)).toEqual([...Array(20).keys()]);
  });

  test('starts a new line after one that a crash has cut', async () => {
    appendFileSync(path(), `${JSON.stringify(entry(1))}\n{"at":"2026-11-21T1`);
    const log = openAuditLog(folder);
    await log.write(entry(2));
    await log.close();
    const [first, cut, second, end] = lines();
    expect(JSON.parse(first ?? '').id).toBe(1);
    expect(cut).toBe('{"at":"2026-11-21T1');
    expect(JSON.parse(second ?? '').id).toBe(2);
    expect(end).toBe('');
  });

  describe('that has grown to its limit', () => {
    const bytesMax = 5 * `${JSON.stringify(entry(1))}\n`.length;
    const older = () => join(folder, 'audit.1.jsonl');
    const idsIn = (file: string) =>
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id);
    const writeAll = async (log: AuditLog, ids: readonly number[]) => {
      await Promise.all(ids.map((id) => log.write(entry(id))));
      await log.close();
    };

    test('becomes the older file, and only one older file is kept', async () => {
      await writeAll(openAuditLog(folder, bytesMax), [1, 2, 3, 4, 5, 6, 7]);
      expect([idsIn(older()), idsIn(path())]).toEqual([
        [1, 2, 3, 4, 5],
        [6, 7],
      ]);
      await writeAll(openAuditLog(folder, bytesMax), [8, 9, 1, 2]);
      expect([idsIn(older()), idsIn(path())]).toEqual([[6, 7, 8, 9, 1], [2]]);
      expect(readdirSync(folder).sort()).toEqual(['audit.1.jsonl', 'audit.jsonl']);
      for (const file of [older(), path()]) expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(statSync(older()).size).toBe(bytesMax);
    });

    test('and cannot be moved takes no line; once it can be, no line is lost', async () => {
      const log = openAuditLog(folder, bytesMax);
      for (let id = 1; id <= 5; id++) await log.write(entry(id));
      // A folder in its place cannot be replaced by a file.
      mkdirSync(older());
      await expect(log.write(entry(6))).rejects.toThrow();
      rmdirSync(older());
      await log.write(entry(7));
      await log.close();
      expect([idsIn(older()), idsIn(path())]).toEqual([[1, 2, 3, 4, 5], [7]]);
    });

    test('keeps what was moved, when the last attempt broke off behind an empty new file', async () => {
      const log = openAuditLog(folder, bytesMax);
      for (let id = 1; id <= 5; id++) await log.write(entry(id));
      renameSync(path(), older());
      appendFileSync(path(), '');
      await log.write(entry(6));
      await log.close();
      expect([idsIn(older()), idsIn(path())]).toEqual([[1, 2, 3, 4, 5], [6]]);
    });

    test('whose line was cut is complete in itself: the next file starts with a whole line', async () => {
      appendFileSync(path(), '{"at":"'.padEnd(bytesMax, 'x'));
      await writeAll(openAuditLog(folder, bytesMax), [1]);
      expect(readFileSync(path(), 'utf8').startsWith('{')).toBe(true);
      expect(idsIn(path())).toEqual([1]);
    });
  });
});
