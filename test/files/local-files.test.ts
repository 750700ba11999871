import { readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { formatFileName } from '#core/files/file-name.ts';
import { openLocalFileStore } from '#core/files/local-file-store.ts';
import { LINK_KEY_FILE } from '#core/files/local-links.ts';
import { MEGABYTE } from '#core/limits.ts';
import { UPLOAD_BODY_MS } from '../../api/http/mount-files.ts';
import { testDataDir } from '../support/data-dir.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/gateway.ts';
import { RawClient, rawRequest } from '../support/raw-http.ts';
import { testFileHome } from './file-contract.ts';
import { bodyOf, inAnHour, type Links, makeLinks, newName, newOrder, read, send } from './file-home.ts';
import { type LocalHome, startLocalHome } from './local-home.ts';
import { testWrittenFiles } from './written-files-contract.ts';

testFileHome('links of the local folder', startLocalHome);
testWrittenFiles('files in the local folder', startLocalHome);

let home: LocalHome;

beforeAll(async () => {
  home = await startLocalHome();
});

afterAll(() => home[Symbol.asyncDispose]());

const links = (options?: Parameters<typeof makeLinks>[2]): Promise<Links> =>
  makeLinks(home.store, home.nowMs(), options);

async function sent(fill = 7): Promise<Links> {
  const made = await links();
  expect((await send(made.put, made.headers, bodyOf(10, fill))).status).toBe(200);
  return made;
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const codeOf = async (answer: Response): Promise<string> => JSON.parse(await answer.text()).error.code;
const incoming = () => readdir(join(home.dataDir, 'files', 'incoming'));

/** A PUT by hand: its head, to be followed by as much of its body as a test likes. */
async function beginPut({ put, headers, bytes }: Links, more: string[] = []): Promise<RawClient> {
  const client = await RawClient.connect(home.port);
  return client.head([
    `PUT ${put.slice(put.indexOf('/files'))} HTTP/1.1`,
    'Host: files',
    `Content-Type: ${headers['Content-Type']}`,
    `Content-Length: ${bytes}`,
    ...more,
  ]);
}

describe('what is refused says why', () => {
  test.each([
    ['wrong_size', 400, {}, 11, 'Send exactly 10 bytes'],
    ['wrong_type', 400, { 'Content-Type': 'text/html' }, 10, 'Content-Type: image/png'],
    ['wrong_encoding', 400, { 'Content-Encoding': 'gzip' }, 10, 'without Content-Encoding'],
  ])('%s', async (code, status, more, bytes, words) => {
    const { put, headers } = await links();
    const answer = await send(put, { ...headers, ...more }, bodyOf(bytes));
    expect(answer.status).toBe(status);
    const { error } = JSON.parse(await answer.text());
    expect(error.code).toBe(code);
    expect(error.message).toContain(words);
  });

  test('a link that was changed, one that has expired, and a file that was not sent', async () => {
    const made = await home.later(HOUR_MS, (store, nowMs) => makeLinks(store, nowMs));
    const late = await fetch(made.get);
    expect(await late.clone().text()).toContain('get the `content` of your video again');
    expect(await codeOf(late)).toBe('link_expired');
    expect(await codeOf(await send(made.put, made.headers, bodyOf(10)))).toBe('link_expired');
    expect(await codeOf(await fetch(made.get.replace('signature=', 'signature=x')))).toBe('link_refused');
    const never = await links();
    const answer = await fetch(never.get);
    expect(answer.status).toBe(404);
    expect(await codeOf(answer)).toBe('not_uploaded');
  });

  test('an expired link that was changed is told nothing of its end', async () => {
    const made = await home.later(HOUR_MS, (store, nowMs) => makeLinks(store, nowMs));
    expect(await codeOf(await fetch(made.get.replace(/.$/, '-')))).toMatch(/link_(refused|expired)/);
    expect(await codeOf(await fetch(made.get.replace('signature=', 'signature=-')))).toBe('link_refused');
  });

  test('a link that says the same in other letters', async () => {
    const { put, headers, get } = await sent();
    const inOtherLetters = (link: string): string[] => {
      const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const next = last.charAt(last.indexOf(link.slice(-1)) + 1);
      const again = [link.replace('expires=', 'expires=0'), link.slice(0, -1) + next];
      return link.includes('bytes=') ? [...again, link.replace('bytes=', 'bytes=0')] : again;
    };
    for (const link of inOtherLetters(get)) expect(await codeOf(await fetch(link))).toBe('link_refused');
    for (const link of inOtherLetters(put)) {
      expect(await codeOf(await send(link, headers, bodyOf(10)))).toBe('link_refused');
    }
  });

  test('another method', async () => {
    const { get } = await sent();
    const answer = await fetch(get, { method: 'DELETE' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, PUT, OPTIONS');
  });

  test('an order for a video is served to nobody, not even by a genuine link', async () => {
    const order = newOrder(home.nowMs());
    await home.store.write(order, oneChunk(bodyOf(10)));
    const { put, headers, get } = await links({ name: order });
    expect(await codeOf(await fetch(get))).toBe('not_found');
    expect(await codeOf(await send(put, headers, bodyOf(10)))).toBe('not_found');
    expect(await home.store.size(order)).toBe(10);
  });

  test('an address of no file is no address', async () => {
    for (const path of ['/files', '/files/', '/files/uploads', '/filesystem', '/files/file-links.key']) {
      const answer = await fetch(`http://${home.address}${path}`);
      expect(answer.status).toBe(404);
      expect(await codeOf(answer)).toBe('not_found');
    }
  });
});

describe('a file is read as files are', () => {
  test('by HEAD, without its bytes', async () => {
    const { get } = await sent();
    const answer = await fetch(get, { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-length')).toBe('10');
    expect(await answer.text()).toBe('');
  });

  test('in parts', async () => {
    const made = await links();
    await send(made.put, made.headers, Uint8Array.from([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    const part = async (range: string) => {
      const answer = await fetch(made.get, { headers: { range } });
      const bytes = [...new Uint8Array(await answer.arrayBuffer())];
      return { status: answer.status, range: answer.headers.get('content-range'), bytes };
    };
    expect(await part('bytes=2-4')).toEqual({ status: 206, range: 'bytes 2-4/10', bytes: [2, 3, 4] });
    expect(await part('bytes=-2')).toEqual({ status: 206, range: 'bytes 8-9/10', bytes: [8, 9] });
    expect(await part('bytes=8-99')).toMatchObject({ status: 206, bytes: [8, 9] });
    expect(await part('bytes=10-')).toMatchObject({ status: 416, range: 'bytes */10' });
    expect((await part('bytes=5-2')).status).not.toBe(206);
  });

  test('once: it says how long it may be kept, and by what it is known again', async () => {
    const { get } = await sent();
    const answer = await fetch(get);
    expect(answer.headers.get('cache-control')).toBe('private, max-age=3600, immutable');
    const etag = answer.headers.get('etag') ?? '';
    // By hand: `fetch` adds that no cache is wanted.
    const ask = (condition: string) =>
      rawRequest(home.port, [`GET ${get.slice(get.indexOf('/files'))} HTTP/1.1`, 'Host: files', condition]);
    expect((await ask(`If-None-Match: ${etag}`))?.status).toBe(304);
    expect((await ask('If-None-Match: "other"'))?.status).toBe(200);
    expect((await ask('If-Match: "other"'))?.status).toBe(412);
  });

  test('a refusal is not kept in its place', async () => {
    const { get } = await sent();
    const unsatisfied: Record<string, string>[] = [{ range: 'bytes=10-' }, { 'if-match': '"other"' }];
    for (const headers of unsatisfied) {
      const answer = await fetch(get, { headers });
      expect([412, 416]).toContain(answer.status);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });
});

test('whatever was sent, no browser runs it as a page of this service', async () => {
  const page = new TextEncoder().encode('<script>1</script>');
  const { put, headers, get } = await links({ bytes: page.length });
  await send(put, headers, new Uint8Array(page));
  for (const answer of [await fetch(get), await fetch(get.replace('signature=', 'signature=x'))]) {
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(answer.headers.get('content-type')).not.toContain('html');
  }
  expect((await fetch(get)).headers.get('content-type')).toBe('image/png');
});

test('a page of any origin may send and show a file, and is asked first what it may', async () => {
  const { put, get } = await sent();
  const asked = { 'access-control-request-method': 'PUT', 'access-control-request-headers': 'content-type' };
  const preflight = await fetch(put, {
    method: 'OPTIONS',
    headers: { origin: 'https://a.example', ...asked },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT');
  expect(preflight.headers.get('access-control-allow-headers')).toContain('content-type');
  for (const answer of [preflight, await fetch(get), await fetch(get, { method: 'DELETE' })]) {
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  }
});

test('of many that are sent at once exactly one is taken, 50 times', async () => {
  for (let round = 0; round < 50; round++) {
    const { put, headers, get } = await links({ bytes: 70_000 });
    const all = await Promise.allSettled(
      Array.from({ length: 6 }, (_, fill) => send(put, headers, bodyOf(70_000, fill))),
    );
    const taken = all.flatMap((each, fill) =>
      each.status === 'fulfilled' && each.value.status === 200 ? [fill] : [],
    );
    expect(taken).toHaveLength(1);
    expect((await read(get))?.[69_999]).toBe(taken[0]);
  }
  expect(await incoming()).toEqual([]);
});

describe('what does not end well leaves nothing behind', () => {
  test('a sender that hangs up in the middle, and it may send again', async () => {
    const made = await links({ bytes: 100_000 });
    const client = await beginPut(made);
    client.send(Buffer.alloc(50_000));
    await until(async () => (await incoming()).length === 1);
    client.destroy();
    await until(async () => (await incoming()).length === 0);
    expect(await read(made.get)).toBeNull();
    expect((await send(made.put, made.headers, bodyOf(100_000))).status).toBe(200);
    expect(home.logged).toEqual([]);
  });

  test('one that is silent is cut when the same file is sent again, and one that is slow after ten minutes', async () => {
    const made = await links({ bytes: 100_000 });
    const silent = await beginPut(made);
    silent.send(Buffer.alloc(50_000));
    await until(async () => (await incoming()).length === 1);
    expect((await send(made.put, made.headers, bodyOf(100_000))).status).toBe(200);
    await silent.closed();
    expect((await read(made.get))?.length).toBe(100_000);

    const other = await links({ bytes: 100_000 });
    const slow = await beginPut(other);
    slow.send(Buffer.alloc(50_000));
    await until(async () => (await incoming()).length === 1);
    home.clock.advance(UPLOAD_BODY_MS);
    await slow.closed();
    await until(async () => (await incoming()).length === 0);
    expect(home.clock.pendingTimers()).toBe(0);
  });

  test('who waits to be told to go on is told so, or why not', async () => {
    const made = await links();
    const client = await beginPut(made, ['Expect: 100-continue']);
    expect((await client.answer())?.status).toBe(100);
    client.send(Buffer.alloc(10));
    expect((await client.answer())?.status).toBe(200);
    const again = await beginPut(made, ['Expect: 100-continue']);
    expect((await again.answer())?.status).toBe(412);
    client.destroy();
    again.destroy();
  });

  test('a disk that takes nothing: it is said, logged, and over when the disk works again', async () => {
    const made = await links();
    // Where the folder of its hour belongs stands a file.
    const hour = join(home.dataDir, 'files', 'uploads', '20270101T00');
    const name = { ...made.name, endHour: '20270101T00' };
    await writeFile(hour, '');
    const broken = await links({ name });
    const answer = await send(broken.put, broken.headers, bodyOf(10));
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(await codeOf(answer)).toBe('storage_failed');
    expect(home.logged.splice(0).map(({ event }) => event)).toEqual(['file not served']);
    expect(await incoming()).toEqual([]);
    expect((await send(made.put, made.headers, bodyOf(10))).status).toBe(200);
  });

  test('a process that was killed: the next one begins without its halves', async () => {
    await using folder = await testDataDir();
    const clock = createFakeClock();
    const open = () => openLocalFileStore({ dataDir: folder.path, clock, publicUrl: () => 'http://h/v1' });
    const before = open();
    const link = await before.getLink(newName(clock.now()), inAnHour(clock.now()));
    await writeFile(join(folder.path, 'files', 'incoming', 'half'), 'half');
    const after = open();
    expect(await readdir(join(folder.path, 'files', 'incoming'))).toEqual([]);
    const name = newName(clock.now());
    expect(link.startsWith('http://h/files/uploads/')).toBe(true);
    // Links live on, because their key does.
    const { url } = await before.putLink(name, 10, inAnHour(clock.now()));
    expect(after.checkLink('PUT', name, url.split('?')[1] ?? '').ok).toBe(true);
  });
});

test('a slow line has longer than other requests, for a file alone', async () => {
  await using slow = await startLocalHome({
    headersTimeoutMs: 100,
    requestTimeoutMs: 100,
    connectionsCheckMs: 20,
  });
  const { put, headers, get } = await makeLinks(slow.store, slow.nowMs());
  const path = put.slice(put.indexOf('/files'));
  const client = await RawClient.connect(slow.port);
  client.head([
    `PUT ${path} HTTP/1.1`,
    'Host: f',
    `Content-Type: ${headers['Content-Type']}`,
    'Content-Length: 10',
  ]);
  client.send(Buffer.alloc(5));
  // The server looks again and again for requests that are late, and answers this one meanwhile.
  const other = await RawClient.connect(slow.port);
  other.head(['POST /v1/nothing HTTP/1.1', 'Host: f', 'Content-Length: 100000']).send(Buffer.alloc(5));
  await other.closed();
  client.send(Buffer.alloc(5));
  expect((await client.answer())?.status).toBe(200);
  expect(await read(get)).not.toBeNull();
  // Then it is a connection like any other.
  client.head(['POST /v1/nothing HTTP/1.1', 'Host: f', 'Content-Length: 100000']).send(Buffer.alloc(5));
  await client.closed();
});

test('who opens a file and takes nothing of it loses the connection', async () => {
  await using strict = await startLocalHome({ stalledReaderMs: 100, connectionsCheckMs: 20 });
  const { name, bytes, get } = await makeLinks(strict.store, strict.nowMs(), { bytes: 32 * MEGABYTE });
  await strict.store.write(name, oneChunk(bodyOf(bytes)));
  const reader = await RawClient.connect(strict.port);
  reader.socket.pause();
  reader.head([`GET ${get.slice(get.indexOf('/files'))} HTTP/1.1`, 'Host: f']);
  await until(() => strict.openRequests() === 1);
  await until(() => strict.openRequests() === 0);
  reader.destroy();
});

test.skipIf(process.platform !== 'linux')(
  'a file is open no longer than its reader is there, also of downloads that wait for their turn',
  async () => {
    const size = 4 * MEGABYTE;
    const made = await links({ bytes: size });
    expect((await send(made.put, made.headers, bodyOf(size))).status).toBe(200);
    const openFiles = async () => {
      const files = await Promise.all(
        (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
      );
      return files.filter((file) => file.endsWith(formatFileName(made.name))).length;
    };
    const client = await RawClient.connect(home.port);
    client.socket.pause();
    const get = `GET ${made.get.slice(made.get.indexOf('/files'))} HTTP/1.1\r\nHost: files\r\n\r\n`;
    client.send(get.repeat(5));
    await until(async () => (await openFiles()) > 1);
    client.socket.resetAndDestroy();
    await until(async () => (await openFiles()) === 0);
  },
);

test('files and the key of their links are their owner’s alone', async () => {
  const { name } = await sent();
  const modeOf = async (...path: string[]) => (await stat(join(home.dataDir, ...path))).mode & 0o777;
  expect(await modeOf(LINK_KEY_FILE)).toBe(0o600);
  expect(await modeOf('files')).toBe(0o700);
  expect(await modeOf('files', 'uploads')).toBe(0o700);
  expect(await modeOf('files', formatFileName(name))).toBe(0o600);
});

test('a key that is damaged stops the start with what to do', async () => {
  await using folder = await testDataDir();
  const open = () =>
    openLocalFileStore({ dataDir: folder.path, clock: createFakeClock(), publicUrl: () => 'http://h/v1' });
  open();
  const path = join(folder.path, LINK_KEY_FILE);
  const key = await readFile(path, 'utf8');
  await writeFile(path, key.slice(0, 20));
  expect(open).toThrow('delete it, and a new one is made');
});

test('an hour that has passed is deleted with all that is in it', async () => {
  const early = await sent();
  const sweep = (ms: number) => home.store.deleteEnded(home.nowMs() + ms, new AbortController().signal);
  await sweep(25 * HOUR_MS);
  expect(await read(early.get)).not.toBeNull();
  await sweep(26 * HOUR_MS + 59 * MINUTE_MS);
  expect(await read(early.get)).toBeNull();
});
