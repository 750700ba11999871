import { BitWriter } from './bit-writer.ts';

export interface H264Video {
  /** Sequence and image parameters, without start codes. */
  sps: Uint8Array;
  pps: Uint8Array;
  /** One for each frame. */
  frames: readonly { isKey: boolean; unit: Uint8Array }[];
}

export interface Image {
  widthPx: number;
  heightPx: number;
}

/** Of one row of blocks. */
export type Colour = readonly [y: number, cb: number, cr: number];

const BLOCK = 16;
const NAL_SPS = 0x67;
const NAL_PPS = 0x68;
const NAL_KEY = 0x65;
const NAL_FRAME = 0x41;
const FRAME_NUM_BITS = 8;

/**
 * Constrained baseline, in as few bytes as it can be said: a key frame a second, in which each row of blocks has one
 * colour, and frames between them that change nothing.
 */
export function encodeH264(
  { widthPx, heightPx }: Image,
  frameCount: number,
  framesPerSecond: number,
  colourOf: (second: number, row: number) => Colour,
): H264Video {
  const columns = Math.ceil(widthPx / BLOCK);
  const rows = Math.ceil(heightPx / BLOCK);
  const frames = Array.from({ length: frameCount }, (_, at) => {
    const sinceKey = at % framesPerSecond;
    const second = Math.floor(at / framesPerSecond);
    const unit =
      sinceKey === 0
        ? keyFrame(columns, rows, second, (row) => colourOf(second, row))
        : sameFrame(columns * rows, sinceKey);
    return { isKey: sinceKey === 0, unit };
  });
  return { sps: sequenceParameters(widthPx, heightPx, columns, rows), pps: imageParameters(), frames };
}

function sequenceParameters(widthPx: number, heightPx: number, columns: number, rows: number): Uint8Array {
  const out = new BitWriter();
  out.bits(66, 8); // profile: baseline
  out.bits(0b1100_0000, 8); // constrained
  out.bits(40, 8); // level 4.0
  out.ue(0); // id
  out.ue(FRAME_NUM_BITS - 4);
  out.ue(2); // order of output = order of decoding
  out.ue(1); // reference frames
  out.bits(0, 1);
  out.ue(columns - 1);
  out.ue(rows - 1);
  out.bits(1, 1); // frames, no fields
  out.bits(1, 1); // direct_8x8_inference
  const right = (columns * BLOCK - widthPx) / 2;
  const bottom = (rows * BLOCK - heightPx) / 2;
  out.bits(right + bottom > 0 ? 1 : 0, 1);
  if (right + bottom > 0) for (const cropped of [0, right, 0, bottom]) out.ue(cropped);
  out.bits(0, 1); // no VUI
  return unit(NAL_SPS, out.end());
}

function imageParameters(): Uint8Array {
  const out = new BitWriter();
  out.ue(0); // id
  out.ue(0); // of this sequence
  out.bits(0, 1); // CAVLC
  out.bits(0, 1);
  out.ue(0); // one slice group
  out.ue(0);
  out.ue(0);
  out.bits(0, 1); // no weighted prediction
  out.bits(0, 2);
  out.ue(0); // QP 26
  out.ue(0);
  out.ue(0);
  out.bits(1, 1); // slices say whether they are deblocked
  out.bits(0, 1);
  out.bits(0, 1);
  return unit(NAL_PPS, out.end());
}

/** Every block of a row takes its colour from the one to its left; the first has it in plain samples. */
function keyFrame(
  columns: number,
  rows: number,
  keyId: number,
  colourOf: (row: number) => Colour,
): Uint8Array {
  const out = new BitWriter();
  out.ue(0); // first block
  out.ue(7); // I, all slices
  out.ue(0);
  out.bits(0, FRAME_NUM_BITS);
  out.ue(keyId % 2); // neighbouring key frames differ by it
  out.bits(0, 1);
  out.bits(0, 1);
  out.ue(0); // QP as it is
  out.ue(1); // not deblocked
  for (let row = 0; row < rows; row++) {
    const [y, cb, cr] = colourOf(row);
    out.ue(25); // I_PCM
    out.align();
    out.bytes(new Uint8Array(256).fill(y));
    out.bytes(new Uint8Array(64).fill(cb));
    out.bytes(new Uint8Array(64).fill(cr));
    for (let column = 1; column < columns; column++) {
      out.ue(2); // I_16x16, predicted from the left, nothing added
      out.ue(1); // colours from the left
      out.ue(0); // QP as it is
      // No coefficients; how that is written depends on those of the neighbours, of which plain samples have all.
      if (column === 1) out.bits(0b000011, 6);
      else out.bits(1, 1);
    }
  }
  return unit(NAL_KEY, out.end());
}

function sameFrame(blocks: number, frameNum: number): Uint8Array {
  const out = new BitWriter();
  out.ue(0);
  out.ue(5); // P, all slices
  out.ue(0);
  out.bits(frameNum, FRAME_NUM_BITS);
  out.bits(0, 1);
  out.bits(0, 1);
  out.bits(0, 1);
  out.ue(0);
  out.ue(1);
  out.ue(blocks); // all skipped
  return unit(NAL_FRAME, out.end());
}

/** Two zeros and a small number would look like the start of a unit: a 3 stands between them. */
function unit(header: number, payload: Uint8Array): Uint8Array {
  const bytes = [header];
  let zeros = 0;
  for (const byte of payload) {
    if (zeros >= 2 && byte <= 3) {
      bytes.push(3);
      zeros = 0;
    }
    bytes.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Uint8Array.from(bytes);
}
