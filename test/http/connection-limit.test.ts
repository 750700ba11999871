import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MINUTE_MS, systemClock } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import { CONNECTIONS_PER_ADDRESS } from '#core/limits.ts';
import type { LogFields } from '#core/log.ts';
import { loadConfig } from '../../api/config/config.ts';
import { ConnectionLimit, type ConnectionLimitOptions } from '../../api/http/connection-limit.ts';
import { createHttpServer, listen } from '../../api/http/create-http-server.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { until } from '../support/gateway.ts';

let clock: FakeClock;
let logged: { event: string; fields: LogFields | undefined }[];
beforeEach(() => {
  clock = createFakeClock();
  logged = [];
});

function limitOf(more: Partial<ConnectionLimitOptions> = {}): ConnectionLimit {
  const note = (event: string, fields?: LogFields) => void logged.push({ event, fields });
  return new ConnectionLimit({
    ...{ perAddress: 3, trustedProxies: [], clock, log: { info: note, warn: note, error: note } },
    ...more,
  });
}

/** Linux answers on every address of 127.0.0.0/8: each is another caller here. */
describe.skipIf(process.platform !== 'linux')('over real sockets', () => {
  let limit: ConnectionLimit;
  let server: ReturnType<typeof createHttpServer>;
  let port: number;
  let served: number;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    served = 0;
    limit = limitOf({ isExempt: ({ address }) => address === '127.0.0.1' });
    server = createHttpServer(
      (_req, res) => {
        served += 1;
        res.end('served');
      },
      { ids: createIdSource(systemClock), callIdHeader: 'x-service-call-id', connectionLimit: limit },
    );
    port = await listen(server, 0, '127.0.0.1');
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  });

  function open(localAddress: string): Socket {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    socket.on('error', () => undefined);
    sockets.push(socket);
    return socket;
  }

  /** What a request is answered on it: `closed` without a byte, or its status line. */
  async function ask(socket: Socket, request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'): Promise<string> {
    const answer = Promise.race([
      once(socket, 'data').then(([chunk]) => String(chunk).split('\r\n', 1)[0] ?? ''),
      once(socket, 'close').then(() => 'closed'),
    ]);
    socket.write(request);
    return answer.catch(() => 'closed');
  }

  const OK = 'HTTP/1.1 200 OK';

  async function openThree(localAddress: string): Promise<[Socket, Socket, Socket]> {
    const three: [Socket, Socket, Socket] = [open(localAddress), open(localAddress), open(localAddress)];
    for (const socket of three) expect(await ask(socket)).toBe(OK);
    return three;
  }

  test('one connection too many is closed before a byte of it is read, and other addresses are served', async () => {
    await openThree('127.0.0.2');
    expect(await ask(open('127.0.0.2'))).toBe('closed');
    expect([served, limit.refused]).toEqual([3, 1]);
    expect(await ask(open('127.0.0.3'))).toBe(OK);
    for (let exempt = 0; exempt < 5; exempt++) expect(await ask(open('127.0.0.1'))).toBe(OK);
    expect(limit.addresses).toBe(2);
  });

  const ways: Record<string, (socket: Socket) => unknown> = {
    'ended by the caller': (socket) => socket.end(),
    'reset by the caller': (socket) => socket.resetAndDestroy(),
    'closed by a request that is no HTTP': (socket) => socket.write('no HTTP\r\n\r\n'),
    'closed by a tunnel that is refused': (socket) => socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'),
    'closed behind its last answer': (socket) =>
      socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
    'closed by the server as idle': () => server.closeIdleConnections(),
    'cut by the server': () => server.closeAllConnections(),
  };
  test.each(Object.keys(ways))('a connection that is %s makes room for another', async (way) => {
    const [first] = await openThree('127.0.0.2');
    const before = limit.addresses;
    const closed = once(first, 'close');
    first.resume();
    ways[way]?.(first);
    await closed;
    // The server's end may close a moment after ours.
    await until(async () => {
      const another = await ask(open('127.0.0.2'));
      return another === OK;
    });
    expect(before).toBe(1);
    for (const socket of sockets) socket.destroy();
    await until(() => limit.addresses === 0);
  });

  test('a flood of refused connections keeps nothing, and is reported once a minute with its number', async () => {
    await openThree('127.0.0.2');
    for (let round = 0; round < 50; round++) {
      const flood = Array.from({ length: 10 }, () => open('127.0.0.2'));
      await Promise.all(flood.map((socket) => ask(socket)));
    }
    expect([limit.refused, limit.addresses, served]).toEqual([500, 1, 3]);
    expect(logged).toEqual([
      { event: expect.stringContaining('connections refused'), fields: { address: '127.0.0.2', count: 1 } },
    ]);
    clock.advance(MINUTE_MS);
    await ask(open('127.0.0.2'));
    expect(logged.at(1)?.fields).toEqual({ address: '127.0.0.2', count: 500 });
    const openConnections = await new Promise<number>((resolve) => {
      server.getConnections((_error, count) => resolve(count));
    });
    expect(openConnections).toBe(3);
  });
});

describe('by its address', () => {
  const socketOf = (address: string | undefined): Socket =>
    Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
  const admits = (limit: ConnectionLimit, addresses: readonly (string | undefined)[]): boolean[] =>
    addresses.map((address) => limit.admit(socketOf(address)));

  test('a /64 network of IPv6 is one address, and an IPv4 address in the clothes of IPv6 is itself', () => {
    const sixes = ['2001:db8:1:2::1', '2001:db8:1:2:ffff::2', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::9'];
    expect(admits(limitOf(), sixes)).toEqual([true, true, true, false]);
    expect(admits(limitOf(), [...sixes.slice(0, 3), '2001:db8:1:3::1'])).toEqual([true, true, true, true]);
    const fours = ['203.0.113.9', '::ffff:203.0.113.9', '::ffff:cb00:7109', '203.0.113.9'];
    expect(admits(limitOf(), fours)).toEqual([true, true, true, false]);
  });

  test('this machine and the trusted proxies are not counted', () => {
    const limit = limitOf({ trustedProxies: ['10.0.0.0/8', '2001:db8:ff::/48'] });
    for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '10.1.2.3', '2001:db8:ff::7'])
      expect(admits(limit, Array(5).fill(address))).toEqual([true, true, true, true, true]);
    expect(limit.addresses).toBe(0);
  });

  test('a connection that has ended before it was looked at counts for nobody', () => {
    const limit = limitOf();
    expect(admits(limit, Array(5).fill(undefined))).toEqual([true, true, true, true, true]);
    expect(limit.addresses).toBe(0);
  });
});

test('an address may have 1,024 connections where nobody says otherwise', async () => {
  expect((await loadConfig({})).server.connectionsPerAddress).toBe(CONNECTIONS_PER_ADDRESS);
  expect(CONNECTIONS_PER_ADDRESS).toBe(1_024);
});
