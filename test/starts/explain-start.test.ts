import { expect, test } from 'vitest';
import { JournalError } from '#core/ledger/embedded/journal-errors.ts';
import { loadConfig } from '../../api/config/config.ts';
import { explainStart } from '../../api/start/explain-start.ts';

const config = await loadConfig({ FAREGATE_DATA: '/var/lib/faregate', PORT: '80' });

const systemError = (code: string, syscall: string, more: object = {}) =>
  Object.assign(new Error(`${code}: it did not work, ${syscall}`), { code, syscall, ...more });

test.each([
  ['a full disk', systemError('ENOSPC', 'write'), 'its disk is full.'],
  ['a quota', systemError('EDQUOT', 'write'), "this user's share of its disk is used up."],
  ['a folder of another user', systemError('EACCES', 'open'), 'this user may not read and write it.'],
  ['files of another user', systemError('EPERM', 'chmod'), 'its files belong to another user.'],
  ['a read-only disk', systemError('EROFS', 'mkdir'), 'its disk is mounted read-only.'],
  ['a file in the way', systemError('ENOTDIR', 'scandir'), 'a file stands in its place'],
  ['what the system says otherwise', systemError('EIO', 'fsync'), 'EIO: it did not work, fsync.'],
  ['a ledger that cannot be written', new JournalError('ledger.sqlite: disk I/O error'), 'disk I/O error.'],
])('%s ends the start with the folder, the reason and what to do', (_, error, reason) => {
  const said = explainStart(error, config);
  expect(said).toContain(`The data folder /var/lib/faregate cannot be used: `);
  expect(said).toContain(reason);
  expect(said).toMatch(/Mend that, or choose another folder with FAREGATE_DATA\.$/);
  expect(said).not.toContain('\n');
});

test('a port that takes a right of its own is said to be that', () => {
  const refused = systemError('EACCES', 'listen', { address: '127.0.0.1', port: 80 });
  expect(explainStart(refused, config)).toBe(
    'This user may not listen on 127.0.0.1:80. Choose a port above 1023 with PORT (server.port).',
  );
});

test('a host name that nobody knows is named with its setting', () => {
  const unknown = systemError('ENOTFOUND', 'getaddrinfo', { hostname: config.server.host });
  expect(explainStart(unknown, config)).toContain('Name one of its own in server.host,');
});

test('a mistake of ours keeps its stack', () => {
  expect(explainStart(new TypeError('x is not a function'), config)).toContain('\n    at ');
});
