import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { readConsole } from '../../api/console/console-files.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { RawClient } from '../support/raw-http.ts';

const files = readConsole();
const paths = files.map(({ path }) => path);
const texts = files
  .filter(({ contentType }) => !contentType.startsWith('font/'))
  .map(({ path, bytes }) => [path, bytes.toString()] as const);

/** Where a link leads that a licence asks for. */
const CREDIT = 'https://www.tradingview.com/';

describe('of the files of the console', () => {
  test.each(texts)('%s names no other place', (path, text) => {
    const links = [
      ...withoutComments(text).matchAll(/\b(?:https?:)?\/\/[a-z0-9-]+\.[a-z]{2,}[^\s"'`)]*/gi),
    ].map(([link]) => link);
    // The name of a kind of image is no place; the licence of the chart asks for a link, which nobody fetches.
    const known = ['http://www.w3.org/', CREDIT];
    const others = links.filter((link) => !known.some((place) => link.startsWith(place)));
    expect([path, others]).toEqual([path, []]);
  });

  test.each(texts)('%s asks for what is served, and by its address', (path, text) => {
    const asked = [
      ...text.matchAll(
        /(?:\bfrom|\bimport)\s*\(?["'`]([^"'`\s]+)["'`]|(?:href|src)="([^"]+)"|url\("([^"]+)"\)/g,
      ),
    ]
      .map(([, module, link, url]) => module ?? link ?? url ?? '')
      // Types stand in comments alone.
      .filter((address) => !/^#|\.d\.ts$/.test(address) && address !== CREDIT);
    const wanted = asked.map((address) => new URL(address, `http://x${path}`));
    for (const { pathname } of wanted) expect(paths).toContain(pathname);
    for (const address of asked) expect(address).toMatch(/^(\/|\.\.?\/)/);
  });

  it('every one is asked for by another, or is the page itself', () => {
    const all = texts.map(([path, text]) =>
      [...text.matchAll(/["'`(]([./][^"'`)\s]*\.(?:js|css|svg|woff2))["'`)]/g)].map(
        ([, address = '']) => new URL(address, `http://x${path}`).pathname,
      ),
    );
    const asked = new Set(all.flat());
    expect(paths.filter((path) => !asked.has(path))).toEqual(['/console']);
  });
});

/** What a comment says, nobody fetches. */
const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '');

describe('the gateway serves', () => {
  let gateway: TestGateway;
  let origin: string;
  beforeAll(async () => {
    gateway = await startTestGateway();
    origin = new URL(gateway.baseUrl).origin;
  });
  afterAll(() => gateway.stop());

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(origin + path, {
      method,
      headers: { 'accept-encoding': 'identity', ...headers },
      redirect: 'manual',
    });

  it('each file, as it is, with its type, and forbids everything that it does not need', async () => {
    for (const { path, contentType, bytes } of files) {
      const res = await get(path);
      expect([path, res.status, res.headers.get('content-type')]).toEqual([path, 200, contentType]);
      expect(Buffer.from(await res.arrayBuffer()).equals(bytes)).toBe(true);
      const policy = res.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("style-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      // Where the links of files lead.
      for (const kind of ['img', 'media', 'connect'])
        expect(policy).toContain(`${kind}-src 'self' ${origin};`);
      expect(policy.replaceAll(origin, '')).not.toMatch(/unsafe|\*|https?:|data:/);
      expect(res.headers.get('x-content-type-options')).toBe('nosniff');
      expect(res.headers.get('referrer-policy')).toBe('no-referrer');
    }
  });

  it('nothing to who has it already, compressed or not', async () => {
    for (const encoding of ['identity', 'gzip']) {
      const first = await get('/console/style/base.css', { 'accept-encoding': encoding });
      const etag = first.headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[^"]+"$/);
      for (const has of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await get('/console/style/base.css', {
          'accept-encoding': encoding,
          'if-none-match': has,
        });
        expect([has, again.status, await again.text()]).toEqual([has, 304, '']);
      }
      const other = await get('/console/style/base.css', {
        'accept-encoding': encoding,
        'if-none-match': '"other"',
      });
      expect(other.status).toBe(200);
    }
  });

  it('it compressed to who takes that, and to nobody else', async () => {
    const plain = files.find(({ path }) => path === '/console/vendor/uplot.js');
    for (const takes of ['gzip', 'br, gzip;q=0.5', 'deflate,gzip']) {
      const zipped = await get('/console/vendor/uplot.js', { 'accept-encoding': takes });
      expect([takes, zipped.headers.get('content-encoding')]).toEqual([takes, 'gzip']);
      expect(Number(zipped.headers.get('content-length'))).toBeLessThan((plain?.bytes.length ?? 0) / 2);
      // `fetch` has unpacked it.
      expect(await zipped.text()).toBe(plain?.bytes.toString());
    }
    for (const refuses of ['identity', 'br', 'gzip;q=0', 'gzip; q=0.0']) {
      const res = await get('/console/style/base.css', { 'accept-encoding': refuses });
      expect([refuses, res.headers.get('content-encoding')]).toEqual([refuses, null]);
      expect(res.headers.get('vary')).toBe('accept-encoding');
    }
  });

  it('only the head to HEAD', async () => {
    const res = await get('/console', {}, 'HEAD');
    const page = files.find(({ path }) => path === '/console');
    expect([res.status, await res.text()]).toEqual([200, '']);
    expect(res.headers.get('content-length')).toBe(String(page?.bytes.length));
  });

  it('the page to who adds a slash, by sending them there', async () => {
    const res = await get('/console/');
    expect([res.status, res.headers.get('location')]).toEqual([308, '/console']);
  });

  it.each([
    '/console/index.html',
    '/console/tsconfig.json',
    '/console/client/records.d.ts',
    '/console/../main.ts',
    '/console/%2e%2e/console-files.ts',
    '/console/..%2fconsole-files.ts',
    '/console/vendor/preact.mjs',
    '/console/vendor/../../../node_modules/preact/package.json',
    '/console/style/base.css/',
    '/console//app.css',
    '/Console',
    '/console/views',
  ])('nothing at %s', async (path) => {
    const client = await RawClient.connect(Number(new URL(origin).port));
    const answer = await client.head([`GET ${path} HTTP/1.1`, 'host: x', 'connection: close']).answer();
    expect(answer?.status).toBe(404);
    client.socket.destroy();
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('nothing to %s', async (method) => {
    expect((await get('/console', {}, method)).status).toBe(404);
  });
});
