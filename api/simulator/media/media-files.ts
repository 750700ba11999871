import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { MadeImages } from './image-models.ts';
import type { SimVideo } from './video-models.ts';

type Sides = Pick<MadeImages, 'widthPx' | 'heightPx'>;
type Film = Pick<SimVideo, 'widthPx' | 'heightPx' | 'seconds'>;

const PALETTE_AT = 41;
const PALETTE_BYTES = 24;
const EMPTY_CHUNK_BYTES = 12;
const WEBP_SIDES_AT = 21;
const WEBP_COLOURS_AT = 25;
/** The most bytes that are read as one number. */
const WEBP_COLOURS_BYTES = 6;

const fixtures = new Map<string, Promise<Buffer>>();

/** A file of the folder `files`, which is read once and must not be changed. */
function readFixture(name: string): Promise<Buffer> {
  let file = fixtures.get(name);
  if (file === undefined) {
    file = readFile(new URL(`files/${name}`, import.meta.url));
    fixtures.set(name, file);
  }
  return file;
}

/** Stripes in the colours of the seed, which stand in the palette. */
export async function pngOf({ widthPx, heightPx }: Sides, seed: string): Promise<Buffer> {
  const png = Buffer.from(await readFixture(`${widthPx}x${heightPx}.png`));
  const end = PALETTE_AT + PALETTE_BYTES;
  hash('sha256', seed, 'buffer').copy(png, PALETTE_AT, 0, PALETTE_BYTES);
  png.writeUInt32BE(crc32(png.subarray(PALETTE_AT - 'PLTE'.length, end)), end);
  return png;
}

/** As many bytes as wanted, and still the same image: readers skip a chunk that they do not know. */
export function padPng(png: Buffer, bytes: number): Buffer {
  const padding = bytes - png.length - EMPTY_CHUNK_BYTES;
  if (padding < 0) return png;
  const chunk = Buffer.alloc(EMPTY_CHUNK_BYTES + padding);
  chunk.writeUInt32BE(padding, 0);
  chunk.write('fgPd', 4, 'latin1');
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4);
  const end = png.length - EMPTY_CHUNK_BYTES;
  return Buffer.concat([png.subarray(0, end), chunk, png.subarray(end)]);
}

/** One colour of the seed. A pixel of the file takes no bits, so its header alone says how large the image is. */
export async function webpOf({ widthPx, heightPx }: Sides, seed: string): Promise<Buffer> {
  const webp = Buffer.from(await readFixture('black.webp'));
  const [red = 0, green = 0, blue = 0] = hash('sha256', seed, 'buffer');
  webp.writeUInt32LE(widthPx - 1 + (heightPx - 1) * 2 ** 14, WEBP_SIDES_AT);
  const black = webp.readUIntLE(WEBP_COLOURS_AT, WEBP_COLOURS_BYTES);
  const colours = black + green * 2 ** 6 + red * 2 ** 17 + blue * 2 ** 28;
  webp.writeUIntLE(colours, WEBP_COLOURS_AT, WEBP_COLOURS_BYTES);
  return webp;
}

/** Bars that change their colours each second. Another digest, of 64 letters, is another file that looks the same. */
export async function mp4Of({ widthPx, heightPx, seconds }: Film, digest: string): Promise<Buffer> {
  const video = await readFixture(`${widthPx}x${heightPx}-${seconds}s.mp4`);
  // A box of 72 bytes, which players skip.
  return Buffer.concat([video, Buffer.from(`\0\0\0\x48free${digest}`, 'latin1')]);
}
