import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { crc32, inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { simImageModels } from '../../api/simulator/media/image-models.ts';
import { readImageRequest } from '../../api/simulator/media/image-request.ts';
import { mp4Of, padPng, pngOf, webpOf } from '../../api/simulator/media/media-files.ts';
import { simVideoModels } from '../../api/simulator/media/video-models.ts';
import { readVideoRequest } from '../../api/simulator/media/video-request.ts';

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)] as const;
const SMALLEST_VIDEO = { widthPx: 480, heightPx: 480, seconds: 1 };

/** Every size and length that a request for a video can get. */
const videos = simVideoModels.flatMap(({ id: model, resolutions, aspectRatios, durations }) =>
  (resolutions ?? ['1080p']).flatMap((resolution) =>
    (aspectRatios ?? ['4:3']).flatMap((aspect_ratio) =>
      (durations ?? [9]).map((duration) => {
        const reading = readVideoRequest({ model, prompt: 'a', resolution, aspect_ratio, duration }, 'seed');
        if (!reading.ok) throw new Error(reading.message);
        const { widthPx, heightPx, seconds } = reading.request.video;
        return { widthPx, heightPx, seconds };
      }),
    ),
  ),
);

/** Every size that a request for an image can get, listed or not. */
const images = simImageModels.flatMap(({ id: model }) =>
  ['512', '1K', '2K', '8K'].flatMap((resolution) =>
    ['1:1', '16:9', '9:16', '3:2', '7:3', 'none'].map((aspect_ratio) => {
      const reading = readImageRequest({ model, prompt: 'a', resolution, aspect_ratio }, 'seed');
      if (!reading.ok) throw new Error(reading.message);
      const { widthPx, heightPx } = reading.request.made;
      return { widthPx, heightPx };
    }),
  ),
);

const distinct = <T>(all: readonly T[]): T[] =>
  [...new Set(all.map((each) => JSON.stringify(each)))].map((each) => JSON.parse(each));

const videosByName = distinct(videos).map(
  (each) => [`${each.widthPx}x${each.heightPx}-${each.seconds}s`, each] as const,
);
const imagesByName = distinct(images).map((each) => [`${each.widthPx}x${each.heightPx}`, each] as const);

/** The content of a box, by the names of those around it. */
function box(file: Buffer, ...path: string[]): Buffer {
  let content = file;
  for (const name of path) {
    const part = boxesOf(content).find((each) => each.name === name);
    if (part === undefined) throw new Error(`no box ${name}`);
    content = part.content;
  }
  return content;
}

function boxesOf(file: Buffer): { name: string; content: Buffer }[] {
  const boxes: { name: string; content: Buffer }[] = [];
  let at = 0;
  while (at < file.length) {
    const end = at + file.readUInt32BE(at);
    boxes.push({ name: file.toString('latin1', at + 4, at + 8), content: file.subarray(at + 8, end) });
    at = end;
  }
  expect(at).toBe(file.length);
  return boxes;
}

const TRACK = ['moov', 'trak'];
const MEDIA = [...TRACK, 'mdia'];
const TABLE = [...MEDIA, 'minf', 'stbl'];

describe('a video', () => {
  test.each(videosByName)('of %s is as large and as long as ordered', async (_, video) => {
    const file = await mp4Of(video, A);
    const track = box(file, ...TRACK, 'tkhd');
    const sides = [track.readUInt32BE(76), track.readUInt32BE(80)];
    expect(sides).toEqual([video.widthPx * 0x10000, video.heightPx * 0x10000]);
    const header = box(file, ...MEDIA, 'mdhd');
    expect(header.readUInt32BE(16) / header.readUInt32BE(12)).toBe(video.seconds);
  });

  test.each(videosByName)('of %s has a frame for each twenty-fourth of a second', async (_, video) => {
    const file = await mp4Of(video, A);
    const sizes = box(file, ...TABLE, 'stsz');
    const count = sizes.readUInt32BE(8);
    expect(count).toBe(24 * video.seconds);
    const frames = box(file, 'mdat');
    let at = 0;
    const types: number[] = [];
    for (let frame = 0; frame < count; frame++) {
      const size = sizes.readUInt32BE(12 + 4 * frame);
      expect(frames.readUInt32BE(at)).toBe(size - 4);
      types.push((frames[at + 4] ?? 0) & 0x1f);
      at += size;
    }
    expect(at).toBe(frames.length);
    // A key frame (5) each second, others (1) between.
    const keys = types.flatMap((type, frame) => (type === 5 ? [frame] : []));
    expect(keys).toEqual(Array.from({ length: video.seconds }, (_, second) => second * 24));
    expect(new Set(types)).toEqual(new Set([1, 5]));
  });

  test('is the same for the same seed, and no other', async () => {
    expect(await mp4Of(SMALLEST_VIDEO, A)).toEqual(await mp4Of(SMALLEST_VIDEO, A));
    expect(await mp4Of(SMALLEST_VIDEO, A)).not.toEqual(await mp4Of(SMALLEST_VIDEO, B));
  });
});

test.each(imagesByName)('a PNG of %s has sound chunks and all pixels, padded or not', async (_, made) => {
  const { widthPx, heightPx } = made;
  const plain = await pngOf(made, 'a');
  for (const png of [plain, padPng(plain, 10_000)]) {
    const chunks = new Map<string, Buffer>();
    for (let at = 8; at < png.length; ) {
      const length = png.readUInt32BE(at);
      const chunk = png.subarray(at + 4, at + 8 + length);
      expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(chunk));
      chunks.set(chunk.toString('latin1', 0, 4), chunk.subarray(4));
      at += 12 + length;
    }
    expect([...chunks.keys()].filter((name) => name !== 'fgPd')).toEqual(['IHDR', 'PLTE', 'IDAT', 'IEND']);
    const header = chunks.get('IHDR');
    expect([header?.readUInt32BE(0), header?.readUInt32BE(4)]).toEqual([widthPx, heightPx]);
    expect(inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0)).length).toBe((widthPx + 1) * heightPx);
  }
  expect(padPng(plain, 10_000).length).toBe(10_000);
});

test('the same seed gives the same image, another seed other colours', async () => {
  const made = { widthPx: 682, heightPx: 384 };
  for (const imageOf of [pngOf, webpOf]) {
    const image = await imageOf(made, 'a');
    expect(await imageOf(made, 'a')).toEqual(image);
    const other = await imageOf(made, 'b');
    expect(other).not.toEqual(image);
    expect(other.length).toBe(image.length);
  }
});

const folder = new URL('../../api/simulator/media/files/', import.meta.url);

test('every file is one that a request can get', () => {
  const mp4s = videosByName.map(([name]) => `${name}.mp4`);
  const pngs = imagesByName.map(([name]) => `${name}.png`);
  expect(readdirSync(folder).sort()).toEqual([...mp4s, ...pngs, 'black.webp', 'README.md'].sort());
});

test('files are small, however large their frames', () => {
  const bytes = readdirSync(folder).map((name) => statSync(new URL(name, folder)).size);
  expect(Math.max(...bytes)).toBeLessThan(10_000);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(200_000);
});

const isInstalled = spawnSync('ffprobe', ['-version']).error === undefined;

describe.skipIf(!isInstalled)('ffmpeg', () => {
  function expectDecoded(bytes: Buffer, stream: Record<string, unknown>): void {
    const show = ['-count_frames', '-show_streams', '-of', 'json'];
    const probed = spawnSync('ffprobe', ['-v', 'warning', ...show, '-'], { input: bytes });
    expect(probed.stderr.toString()).toBe('');
    expect(JSON.parse(probed.stdout.toString()).streams).toEqual([expect.objectContaining(stream)]);
  }

  test.each(videosByName)('decodes a video of %s without a complaint', async (_, video) => {
    const { widthPx: width, heightPx: height, seconds } = video;
    const stream = { codec_name: 'h264', width, height, nb_read_frames: String(24 * seconds) };
    expectDecoded(await mp4Of(video, A), stream);
  });

  test.each(imagesByName)('decodes images of %s without a complaint', async (_, made) => {
    const sides = { width: made.widthPx, height: made.heightPx, nb_read_frames: '1' };
    expectDecoded(padPng(await pngOf(made, 'a'), 9_000), { codec_name: 'png', ...sides });
    expectDecoded(await webpOf(made, 'a'), { codec_name: 'webp', ...sides });
  });
});
