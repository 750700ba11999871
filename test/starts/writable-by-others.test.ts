import { chmodSync, chownSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LogFields } from '#core/log.ts';
import { findWritableByOthers } from '#core/writable-by-others.ts';
import { checkDataFolder } from '../../api/admin/doctor/check-data-folder.ts';
import { loadConfig } from '../../api/config/config.ts';
import { startGateway } from '../../api/start/start-gateway.ts';
import { testDataDir } from '../support/data-dir.ts';

const own = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
let folder: Awaited<ReturnType<typeof testDataDir>>;
let above: string;
let data: string;
beforeEach(async () => {
  folder = await testDataDir();
  above = join(folder.path, 'above');
  data = join(above, 'data');
  mkdirSync(data, { recursive: true, mode: 0o700 });
});
afterEach(() => folder[Symbol.asyncDispose]());

test.each([
  [0o700, null],
  [0o755, null],
  [0o750, null],
  [0o777, 'data'],
  [0o702, 'data'],
  // A sticky bit keeps entries of the folder from being renamed, not others from adding a file to it.
  [0o1777, 'data'],
])('a data folder of mode 0%o is open to other users: %j', (mode, open) => {
  chmodSync(data, mode);
  const found = findWritableByOthers(data);
  expect(found?.path ?? null).toBe(open === null ? null : data);
  if (found !== null) expect(found.todo).toBe(`Run: chmod go-w ${data}`);
});

test.each([
  [0o777, true],
  [0o1777, false],
  [0o755, false],
])('a folder of mode 0%o above it is open to other users: %s', (mode, isOpen) => {
  chmodSync(above, mode);
  expect(findWritableByOthers(data)?.path).toBe(isOpen ? above : undefined);
});

test('a group may write where it is the own group of the user alone', () => {
  chmodSync(data, 0o770);
  const path = findWritableByOthers(data, { uid: own.uid, gid: own.gid + 1 })?.path;
  // Files of a test that runs as root belong to root's group, which only root is in.
  expect(path).toBe(own.gid === 0 ? undefined : data);
  expect(findWritableByOthers(data, { uid: own.uid, gid: own.uid })?.path).toBe(
    own.gid === own.uid ? undefined : data,
  );
});

test('a folder of another user is that user’s to change', () => {
  // A folder of root is no other user's: only root can give it away, and only root has to.
  const owner = own.uid === 0 ? 12_345 : own.uid;
  if (own.uid === 0) chownSync(data, owner, own.gid);
  expect(findWritableByOthers(data, { uid: own.uid + 1, gid: own.gid })?.why).toBe(
    `it belongs to user ${owner}`,
  );
});

test('a link is followed to the folder that it leads to', () => {
  chmodSync(above, 0o777);
  const link = join(folder.path, 'link');
  symlinkSync(data, link);
  expect(findWritableByOthers(link)?.path).toBe(above);
});

test('a start and the doctor warn of a data folder that others may change, and say what to run', async () => {
  chmodSync(data, 0o777);
  const logged: string[] = [];
  const note = (event: string, _fields?: LogFields) => void logged.push(event);
  const config = await loadConfig({ PORT: '0', INTERNAL_PORT: '0', FAREGATE_DATA: data });
  const gateway = await startGateway(config, { log: { info: note, warn: note, error: note } });
  await gateway.stop();
  expect(logged).toContainEqual(expect.stringContaining(`chmod go-w ${data}`));
  expect(checkDataFolder({ dataDir: data })).toContainEqual(
    expect.objectContaining({ state: 'warning', todo: `Run: chmod go-w ${data}` }),
  );
});
