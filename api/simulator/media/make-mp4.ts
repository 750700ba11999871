import { createHash } from 'node:crypto';
import { type Colour, encodeH264, type H264Video, type Image } from './encode-h264.ts';

export interface VideoSpec extends Image {
  seconds: number;
  /** The same seed gives the same bytes. */
  seed: string;
}

const FRAMES_PER_SECOND = 24;

/** A small H.264 video: stripes that take other colours each second. */
export function makeMp4({ seconds, seed, ...image }: VideoSpec): Buffer {
  const frames = seconds * FRAMES_PER_SECOND;
  const colours = createHash('sha256').update(seed).digest();
  const video = encodeH264(image, frames, FRAMES_PER_SECOND, (second, row) => stripe(colours, second, row));
  const type = box('ftyp', text('isom'), u32(0x200), text('isomiso2avc1mp41'));
  const samples = video.frames.map(({ unit }) => Buffer.concat([u32(unit.length), unit]));
  // Where the samples begin stands before them and depends on nothing but the length of what stands there.
  const offset = type.length + movie(image, video, samples, 0).length + BOX_HEADER_BYTES;
  return Buffer.concat([type, movie(image, video, samples, offset), box('mdat', ...samples)]);
}

function stripe(colours: Buffer, second: number, row: number): Colour {
  const at = (second * 3 + Math.floor(row / 2)) % 8;
  const pick = (index: number): number => 32 + ((colours[at * 3 + index] ?? 0) % 192);
  return [pick(0), pick(1), pick(2)];
}

function movie(image: Image, video: H264Video, samples: readonly Buffer[], offset: number): Buffer {
  const { widthPx, heightPx } = image;
  const duration = samples.length;
  const header = full(
    'mvhd',
    0,
    u32(0),
    u32(0),
    u32(FRAMES_PER_SECOND),
    u32(duration),
    u32(0x10000),
    u16(0x100),
    zeros(10),
    matrix,
    zeros(24),
    u32(2),
  );
  const track = full(
    'tkhd',
    3,
    u32(0),
    u32(0),
    u32(1),
    u32(0),
    u32(duration),
    zeros(16),
    matrix,
    u32(widthPx << 16),
    u32(heightPx << 16),
  );
  const media = box(
    'mdia',
    full('mdhd', 0, u32(0), u32(0), u32(FRAMES_PER_SECOND), u32(duration), u16(0x55c4), u16(0)),
    full('hdlr', 0, u32(0), text('vide'), zeros(12), text('video\0')),
    box(
      'minf',
      full('vmhd', 1, zeros(8)),
      box('dinf', full('dref', 0, u32(1), full('url ', 1))),
      sampleTable(image, video, samples, offset),
    ),
  );
  return box('moov', header, box('trak', track, media));
}

function sampleTable(
  { widthPx, heightPx }: Image,
  video: H264Video,
  samples: readonly Buffer[],
  offset: number,
): Buffer {
  const { sps, pps, frames } = video;
  const keys = frames.flatMap(({ isKey }, at) => (isKey ? [u32(at + 1)] : []));
  const decoder = box(
    'avcC',
    Buffer.from([1, ...sps.subarray(1, 4), 0xff, 0xe1]),
    u16(sps.length),
    Buffer.from(sps),
    Buffer.from([1]),
    u16(pps.length),
    Buffer.from(pps),
  );
  const entry = box(
    'avc1',
    zeros(6),
    u16(1),
    zeros(16),
    u16(widthPx),
    u16(heightPx),
    u32(0x480000),
    u32(0x480000),
    u32(0),
    u16(1),
    zeros(32),
    u16(24),
    u16(0xffff),
    decoder,
  );
  return box(
    'stbl',
    full('stsd', 0, u32(1), entry),
    full('stts', 0, u32(1), u32(samples.length), u32(1)),
    full('stss', 0, u32(keys.length), ...keys),
    full('stsc', 0, u32(1), u32(1), u32(samples.length), u32(1)),
    full('stsz', 0, u32(0), u32(samples.length), ...samples.map(({ length }) => u32(length))),
    full('stco', 0, u32(1), u32(offset)),
  );
}

const BOX_HEADER_BYTES = 8;

function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([u32(BOX_HEADER_BYTES + content.length), text(type), content]);
}

const full = (type: string, flags: number, ...parts: readonly Buffer[]): Buffer =>
  box(type, u32(flags), ...parts);

const text = (letters: string): Buffer => Buffer.from(letters, 'latin1');
const zeros = (count: number): Buffer => Buffer.alloc(count);

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Nothing is turned or moved. */
const matrix = Buffer.concat([0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].map(u32));
