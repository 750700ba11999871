import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect as connectTcp, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createFetchImage,
  IMAGE_FETCH_MS,
  IMAGE_REDIRECTS_MAX,
} from '../../api/inference/linked-images/fetch-image.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/gateway.ts';

const PUBLIC = '93.184.215.14';
const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(1_000, 7)]);
const LINK = 'https://images.example.com/cat.png?size=1';

let server: Server;
let port: number;
let answer: (res: ServerResponse, path: string) => void;
let asked: { host: string | undefined; path: string; headers: Record<string, unknown> }[];
/** What connections were opened to, instead of which all come here. */
let connected: { address: string; name: string | undefined; port: string }[];
let sockets: Set<Socket>;

beforeAll(async () => {
  server = createServer((req, res) => {
    asked.push({ host: req.headers.host, path: req.url ?? '', headers: req.headers });
    answer(res, req.url ?? '');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  asked = [];
  connected = [];
  sockets = new Set();
  answer = (res) => res.end(PNG);
});

function fetcher(names: Record<string, readonly (readonly string[])[]>, dead: readonly string[] = []) {
  const clock = createFakeClock();
  const resolved: string[] = [];
  const fetchImage = createFetchImage({
    clock,
    async resolve(host) {
      const answers = names[host] ?? [];
      const turn = resolved.filter((each) => each === host).length;
      resolved.push(host);
      return answers[Math.min(turn, answers.length - 1)] ?? [];
    },
    connect({ hostname, servername, port: asPort }, callback) {
      connected.push({ address: hostname, name: servername, port: asPort });
      if (dead.includes(hostname)) {
        callback(new Error('refused'), null);
        return;
      }
      const socket = connectTcp(port, '127.0.0.1');
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.once('connect', () => callback(null, socket));
    },
  });
  return { clock, resolved, fetchImage };
}

const BOUND = 5_000;
const only = { 'images.example.com': [[PUBLIC]] };
const redirect = (res: ServerResponse, location: string, status = 302) =>
  res.writeHead(status, { location }).end();

describe('an image behind a public link', () => {
  test.each([
    ['image/png', PNG],
    ['image/jpeg', Buffer.from('\xff\xd8\xff\xe0 and the rest', 'latin1')],
    ['image/webp', Buffer.from('RIFF....WEBPVP8 and the rest')],
    ['image/gif', Buffer.from('GIF89a and the rest')],
  ])('%s is fetched, and is what its bytes say', async (contentType, bytes) => {
    answer = (res) => res.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes);
    const { fetchImage, resolved, clock } = fetcher(only);
    expect(await fetchImage(LINK, BOUND)).toEqual({ ok: true, contentType, bytes });
    expect(resolved).toEqual(['images.example.com']);
    expect(connected).toEqual([{ address: PUBLIC, name: 'images.example.com', port: '' }]);
    expect(asked[0]).toMatchObject({ host: 'images.example.com', path: '/cat.png?size=1' });
    expect(Object.keys(asked[0]?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
    await until(() => sockets.size === 0);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('is fetched to the last byte that it may have, also in pieces', async () => {
    answer = (res) => {
      for (const byte of PNG) res.write(Buffer.of(byte));
      res.end();
    };
    expect(await fetcher(only).fetchImage(LINK, PNG.length)).toMatchObject({ ok: true, bytes: PNG });
  });

  test('is fetched from the next address where one takes no connection', async () => {
    const { fetchImage } = fetcher({ 'images.example.com': [['2606:4700::1111', PUBLIC]] }, [
      '2606:4700::1111',
    ]);
    expect(await fetchImage(LINK, BOUND)).toMatchObject({ ok: true });
    expect(connected.map(({ address }) => address)).toEqual(['2606:4700::1111', PUBLIC]);
  });

  test.each([301, 302, 303, 307, 308])('is fetched where %i says that it is', async (status) => {
    answer = (res, path) => (path === '/b' ? res.end(PNG) : redirect(res, '//other.example.com/b', status));
    const { fetchImage } = fetcher({ ...only, 'other.example.com': [['1.1.1.1']] });
    expect(await fetchImage(LINK, BOUND)).toMatchObject({ ok: true });
    expect(connected.map(({ address }) => address)).toEqual([PUBLIC, '1.1.1.1']);
  });
});

/** Nothing may be asked of anybody but by the connections named. */
async function refused(fetching: Promise<unknown>, words: string, connections: number) {
  expect(await fetching).toEqual({ ok: false, words: expect.stringContaining(words) });
  expect(connected).toHaveLength(connections);
  await until(() => sockets.size === 0);
}

describe('no link leads the gateway to where only it can go', () => {
  const inside = [
    'http://images.example.com/a.png',
    'https://127.0.0.1/a.png',
    'https://2130706433/a.png',
    'https://0177.0.0.1/a.png',
    'https://0x7f000001/a.png',
    'https://0.0.0.0/a.png',
    'https://[::1]/a.png',
    'https://[::ffff:10.0.0.1]/a.png',
    'https://169.254.169.254/latest/meta-data/',
    'https://10.0.0.1/a.png',
    'https://192.168.0.1/a.png',
    'https://localhost/a.png',
    'https://localhost./a.png',
    'https://images..example.com/a.png',
    `https://a${'.'.repeat(1_900)}b/a.png`,
    'https://metadata.google.internal/a.png',
    'https://images.example.com:6379/a.png',
    'https://me:secret@images.example.com/a.png',
    'file:///etc/passwd',
    'gopher://images.example.com/a.png',
  ];

  test.each(inside)('%s is not followed', async (link) => {
    const { fetchImage, resolved } = fetcher(only);
    await refused(fetchImage(link, BOUND), 'public https link', 0);
    expect(resolved).toEqual([]);
  });

  test.each(inside)('nor a redirect to %s', async (link) => {
    answer = (res) => redirect(res, link);
    await refused(fetcher(only).fetchImage(LINK, BOUND), 'redirected to no public https link', 1);
  });

  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.20.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.9',
    '0.0.0.0',
  ])('nor a name that leads to %s, alone, beside a public address, or behind a redirect', async (address) => {
    const names = { ...only, 'inside.example.com': [[PUBLIC, address]], 'alone.example.com': [[address]] };
    const { fetchImage } = fetcher(names);
    await refused(fetchImage('https://inside.example.com/a.png', BOUND), 'not public', 0);
    await refused(fetchImage('https://alone.example.com/a.png', BOUND), 'not public', 0);
    answer = (res) => redirect(res, 'https://alone.example.com/a.png');
    await refused(fetchImage(LINK, BOUND), 'not public', 1);
  });

  test.each(['::1', 'fd00::1', 'fe80::1', '::ffff:127.0.0.1', '64:ff9b::a9fe:a9fe', '2002:7f00:1::'])(
    'nor a name that leads to %s',
    async (address) => {
      const { fetchImage } = fetcher({ 'images.example.com': [[address]] });
      await refused(fetchImage(LINK, BOUND), 'not public', 0);
    },
  );

  test('a name that turns private after it was looked at is not looked at again', async () => {
    const { fetchImage, resolved } = fetcher({ 'images.example.com': [[PUBLIC], ['127.0.0.1']] });
    expect(await fetchImage(LINK, BOUND)).toMatchObject({ ok: true });
    expect(resolved).toHaveLength(1);
    expect(connected.map(({ address }) => address)).toEqual([PUBLIC]);
  });

  test('and when a redirect leads to it again, its new address is looked at before it is used', async () => {
    answer = (res) => redirect(res, LINK);
    const { fetchImage, resolved } = fetcher({ 'images.example.com': [[PUBLIC], ['127.0.0.1']] });
    await refused(fetchImage(LINK, BOUND), 'not public', 1);
    expect(resolved).toHaveLength(2);
  });

  test('a name that nobody knows', async () => {
    await refused(fetcher({}).fetchImage(LINK, BOUND), 'cannot be found', 0);
  });
});

describe('what is sent in the place of an image', () => {
  test('more than there may be is not read on, whether it says so or not', async () => {
    answer = (res) => res.writeHead(200, { 'content-length': '1000000000' }).write(PNG);
    await refused(fetcher(only).fetchImage(LINK, BOUND), '5000 bytes', 1);
    answer = (res) => {
      const more = (): void => {
        while (!res.destroyed && res.write(PNG));
        if (!res.destroyed) res.once('drain', more);
      };
      more();
    };
    await refused(fetcher(only).fetchImage(LINK, BOUND), '5000 bytes', 2);
  });

  test.each([
    ['a page', '<!doctype html><title>A page</title>'],
    ['a drawing with a script', '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'],
    ['a few bytes', 'GIF89a'],
    ['nothing', ''],
  ])('%s is no image, whatever it is called', async (_, body) => {
    answer = (res) => res.writeHead(200, { 'content-type': 'image/png' }).end(body);
    await refused(fetcher(only).fetchImage(LINK, BOUND), 'no PNG, JPEG, WebP or GIF', 1);
  });

  test('what is packed is not unpacked', async () => {
    answer = (res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end(PNG);
    await refused(fetcher(only).fetchImage(LINK, BOUND), 'packed', 1);
  });

  test.each([204, 206, 304, 400, 401, 404, 500])('an answer with status %i', async (status) => {
    answer = (res) => res.writeHead(status).end(status === 204 || status === 304 ? '' : PNG);
    await refused(fetcher(only).fetchImage(LINK, BOUND), `status ${status}`, 1);
  });

  test('a redirect to nowhere, and one without end', async () => {
    answer = (res) => res.writeHead(302).end();
    await refused(fetcher(only).fetchImage(LINK, BOUND), 'to nowhere', 1);
    answer = (res) => redirect(res, 'https://');
    await refused(fetcher(only).fetchImage(LINK, BOUND), 'could not be fetched', 2);
    answer = (res) => redirect(res, LINK);
    await refused(fetcher(only).fetchImage(LINK, BOUND), 'too often', 2 + IMAGE_REDIRECTS_MAX + 1);
  });

  test('an image that breaks off', async () => {
    answer = (res) => {
      res.writeHead(200, { 'content-length': String(PNG.length) });
      res.write(PNG.subarray(0, 500), () => res.destroy());
    };
    await refused(fetcher(only).fetchImage(LINK, BOUND), 'could not be fetched', 1);
  });

  test('a server that no connection can be made to', async () => {
    await refused(fetcher(only, [PUBLIC]).fetchImage(LINK, BOUND), 'could not be fetched', 1);
  });

  test('headers without end', async () => {
    answer = (res) => res.socket?.write(`HTTP/1.1 200 OK\r\n${'x-a: '.padEnd(100_000, 'b')}\r\n`);
    await refused(fetcher(only).fetchImage(LINK, BOUND), 'could not be fetched', 1);
  });
});

describe('nobody is waited for longer than ten seconds', () => {
  test.each([
    ['an answer', () => undefined],
    ['the rest of an image', (res: ServerResponse) => void res.write(PNG)],
  ])('for %s', async (_, reply) => {
    answer = reply;
    const { clock, fetchImage } = fetcher(only);
    const fetching = fetchImage(LINK, BOUND);
    await until(() => asked.length === 1);
    clock.advance(IMAGE_FETCH_MS);
    await refused(fetching, 'not sent in time', 1);
  });

  test('for a name server', async () => {
    const clock = createFakeClock();
    const fetchImage = createFetchImage({
      clock,
      resolve: () => new Promise(() => undefined),
      connect: () => expect.unreachable(),
    });
    const fetching = fetchImage(LINK, BOUND);
    clock.advance(IMAGE_FETCH_MS);
    await refused(fetching, 'not sent in time', 0);
  });
});
