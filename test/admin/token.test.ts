import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLog } from '#core/log.ts';
import { adminRouter } from '../../api/admin/router.ts';
import { loadOrCreateAdminToken } from '../../api/config/admin-token.ts';
import { readRoutes } from '../../api/contract/route.ts';
import { startTestAdmin, TOKEN } from './admin-harness.ts';

const wrongTokens: [string, Record<string, string>][] = [
  ['no token', { authorization: '' }],
  ['another token', { authorization: `Bearer ${TOKEN.replace('0', '1')}` }],
  ['the start of the token', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
  ['more than the token', { authorization: `Bearer ${TOKEN}0` }],
  ['the token twice', { authorization: `Bearer ${TOKEN} ${TOKEN}` }],
  ['the token as basic', { authorization: `Basic ${TOKEN}` }],
  ['the token as x-api-key', { authorization: '', 'x-api-key': TOKEN }],
];

test.each(wrongTokens)('every route refuses %s, and does and writes nothing', async (_, headers) => {
  await using admin = await startTestAdmin();
  const routes = readRoutes(adminRouter);
  expect(routes.length).toBeGreaterThan(10);
  for (const { facts } of routes) {
    const path = facts.path.replaceAll(/\{\w+\}/g, '1');
    const answer =
      facts.method === 'GET'
        ? await admin.get(path, headers)
        : await admin.post(path, { name: 'x' }, headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm=/);
    expect(answer.body.error).toMatchObject({ code: 'invalid_api_key', type: 'authentication_error' });
  }
  expect(admin.ledger.journal).toEqual([]);
  expect(admin.audit.lines).toEqual([]);
});

test('other paths and methods are not found, with or without the token', async () => {
  await using admin = await startTestAdmin();
  for (const headers of [{}, { authorization: '' }]) {
    expect((await admin.get('/agents/1/', headers)).status).toBe(404);
    expect((await admin.get('/Agents', headers)).status).toBe(404);
    expect((await admin.post('/ledger/audit', {}, headers)).status).toBe(404);
  }
});

test('a body over 64 KB, or with a field that is not taken, is refused', async () => {
  await using admin = await startTestAdmin();
  expect((await admin.post('/agents', { name: 'x'.repeat(70_000) })).status).toBe(413);
  const answer = await admin.post('/agents', { name: 'alpha', agent_id: 5 });
  expect(answer.body.error).toMatchObject({ code: 'invalid_request', param: 'agent_id' });
  expect(admin.ledger.journal).toEqual([]);
});

describe('the token of a gateway that keeps its own', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'faregate-token-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  test('is made once, and only its owner can read it', () => {
    const dataDir = join(folder, 'new', 'folder');
    const token = loadOrCreateAdminToken(dataDir);
    expect(token.reveal()).toMatch(/^fg_admin_[0-9A-Za-z]{40}$/);
    expect(loadOrCreateAdminToken(dataDir).reveal()).toBe(token.reveal());
    expect(statSync(join(dataDir, 'admin-token')).mode & 0o777).toBe(0o600);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  });

  test("may be the operator's own, with or without an end of line", () => {
    writeFileSync(join(folder, 'admin-token'), `${TOKEN}\r\n`, { mode: 0o644 });
    expect(loadOrCreateAdminToken(folder).reveal()).toBe(TOKEN);
    expect(statSync(join(folder, 'admin-token')).mode & 0o777).toBe(0o600);
  });

  test.each(['', '\n', 'short', `${TOKEN} ${TOKEN}`])('is never %j', (text) => {
    writeFileSync(join(folder, 'admin-token'), text);
    expect(() => loadOrCreateAdminToken(folder)).toThrow(/holds no token/);
    expect(readFileSync(join(folder, 'admin-token'), 'utf8')).toBe(text);
  });

  test('shows in no log line', () => {
    const token = loadOrCreateAdminToken(folder);
    let text = '';
    const write = (line: string) => {
      text += line;
    };
    const log = createLog({ write });
    log.error('failed', { cause: token.reveal(), error: new Error(`${token} ${token.reveal()}`) });
    expect(text).not.toContain(token.reveal().slice(9));
  });
});
