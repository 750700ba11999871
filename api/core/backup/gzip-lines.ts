import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { pipeline as pipelineDone } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { OWNER_ONLY } from '../accounts/private-file.ts';

/**
 * The longest line of an archive. An agent with every call that it may have ended in an hour has some 4 MB.
 */
const ARCHIVE_LINE_BYTES_MAX = 64 * 1024 * 1024;

/** A stream takes a portion at a time: line by line would cost several times as much. */
const PORTION_CHARS = 64 * 1024;
const NEWLINE = 0x0a;

/** Lines, without their ends, to a new file that only its owner reads; on the disk when it resolves. */
export async function writeGzipLines(file: string, lines: AsyncIterable<string>): Promise<void> {
  const target = createWriteStream(file, { flags: 'wx', mode: OWNER_ONLY, flush: true });
  await pipelineDone(inPortions(lines), createGzip(), target);
}

async function* inPortions(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let portion = '';
  for await (const line of lines) {
    portion += `${line}\n`;
    if (portion.length < PORTION_CHARS) continue;
    yield portion;
    portion = '';
  }
  if (portion !== '') yield portion;
}

/** Throws what the file system or zlib says, and on a line that has no end. */
export async function* readGzipLines(file: string): AsyncGenerator<Buffer> {
  const bytes: AsyncIterable<Buffer> = pipeline(createReadStream(file), createGunzip(), () => {
    // What fails there is thrown by the walk below.
  });
  let begun: Buffer[] = [];
  let begunBytes = 0;
  for await (const portion of bytes) {
    let from = 0;
    for (let end = portion.indexOf(NEWLINE); end >= 0; end = portion.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...begun, portion.subarray(from, end)]);
      begun = [];
      begunBytes = 0;
      from = end + 1;
    }
    begun.push(portion.subarray(from));
    begunBytes += portion.length - from;
    if (begunBytes > ARCHIVE_LINE_BYTES_MAX) throw new Error('a line is too long');
  }
  if (begunBytes > 0) throw new Error('the last line has no end');
}
