import { textAnswer } from '../answers.ts';
import { refusal } from '../error-body.ts';
import type { Answer, Piece } from '../send.ts';

export interface FileContent {
  file: Buffer;
  /** With what is added so that it is as large as a script wants it: a box of zeros, which players skip. */
  bytes: number;
  contentType: string;
  etag: string;
}

/** Headers of the request. */
export interface AskedPart {
  range: string | undefined;
  ifRange: string | undefined;
}

const RANGE = /^bytes=(\d+)-(\d*)$/;
const BOX_HEADER_BYTES = 16;
const ZEROS = Buffer.alloc(1024 * 1024);

/** A file, or the part of it that was asked for. */
export function fileAnswer(content: FileContent, asked: AskedPart): Answer {
  const { file, contentType, etag } = content;
  const bytes = Math.max(content.bytes, file.length);
  const headers = { 'content-type': contentType, 'accept-ranges': 'bytes', etag };
  const range = asked.ifRange === undefined || asked.ifRange === etag ? RANGE.exec(asked.range ?? '') : null;
  const from = Number(range?.[1] ?? 0);
  const to = range?.[2] ? Math.min(Number(range[2]) + 1, bytes) : bytes;
  if (range !== null && from >= to) {
    return textAnswer(416, refusal(416, 'Range not satisfiable'), { 'content-range': `bytes */${bytes}` });
  }
  const ofPart = range === null ? {} : { 'content-range': `bytes ${from}-${to - 1}/${bytes}` };
  return {
    status: range === null ? 200 : 206,
    headers: { ...headers, 'content-length': String(to - from), ...ofPart },
    pieces: pieces(file, bytes, from, to),
    endless: null,
  };
}

/** However large: the zeros are the same megabyte each time. */
function pieces(file: Buffer, bytes: number, from: number, to: number): Piece[] {
  const found: Piece[] = [];
  const add = (part: Buffer, begin: number, end: number): void => {
    if (begin < end) found.push({ data: part.subarray(begin, end), textBytes: 0 });
  };
  const box = freeBox(bytes - file.length);
  const head = Buffer.concat([file, box]);
  add(head, from, Math.min(to, head.length));
  for (let at = Math.max(from, head.length); at < to; at += ZEROS.length)
    add(ZEROS, 0, Math.min(ZEROS.length, to - at));
  return found;
}

function freeBox(bytes: number): Buffer {
  if (bytes < BOX_HEADER_BYTES) return Buffer.alloc(bytes);
  const head = Buffer.alloc(BOX_HEADER_BYTES);
  head.writeUInt32BE(1, 0); // the length is the long one, behind the name
  head.write('free', 4, 'latin1');
  head.writeBigUInt64BE(BigInt(bytes), 8);
  return head;
}
