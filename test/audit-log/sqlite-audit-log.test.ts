import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AUDIT_FILE, openSqliteAuditFile } from '#core/audit-log/sqlite-audit-file.ts';
import { openSqliteAuditLog } from '#core/audit-log/sqlite-audit-log.ts';
import { DAY_MS } from '#core/clock.ts';
import { firstIdAt } from '#core/ids.ts';
import { AUDIT_KEPT_MS } from '#core/limits.ts';
import { createMemoryAuditLog } from '../support/memory-audit-log.ts';
import { START_MS, testAuditLog } from './audit-log-contract.ts';

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'faregate-audit-'));
  path = join(folder, 'data', AUDIT_FILE);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('in a file', () =>
  testAuditLog(async () => {
    const log = openSqliteAuditLog(path);
    const others: { close(): Promise<void> }[] = [log];
    return {
      log,
      again() {
        const other = openSqliteAuditLog(path);
        others.push(other);
        return other;
      },
      async [Symbol.asyncDispose]() {
        for (const each of others) await each.close();
      },
    };
  }));

describe('in the memory of a test', () =>
  testAuditLog(async () => {
    const log = createMemoryAuditLog();
    return { log, again: () => log, async [Symbol.asyncDispose]() {} };
  }));

const lineAt = (atMs: number, result = 'started') => ({
  ...{ id: firstIdAt(atMs) + 1, atMs, operator: 'ada', address: '127.0.0.1', action: 'agents.create' },
  ...{ subject: {}, result },
});

test('only its owner can read the file', async () => {
  const log = openSqliteAuditLog(path);
  await log.write(lineAt(START_MS));
  await log.close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700);
});

test('the command writes beside the gateway into one file', async () => {
  const log = openSqliteAuditLog(path);
  await log.write(lineAt(START_MS));
  const command = openSqliteAuditFile(path);
  command.write(lineAt(START_MS + 1));
  command.close();
  await log.write(lineAt(START_MS + 2));
  expect(await log.list({ limit: 10 })).toHaveLength(3);
  await log.close();
});

test('what is older than it is kept goes with the next line, and nothing younger', () => {
  const file = openSqliteAuditFile(path);
  for (const atMs of [START_MS, START_MS + DAY_MS]) {
    file.write(lineAt(atMs));
    file.write(lineAt(atMs, 'ok'));
  }
  file.write(lineAt(START_MS + AUDIT_KEPT_MS + DAY_MS / 2));
  const times = file.list({ limit: 10 }).map(({ startedAtMs }) => startedAtMs);
  expect(times).toEqual([START_MS + AUDIT_KEPT_MS + DAY_MS / 2, START_MS + DAY_MS]);
  file.close();
});

test('a file that cannot be opened refuses each line, and takes them once it can be', async () => {
  writeFileSync(join(folder, 'data'), 'in the way');
  const log = openSqliteAuditLog(path);
  await expect(log.write(lineAt(START_MS))).rejects.toThrow();
  rmSync(join(folder, 'data'));
  await log.write(lineAt(START_MS));
  expect(await log.list({ limit: 10 })).toHaveLength(1);
  await log.close();
});

test('a file of something else is left as it is', async () => {
  const other = join(folder, 'other.sqlite');
  writeFileSync(other, 'no database at all, but long enough to look at'.repeat(100));
  const log = openSqliteAuditLog(other);
  await expect(log.write(lineAt(START_MS))).rejects.toThrow();
  await log.close();
  expect(statSync(other).size).toBe(4_600);
});

test('nothing is written after the end', async () => {
  const log = openSqliteAuditLog(path);
  await log.write(lineAt(START_MS));
  await log.close();
  await expect(log.write(lineAt(START_MS + 1))).rejects.toThrow();
});
