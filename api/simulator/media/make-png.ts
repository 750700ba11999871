import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import type { Image } from './encode-h264.ts';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const STRIPES = 8;

/** Stripes in the seed's colours. */
export function makePng({ widthPx, heightPx }: Image, seed: string): Buffer {
  const colours = createHash('sha256').update(seed).digest();
  const rows: Buffer[] = [];
  for (let row = 0; row < heightPx; row++) {
    const at = Math.floor((row * STRIPES) / heightPx) * 3;
    // Each row begins with its filter: none.
    rows.push(Buffer.from([0]), Buffer.alloc(widthPx * 3, colours.subarray(at, at + 3)));
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(widthPx, 0);
  header.writeUInt32BE(heightPx, 4);
  header.set([8, 2], 8); // eight bits of red, green and blue
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** As many bytes as wanted, and still the same image: readers skip a chunk that they do not know. */
export function padPng(png: Buffer, bytes: number): Buffer {
  const padding = bytes - png.length - EMPTY_CHUNK_BYTES;
  if (padding < 0) return png;
  const end = png.length - EMPTY_CHUNK_BYTES;
  return Buffer.concat([png.subarray(0, end), chunk('fgPd', Buffer.alloc(padding)), png.subarray(end)]);
}

const EMPTY_CHUNK_BYTES = 12;

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}
