import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { freePort } from './free-port.ts';
import { parseAddress, requireAnswer } from './require-answer.ts';

describe('a service that is given', () => {
  test.each([
    ['redis', 'redis://127.0.0.1:7000', { host: '127.0.0.1', port: 7000, tls: false }],
    ['redis', 'rediss://:secret@cache.example', { host: 'cache.example', port: 6379, tls: true }],
    ['kafka', 'one:9093, two:9094', { host: 'one', port: 9093, tls: false }],
    ['cassandra', '[::1]', { host: '::1', port: 9042, tls: false }],
    ['s3', 'https://s3.example', { host: 's3.example', port: 443, tls: true }],
    ['s3', 'http://localhost', { host: 'localhost', port: 80, tls: false }],
  ] as const)('%s at %s is looked for where that says', (name, given, address) => {
    expect(parseAddress(name, given)).toEqual(address);
  });

  test('that nobody runs is told from one that answers, in a sentence with its variable', async () => {
    const port = await freePort();
    const given = `redis://127.0.0.1:${port}`;
    await expect(requireAnswer('redis', given, 0)).rejects.toThrow(
      `Nothing answers as redis at 127.0.0.1:${port}, which REDIS_URL names.`,
    );
    const server = createServer((socket) => socket.on('data', () => socket.write('-NOAUTH')));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    await requireAnswer('redis', given);
    server.close();
  });

  test('that speaks something else is none', async () => {
    const server = createServer((socket) => socket.end('220 mail ready'));
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    await expect(requireAnswer('redis', `127.0.0.1:${port}`, 0)).rejects.toThrow('Nothing answers as redis');
    server.close();
  });
});
