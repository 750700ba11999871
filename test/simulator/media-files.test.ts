import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, inflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { encodeH264 } from '../../api/simulator/media/encode-h264.ts';
import { makeMp4 } from '../../api/simulator/media/make-mp4.ts';
import { makePng, padPng } from '../../api/simulator/media/make-png.ts';
import { makeWebp } from '../../api/simulator/media/make-webp.ts';

/** The content of a box, by the names of those around it. */
function box(file: Buffer, ...path: string[]): Buffer {
  let content = file;
  for (const name of path) {
    let at = 0;
    while (content.toString('latin1', at + 4, at + 8) !== name) {
      at += content.readUInt32BE(at);
      if (at >= content.length) throw new Error(`no box ${name}`);
    }
    content = content.subarray(at + 8, at + content.readUInt32BE(at));
  }
  return content;
}

const TABLE = ['moov', 'trak', 'mdia', 'minf', 'stbl'];

describe('a video', () => {
  const file = makeMp4({ widthPx: 854, heightPx: 480, seconds: 3, seed: 'a' });

  test('has a frame for each twenty-fourth of a second, each where its table says', () => {
    const sizes = box(file, ...TABLE, 'stsz');
    const count = sizes.readUInt32BE(8);
    expect(count).toBe(72);
    let at = box(file, ...TABLE, 'stco').readUInt32BE(8);
    const types: number[] = [];
    for (let frame = 0; frame < count; frame++) {
      const size = sizes.readUInt32BE(12 + 4 * frame);
      expect(file.readUInt32BE(at)).toBe(size - 4);
      types.push((file[at + 4] ?? 0) & 0x1f);
      at += size;
    }
    expect(at).toBe(file.length);
    // A key frame (5) each second, others (1) between.
    expect(types.flatMap((type, frame) => (type === 5 ? [frame] : []))).toEqual([0, 24, 48]);
    expect(new Set(types)).toEqual(new Set([1, 5]));
  });

  test('has nothing in a frame that looks like the start of another, even where it is black', () => {
    const black = encodeH264({ widthPx: 64, heightPx: 64 }, 2, 24, () => [0, 0, 0]);
    for (const { unit } of black.frames) {
      expect(Buffer.from(unit).toString('hex')).not.toMatch(/^(..)*0000(00|01|02)/);
    }
  });

  test('is small, however large its frames', () => {
    expect(file.length).toBeLessThan(100_000);
    expect(makeMp4({ widthPx: 3840, heightPx: 2160, seconds: 8, seed: 'a' }).length).toBeLessThan(1_000_000);
  });

  test('is the same for the same seed, and no other', () => {
    const spec = { widthPx: 64, heightPx: 32, seconds: 1 };
    expect(makeMp4({ ...spec, seed: 'a' })).toEqual(makeMp4({ ...spec, seed: 'a' }));
    expect(makeMp4({ ...spec, seed: 'a' })).not.toEqual(makeMp4({ ...spec, seed: 'b' }));
  });
});

test('a PNG has sound chunks and all of its pixels, padded or not', () => {
  const plain = makePng({ widthPx: 100, heightPx: 50 }, 'a');
  for (const png of [plain, padPng(plain, 10_000)]) {
    const chunks = new Map<string, Buffer>();
    for (let at = 8; at < png.length; ) {
      const length = png.readUInt32BE(at);
      const named = png.subarray(at + 4, at + 8 + length);
      expect(png.readUInt32BE(at + 8 + length)).toBe(crc32(named));
      chunks.set(named.toString('latin1', 0, 4), named.subarray(4));
      at += 12 + length;
    }
    expect([...chunks.keys()].filter((name) => name !== 'fgPd')).toEqual(['IHDR', 'IDAT', 'IEND']);
    expect(inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0)).length).toBe(301 * 50);
  }
  expect(padPng(plain, 10_000).length).toBe(10_000);
});

const decoder = spawnSync('ffmpeg', ['-version']).error === undefined;

describe.skipIf(!decoder)('ffmpeg', () => {
  test.each<[string, Buffer, Record<string, unknown>]>([
    [
      'a.mp4',
      makeMp4({ widthPx: 1280, heightPx: 720, seconds: 2, seed: 'a' }),
      { codec_name: 'h264', width: 1280, height: 720, nb_read_frames: '48' },
    ],
    [
      'cropped.mp4',
      makeMp4({ widthPx: 854, heightPx: 480, seconds: 1, seed: 'b' }),
      { codec_name: 'h264', width: 854, height: 480, nb_read_frames: '24' },
    ],
    ['a.png', padPng(makePng({ widthPx: 90, heightPx: 50 }, 'a'), 9_000), { codec_name: 'png', width: 90 }],
    ['a.webp', makeWebp({ widthPx: 91, heightPx: 50 }, 'a'), { codec_name: 'webp', width: 91, height: 50 }],
  ])('decodes %s without a complaint', (name, bytes, stream) => {
    const folder = mkdtempSync(join(tmpdir(), 'faregate-media-'));
    try {
      const path = join(folder, name);
      writeFileSync(path, bytes);
      const decoded = spawnSync('ffmpeg', ['-v', 'warning', '-i', path, '-f', 'null', '-']);
      expect(decoded.stderr.toString()).toBe('');
      const probed = spawnSync('ffprobe', [
        '-v',
        'error',
        '-count_frames',
        '-show_streams',
        '-of',
        'json',
        path,
      ]);
      expect(JSON.parse(probed.stdout.toString()).streams).toEqual([expect.objectContaining(stream)]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
