import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { type FileName, formatFileName, hourOf } from '#core/files/file-name.ts';
import { S3_PART_BYTES } from '#core/files/s3-upload.ts';
import { VIDEO_ORDER_KEPT_MS } from '../../api/media/order-video.ts';
import { bodyOf, type FileHome, inAnHour, newImage, newName, newOrder, newVideo, read } from './file-home.ts';

async function* inChunks(bytes: Uint8Array, chunkBytes = 65_521): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += chunkBytes) yield bytes.subarray(from, from + chunkBytes);
}

async function* cutAfter(bytes: number): AsyncGenerator<Uint8Array> {
  yield* inChunks(bodyOf(bytes));
  throw new Error('cut');
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** What this gateway itself keeps, whatever home the files have. */
export function testWrittenFiles(name: string, start: () => Promise<FileHome>): void {
  describe(name, () => {
    let home: FileHome;

    beforeAll(async () => {
      home = await start();
    });

    afterAll(() => home[Symbol.asyncDispose]());

    test.each([0, 1, 70_000, S3_PART_BYTES, 2 * S3_PART_BYTES + 12_345])(
      'a file of %i bytes is kept as it was written, and known by its checksum',
      async (bytes) => {
        const { store } = home;
        const video = newVideo(home.nowMs());
        const body = bodyOf(bytes).map((_, at) => at % 251);
        expect(await store.read(video, bytes)).toBeNull();
        expect(await store.write(video, inChunks(body))).toEqual({ bytes, sha256: sha256(body) });
        expect(await store.size(video)).toBe(bytes);
        expect(sha256((await store.read(video, bytes)) ?? bodyOf(1))).toBe(sha256(body));
        const linked = (await read(await store.getLink(video, inAnHour(home.nowMs())))) ?? bodyOf(1);
        expect(sha256(linked)).toBe(sha256(body));
      },
    );

    test('a file is read only when it is as short as was expected', async () => {
      const image = newImage(home.nowMs());
      await home.store.write(image, inChunks(bodyOf(1_001)));
      expect(await home.store.read(image, 1_001)).toHaveLength(1_001);
      await expect(home.store.read(image, 1_000)).rejects.toThrow('1000 bytes');
    });

    test.each([0, 100, S3_PART_BYTES + 100])(
      'of what is cut after %i bytes nothing is kept',
      async (bytes) => {
        const video = newVideo(home.nowMs());
        await expect(home.store.write(video, cutAfter(bytes))).rejects.toThrow('cut');
        expect(await home.store.size(video)).toBeNull();
        expect(await home.leftovers()).toEqual([]);
      },
    );

    test('a cut leaves the file that was there', async () => {
      const video = newVideo(home.nowMs());
      await home.store.write(video, inChunks(bodyOf(100)));
      await expect(home.store.write(video, cutAfter(S3_PART_BYTES + 1))).rejects.toThrow('cut');
      expect(await home.store.read(video, 100)).toEqual(Buffer.from(bodyOf(100)));
    });

    test('a second whole file replaces the first', async () => {
      const image = newImage(home.nowMs());
      await home.store.write(image, inChunks(bodyOf(100, 1)));
      await home.store.write(image, inChunks(bodyOf(50, 2)));
      expect(await home.store.read(image, 100)).toEqual(Buffer.from(bodyOf(50, 2)));
    });

    test('of many that are written at once one is there, whole', async () => {
      const video = newVideo(home.nowMs());
      const bytes = S3_PART_BYTES + 1_000;
      const all = Array.from({ length: 8 }, (_, fill) =>
        home.store.write(video, inChunks(bodyOf(bytes, fill))),
      );
      await Promise.all(all);
      const stored = (await home.store.read(video, bytes)) ?? bodyOf(0);
      expect(stored).toHaveLength(bytes);
      expect(new Set(stored).size).toBe(1);
      expect(await home.leftovers()).toEqual([]);
    });

    test('a file that is deleted is gone, and may be deleted again', async () => {
      const image = newImage(home.nowMs());
      await home.store.write(image, inChunks(bodyOf(10)));
      await home.store.delete(image);
      expect(await home.store.size(image)).toBeNull();
      await home.store.delete(image);
      await home.store.delete(newImage(home.nowMs()));
    });

    test('a video is sent in parts, with its type, and is saved under its own name', async () => {
      const video = newVideo(home.nowMs());
      await home.store.write(video, inChunks(bodyOf(1_000).map((_, at) => at % 251)));
      const link = await home.store.getLink(video, inAnHour(home.nowMs()));
      const answer = await fetch(link, { headers: { range: 'bytes=10-12' } });
      expect(answer.status).toBe(206);
      expect([...new Uint8Array(await answer.arrayBuffer())]).toEqual([10, 11, 12]);
      expect(answer.headers.get('content-type')).toBe('video/mp4');
      expect(answer.headers.get('content-range')).toBe('bytes 10-12/1000');
      expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${video.id}.mp4"`);
    });

    describe('whose file a link leads to', () => {
      test('is read from the link itself, while it lives', async () => {
        const nowMs = home.nowMs();
        for (const file of [newName(nowMs), newImage(nowMs), newVideo(nowMs)]) {
          const untilMs = inAnHour(nowMs);
          const link = await home.store.getLink(file, untilMs);
          expect(home.store.parseLink(link)).toEqual({ kind: 'ours', name: file, untilMs });
        }
        const late = await home.later(61 * MINUTE_MS, (store, then) =>
          store.getLink(newName(then), inAnHour(then)),
        );
        expect(home.store.parseLink(late)).toEqual({ kind: 'refused', reason: 'expired' });
        expect(home.store.parseLink(late.replace(/.$/, '~'))).toEqual({ kind: 'refused', reason: 'forged' });
      });

      const refused = { kind: 'refused', reason: 'forged' };

      test('a forged one leads to nobody', async () => {
        const nowMs = home.nowMs();
        const file = newName(nowMs);
        const link = await home.store.getLink(file, inAnHour(nowMs));
        const put = await home.store.putLink(file, 10, inAnHour(nowMs));
        const path = formatFileName(file);
        const forged = [
          put.url,
          await home.withOtherSecret().getLink(file, inAnHour(nowMs)),
          link.replace(`/${file.agentId}/`, `/${file.agentId + 1}/`),
          link.replace(file.id, newName(nowMs).id),
          link.replace('uploads/', 'pictures/'),
          link.replace('uploads/', '%75ploads/'),
          link.replace(file.endHour, hourOf(nowMs + 2 * DAY_MS)),
          `${link}&more=1`,
          `${link}#part`,
          link.replace(/[?].*/, ''),
          link.replace('http://', 'http://me@'),
          link.replace(path, 'uploads/%zz'),
          await home.store.getLink(newOrder(nowMs), inAnHour(nowMs)),
        ];
        for (const each of forged) expect(home.store.parseLink(each), each).toEqual(refused);
        for (const [parameter, value] of new URL(link).searchParams) {
          const changed = new URL(link);
          changed.searchParams.set(parameter, `${value}0`);
          expect(home.store.parseLink(changed.href), parameter).toEqual(refused);
          changed.searchParams.delete(parameter);
          expect(home.store.parseLink(changed.href), parameter).toEqual(refused);
        }
      });

      test('any other address is foreign', async () => {
        const link = await home.store.getLink(newName(home.nowMs()), inAnHour(home.nowMs()));
        const others = [
          'https://images.example.com/cat.png',
          '',
          'no link',
          `${link}&more=${'.'.repeat(10_000)}`,
          link.replace('http://', 'https://'),
          link.replace(/:\d+\//, ':1/'),
          `http://${home.address}/`,
          `http://${home.address}/v1/models`,
          link.replace('127.0.0.1', '127.0.0.1.example.com'),
        ];
        for (const each of others) expect(home.store.parseLink(each), each).toEqual({ kind: 'foreign' });
      });
    });

    test('an image lives 7 days, a video 30, an order half a day, and then each is deleted', async () => {
      const nowMs = home.nowMs();
      const lives: [FileName, number][] = [
        [newOrder(nowMs), VIDEO_ORDER_KEPT_MS],
        [newImage(nowMs), 7 * DAY_MS],
        [newVideo(nowMs), 30 * DAY_MS],
      ];
      const there = async () =>
        (await Promise.all(lives.map(([file]) => home.store.size(file)))).map((size) => size !== null);
      for (const [file] of lives) await home.store.write(file, inChunks(bodyOf(10)));
      const { signal } = new AbortController();
      for (const [at, [, keptMs]] of lives.entries()) {
        await home.store.deleteEnded(nowMs + keptMs, signal);
        expect(await there()).toEqual(lives.map((_, each) => each >= at));
        // Two processes at once.
        const afterMs = nowMs + keptMs + 2 * HOUR_MS;
        await Promise.all([1, 2].map(() => home.store.deleteEnded(afterMs, signal)));
        expect(await there()).toEqual(lives.map((_, each) => each > at));
      }
    });
  });
}
