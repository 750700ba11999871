import { createHash } from 'node:crypto';
import type { Image } from './encode-h264.ts';

const VP8L_SIGNATURE = 0x2f;

/** Lossless: stripes of two greens, which is as little as the format can say. Its bits begin at the lowest of a byte. */
export function makeWebp({ widthPx, heightPx }: Image, seed: string): Buffer {
  const [red = 0, dark = 0, blue = 0, stripes = 0] = createHash('sha256').update(seed).digest();
  const bits: number[] = [];
  const put = (value: number, count: number): void => {
    for (let at = 0; at < count; at++) bits.push((value >>> at) & 1);
  };
  put(widthPx - 1, 14);
  put(heightPx - 1, 14);
  put(0, 1); // opaque
  put(0, 3); // version
  put(0, 1); // no transform
  put(0, 1); // no cache of colours
  put(0, 1); // one set of codes
  const one = (symbol: number): void => {
    put(1, 1); // simple
    put(0, 1); // one symbol, which then takes no bits at all
    put(1, 1);
    put(symbol, 8);
  };
  put(1, 1);
  put(1, 1); // two greens, one bit a pixel
  put(1, 1);
  put(dark % 128, 8);
  put(128 + (dark % 128), 8);
  one(red);
  one(blue);
  one(255); // alpha
  one(0); // distance: nothing is repeated
  const height = 4 + (stripes % 32);
  for (let row = 0; row < heightPx; row++) {
    const bit = Math.floor(row / height) % 2;
    for (let column = 0; column < widthPx; column++) bits.push(bit);
  }
  return riff(bits);
}

function riff(bits: readonly number[]): Buffer {
  const stream = Buffer.alloc(Math.ceil(bits.length / 8));
  bits.forEach((bit, at) => {
    stream[at >> 3] = (stream[at >> 3] ?? 0) | (bit << (at & 7));
  });
  const data = Buffer.concat([Buffer.from([VP8L_SIGNATURE]), stream]);
  const padded = data.length % 2 === 0 ? data : Buffer.concat([data, Buffer.alloc(1)]);
  const head = Buffer.alloc(20);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(12 + padded.length, 4);
  head.write('WEBPVP8L', 8, 'latin1');
  head.writeUInt32LE(data.length, 16);
  return Buffer.concat([head, padded]);
}
