import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { hourOf } from '#core/files/file-name.ts';
import { UPLOAD_BYTES_MAX } from '#core/limits.ts';
import { bodyOf, type FileHome, type Links, makeLinks, newName, read, send } from './file-home.ts';

/** What links promise, whatever home the files have. */
export function testFileHome(name: string, start: () => Promise<FileHome>): void {
  describe(name, () => {
    let home: FileHome;

    beforeAll(async () => {
      home = await start();
    });

    afterAll(() => home[Symbol.asyncDispose]());

    const links = (options?: Parameters<typeof makeLinks>[2]): Promise<Links> =>
      makeLinks(home.store, home.nowMs(), options);

    test('a file is read as it was sent, with its type', async () => {
      const { put, headers, get } = await links({ bytes: 5, contentType: 'image/webp' });
      expect(await read(get)).toBeNull();
      expect((await send(put, headers, Uint8Array.from([1, 2, 3, 0, 255]))).status).toBe(200);
      const answer = await fetch(get);
      expect(answer.headers.get('content-type')).toBe('image/webp');
      expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([1, 2, 3, 0, 255]);
    });

    test.each([9, 11, 0, 1_000_000])('a link for ten bytes takes no %i', async (bytes) => {
      const { put, headers, get } = await links({ bytes: 10 });
      expect((await send(put, headers, bodyOf(bytes))).ok).toBe(false);
      expect(await read(get)).toBeNull();
      expect((await send(put, headers, bodyOf(10))).status).toBe(200);
    });

    test('the largest image is taken, and one byte more is not', async () => {
      const { put, headers, get } = await links({ bytes: UPLOAD_BYTES_MAX });
      const more = await send(put, headers, bodyOf(UPLOAD_BYTES_MAX + 1)).catch(() => null);
      expect(more?.ok ?? false).toBe(false);
      expect(await read(get)).toBeNull();
      expect((await send(put, headers, bodyOf(UPLOAD_BYTES_MAX))).status).toBe(200);
      expect((await read(get))?.length).toBe(UPLOAD_BYTES_MAX);
    });

    test.each(['image/jpeg', 'text/html', 'image/png, text/html', 'image/png; charset=utf-8'])(
      'a link for image/png takes no %s',
      async (contentType) => {
        const { put, headers, get } = await links();
        const answer = await send(put, { ...headers, 'Content-Type': contentType }, bodyOf(10));
        expect(answer.ok).toBe(false);
        expect(await read(get)).toBeNull();
      },
    );

    test('a file without a type is refused', async () => {
      const { put, headers, get } = await links();
      const { 'Content-Type': _, ...others } = headers;
      expect((await send(put, others, bodyOf(10))).ok).toBe(false);
      expect(await read(get)).toBeNull();
    });

    test('a body that does not say how long it is is refused', async () => {
      const { put, headers, get } = await links();
      const body = new Blob([bodyOf(10)]).stream();
      // Types do not know `duplex`, without which no stream is sent.
      const options = { method: 'PUT', headers, body, duplex: 'half' as const };
      const answer = await fetch(put, options).catch(() => null);
      expect(answer?.ok ?? false).toBe(false);
      expect(await read(get)).toBeNull();
    });

    test('nothing is sent or read after the end of a link, and until then it is', async () => {
      const early = await home.later(59 * MINUTE_MS, (store, nowMs) => makeLinks(store, nowMs));
      expect((await send(early.put, early.headers, bodyOf(10))).status).toBe(200);
      expect(await read(early.get)).not.toBeNull();

      const late = await home.later(61 * MINUTE_MS, (store, nowMs) =>
        makeLinks(store, nowMs, { name: newName(nowMs) }),
      );
      expect((await send(late.put, late.headers, bodyOf(10))).status).toBe(403);
      const again = await home.later(61 * MINUTE_MS, (store, nowMs) =>
        makeLinks(store, nowMs, { name: early.name }),
      );
      expect((await fetch(again.get)).status).toBe(403);
      expect(await read((await links({ name: early.name })).get)).not.toBeNull();
    });

    test('the first file stays: another one under the same link is refused', async () => {
      const { put, headers, get } = await links();
      expect((await send(put, headers, bodyOf(10, 1))).status).toBe(200);
      expect((await send(put, headers, bodyOf(10, 2))).status).toBe(412);
      expect([...((await read(get)) ?? [])]).toEqual([...bodyOf(10, 1)]);
    });

    test('of many that are sent at once, one is there, whole', async () => {
      const bytes = 300_000;
      const { put, headers, get } = await links({ bytes });
      const all = await Promise.all(
        Array.from({ length: 8 }, (_, fill) =>
          send(put, headers, bodyOf(bytes, fill)).then(
            (answer) => answer.status,
            () => 0,
          ),
        ),
      );
      expect(all.filter((status) => status === 200).length).toBeGreaterThan(0);
      const stored = (await read(get)) ?? bodyOf(0);
      expect(stored.length).toBe(bytes);
      expect(new Set(stored).size).toBe(1);
    });

    describe('a link opens nothing but what it was made for', () => {
      test.each(['GET', 'HEAD', 'POST', 'DELETE', 'PATCH'])('a link to send by %s', async (method) => {
        const { put, headers, get } = await links();
        expect((await fetch(put, { method })).ok).toBe(false);
        expect((await send(put, headers, bodyOf(10))).status).toBe(200);
        expect((await fetch(put, { method })).ok).toBe(false);
        expect(await read(get)).not.toBeNull();
      });

      test.each(['PUT', 'POST', 'DELETE'])('a link to read by %s', async (method) => {
        const { put, headers, get } = await links();
        await send(put, headers, bodyOf(10, 1));
        const options = method === 'DELETE' ? { method } : { method, headers, body: bodyOf(10, 2) };
        expect((await fetch(get, options)).ok).toBe(false);
        expect([...((await read(get)) ?? [])]).toEqual([...bodyOf(10, 1)]);
      });

      test('another file, agent, kind of file, hour or place', async () => {
        const { put, headers, get, name } = await links();
        await send(put, headers, bodyOf(10));
        const other = await links();
        await send(other.put, other.headers, bodyOf(10));
        const fresh = await links();
        const swaps: [string, string][] = [
          [name.id, other.name.id],
          [`/${name.agentId}/`, `/${other.name.agentId}/`],
          ['.png', '.gif'],
          [name.endHour, hourOf(home.nowMs() + 2 * DAY_MS)],
          ['uploads/', 'pictures/'],
          [`${name.id}.png`, ''],
          [`/${name.agentId}/${name.id}.png`, ''],
        ];
        for (const [from, to] of swaps) {
          expect((await fetch(get.replace(from, to))).ok, to).toBe(false);
          const swapped = fresh.put.replace(...inFresh(from, to));
          expect((await send(swapped, headers, bodyOf(10))).ok, to).toBe(false);
        }

        /** The same change, of a link that nothing was sent to yet. */
        function inFresh(from: string, to: string): [string, string] {
          const ofFresh = from
            .replace(name.id, fresh.name.id)
            .replace(`/${name.agentId}/`, `/${fresh.name.agentId}/`);
          return [ofFresh, to];
        }
      });

      test('no word of it can be changed, left out or said twice', async () => {
        const { put, headers, get } = await links();
        for (const link of [put, get]) {
          const url = new URL(link);
          const ask = (changed: URL) =>
            link === put ? send(changed.href, headers, bodyOf(10)) : fetch(changed);
          for (const [parameter, value] of url.searchParams) {
            const without = new URL(url);
            without.searchParams.delete(parameter);
            const changed = new URL(url);
            // The last place of a base64 text has bits that say nothing.
            changed.searchParams.set(
              parameter,
              value.replace(/^./, (c) => (c === '1' ? '2' : '1')),
            );
            const longer = new URL(url);
            longer.searchParams.set(parameter, `${value}0`);
            for (const each of [without, changed, longer]) {
              expect((await ask(each)).ok, each.search).toBe(false);
            }
          }
          const bare = new URL(url);
          bare.search = '';
          expect((await ask(bare)).ok).toBe(false);
        }
        const { put: ofAnother, headers: theirs } = await makeLinks(home.withOtherSecret(), home.nowMs());
        expect((await send(ofAnother, theirs, bodyOf(10))).ok).toBe(false);
        expect((await send(put, headers, bodyOf(10))).status).toBe(200);
      });

      test('a later end', async () => {
        const { put, headers } = await home.later(61 * MINUTE_MS, (store, nowMs) => makeLinks(store, nowMs));
        const url = new URL(put);
        const end = ['expires', 'X-Amz-Expires'].find((each) => url.searchParams.has(each)) ?? '';
        url.searchParams.set(end, String(Number(url.searchParams.get(end)) + 7_200));
        expect((await send(url.href, headers, bodyOf(10))).status).toBe(403);
      });

      const tricks: [string, (path: string) => string][] = [
        ['a step up', (path) => path.replace('uploads/', 'uploads/../uploads/')],
        ['a step up, in code', (path) => path.replace('uploads/', 'uploads/%2e%2e/uploads/')],
        ['a step up, in code twice', (path) => path.replace('uploads/', '%252e%252e/uploads/')],
        ['steps out of the folder', (path) => path.replace('uploads/', '../../../../etc/passwd/')],
        ['a slash in code', (path) => path.replace('uploads/', 'uploads%2f')],
        ['a backslash', (path) => path.replace('uploads/', 'uploads\\')],
        ['two slashes', (path) => path.replace('uploads/', 'uploads//')],
        ['a point', (path) => path.replace('uploads/', './uploads/')],
        ['nothing, in code', (path) => path.replace('.png', '.png%00.html')],
        ['nothing before the end', (path) => path.replace('.png', '%00.png')],
        ['a line', (path) => path.replace('.png', '.png%0d%0ax:y')],
        ['half a character', (path) => path.replace('.png', '%ff.png')],
        ['a broken code', (path) => path.replace('.png', '%zz.png')],
        ['a slash at the end', (path) => path.replace('.png', '.png/')],
        ['another ending', (path) => path.replace('.png', '.png.html')],
        ['8 KB of it', (path) => path.replace('uploads/', `uploads/${'a/'.repeat(4_000)}`)],
        ['another case', (path) => path.replace('uploads/', 'UPLOADS/')],
        ['a letter in code', (path) => path.replace('uploads/', '%75ploads/')],
      ];

      test.each(tricks)('a path with %s', async (what, trick) => {
        const { put, headers, get } = await links();
        const asked = { ...headers, 'Content-Length': '10' };
        const sent = await rawStatus(home.address, 'PUT', trick(pathOf(put)), asked, bodyOf(10));
        // To S3 it is the same path in other letters, and the same file.
        if (sent === 200 && what.endsWith(' in code') && trick('uploads/') !== 'uploads/') {
          expect(decodeURIComponent(trick(pathOf(put)))).toBe(decodeURIComponent(pathOf(put)));
          expect((await read(get))?.length).toBe(10);
          return;
        }
        expect(sent).toBeGreaterThanOrEqual(400);
        expect(await read(get)).toBeNull();
        expect((await send(put, headers, bodyOf(10))).status).toBe(200);
        expect(await rawStatus(home.address, 'GET', trick(pathOf(get)))).toBeGreaterThanOrEqual(400);
      });
    });

    test('what no link leads to is deleted, and nothing else', async () => {
      const isThere = await home.putForeign();
      const ended = { ...newName(home.nowMs()), endHour: hourOf(home.nowMs() - 3 * HOUR_MS) };
      const justEnded = { ...newName(home.nowMs()), endHour: hourOf(home.nowMs() - HOUR_MS) };
      const made = await Promise.all(
        [ended, ended, justEnded, newName(home.nowMs())].map(async (name, index) => {
          const each = await links({ name: { ...name, agentId: index + 1 } });
          expect((await send(each.put, each.headers, bodyOf(10))).status).toBe(200);
          return each.get;
        }),
      );
      const sweep = () => home.store.deleteEnded(home.nowMs(), new AbortController().signal);
      await Promise.all([sweep(), sweep()]);
      expect(await Promise.all(made.map(async (get) => (await read(get)) !== null))).toEqual([
        false,
        false,
        true,
        true,
      ]);
      expect(await isThere()).toBe(true);
    });
  });
}

const pathOf = (link: string): string => link.slice(link.indexOf('/', 'http://'.length));

/** Sends the path as it stands: clients of the web would tidy it. 400 where not even the client takes it, or no answer came. */
function rawStatus(
  address: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body: Uint8Array = new Uint8Array(),
): Promise<number> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const sent = request({ host, port, method, path, headers, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 400);
    });
    sent.on('error', () => resolve(400));
    sent.end(body);
  });
}
