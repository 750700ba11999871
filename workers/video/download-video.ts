import type { Dispatcher } from 'undici';
import type { Provider } from '#core/catalog/catalog.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { FileName } from '#core/files/file-name.ts';
import type { FileStore, WrittenFile } from '#core/files/file-store.ts';
import { GIGABYTE } from '#core/limits.ts';
import type { Deadlines } from './deadlines.ts';
import type { VideoProvider } from './video-provider.ts';

/** The largest video file. A minute of 4k video has some 400 MB. */
const VIDEO_BYTES_MAX = 2 * GIGABYTE;
/** A download that delivers nothing for this long is resumed where it stopped. */
const VIDEO_STALL_MS = 30 * SECOND_MS;
/** Time for a download from its first byte to its last, interruptions included. */
const VIDEO_DOWNLOAD_MS = 30 * MINUTE_MS;
/** How often one download may be resumed before it starts over. */
const VIDEO_RESUMES_MAX = 10;

export type Downloaded =
  | { kind: 'stored'; file: WrittenFile }
  /** The provider has no such file, or no longer. */
  | { kind: 'gone' }
  /** Too large, or no MP4. */
  | { kind: 'unfit' }
  /** Cut, slow or refused: it may be there later. */
  | { kind: 'source_failed' }
  | { kind: 'storage_failed'; error: unknown };

export interface DownloadOptions {
  videos: VideoProvider;
  files: Pick<FileStore, 'write'>;
  clock: Clock;
  deadlines: Deadlines;
  provider: Provider;
  providerJobId: string;
  name: FileName;
  /** The process is about to end. */
  closing: AbortSignal;
}

/** From the provider into storage, never whole in memory; what was cut goes on where it stopped, if it is the same file. */
export async function downloadVideo(options: DownloadOptions): Promise<Downloaded> {
  const { deadlines, files, name } = options;
  const late = new AbortController();
  const whole = deadlines.start(VIDEO_DOWNLOAD_MS, () => late.abort());
  const ended = AbortSignal.any([late.signal, options.closing]);
  try {
    return { kind: 'stored', file: await files.write(name, readContent(options, ended)) };
  } catch (error) {
    return error instanceof SourceError ? { kind: error.kind } : { kind: 'storage_failed', error };
  } finally {
    whole.end();
  }
}

/** Passes through `write`, which throws what its source throws. */
class SourceError extends Error {
  readonly kind: 'gone' | 'unfit' | 'source_failed';

  constructor(kind: SourceError['kind']) {
    super(kind);
    this.kind = kind;
  }
}

async function* readContent(options: DownloadOptions, ended: AbortSignal): AsyncGenerator<Buffer> {
  const { videos, clock, deadlines, provider, providerJobId } = options;
  let first: Part | null = null;
  let bytes = 0;
  let head = Buffer.alloc(0);
  for (let resumes = 0; ; resumes++) {
    const stall = new AbortController();
    const deadline = deadlines.start(VIDEO_STALL_MS, () => stall.abort());
    const signal = AbortSignal.any([stall.signal, ended]);
    try {
      const from = first?.etag == null ? null : { byte: bytes, etag: first.etag };
      const answer = await videos.fetchContent(provider, providerJobId, from, signal);
      answer.body.on('error', () => {});
      try {
        const part: Part = from === null ? readPart(answer) : readRest(answer, from.byte, first);
        first ??= part;
        for await (const chunk of answer.body) {
          deadline.renew();
          const buffer: Buffer = chunk;
          bytes += buffer.length;
          if (bytes > Math.min(first.bytes, VIDEO_BYTES_MAX)) throw new SourceError('unfit');
          let piece = buffer;
          if (head.length < MAGIC_BYTES) {
            head = Buffer.concat([head, buffer]);
            if (head.length < MAGIC_BYTES) continue;
            if (head.toString('latin1', 4, MAGIC_BYTES) !== 'ftyp') throw new SourceError('unfit');
            piece = head;
          }
          // Storage that takes its time is no silence of the provider's.
          deadline.end();
          yield piece;
          deadline.renew();
        }
        if (bytes === first.bytes || (first.bytes === UNSAID && first.chunked)) break;
      } finally {
        answer.body.destroy();
      }
    } catch (error) {
      if (error instanceof SourceError) throw error;
    } finally {
      deadline.end();
    }
    // Without a name for this very version of it, what follows could belong to another.
    const mayResume = first?.etag != null && bytes >= MAGIC_BYTES && resumes < VIDEO_RESUMES_MAX;
    if (mayResume) await waitUnless(ended, clock, resumes * SECOND_MS);
    if (!mayResume || ended.aborted) throw new SourceError('source_failed');
  }
  if (bytes < MAGIC_BYTES) throw new SourceError('unfit');
}

function waitUnless(ended: AbortSignal, clock: Clock, waitMs: number): Promise<void> {
  if (ended.aborted || waitMs === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = clock.setTimer(waitMs, done);
    function done() {
      timer.cancel();
      ended.removeEventListener('abort', done);
      resolve();
    }
    ended.addEventListener('abort', done);
  });
}

const MAGIC_BYTES = 8;
const UNSAID = Number.POSITIVE_INFINITY;

/** What an answer says of the whole file. */
interface Part {
  /** Of the whole. */
  bytes: number;
  /** A strong one. */
  etag: string | null;
  /** Its end is marked, where its length is not said. */
  chunked: boolean;
}

function readPart({ statusCode, headers }: Dispatcher.ResponseData): Part {
  if (statusCode === 404 || statusCode === 410) throw new SourceError('gone');
  if (statusCode !== 200) throw new SourceError('source_failed');
  const type = text(headers['content-type']).split(';')[0]?.trim().toLowerCase();
  if (type !== 'video/mp4') throw new SourceError('unfit');
  const length = text(headers['content-length']);
  const bytes = /^\d{1,15}$/.test(length) ? Number(length) : UNSAID;
  if (bytes !== UNSAID && bytes > VIDEO_BYTES_MAX) throw new SourceError('unfit');
  const etag = text(headers.etag);
  return {
    bytes,
    etag: /^"[\x21\x23-\x7e]{1,200}"$/.test(etag) ? etag : null,
    chunked: text(headers['transfer-encoding']).toLowerCase() === 'chunked',
  };
}

/** Anything but exactly the rest of the same file begins anew. */
function readRest({ statusCode, headers }: Dispatcher.ResponseData, byte: number, first: Part | null): Part {
  if (statusCode === 404 || statusCode === 410) throw new SourceError('gone');
  const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(text(headers['content-range']));
  const [, begin, end, total] = (range ?? []).map(Number);
  const isRest =
    statusCode === 206 &&
    begin === byte &&
    end === (total ?? 0) - 1 &&
    first !== null &&
    text(headers.etag) === first.etag &&
    (first.bytes === UNSAID || total === first.bytes);
  if (!isRest) throw new SourceError('source_failed');
  return first;
}

const text = (header: string | string[] | undefined): string => (typeof header === 'string' ? header : '');
