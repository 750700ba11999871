import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import type { Dispatcher } from 'undici';
import { JSON_ANSWER_BYTES } from '#core/limits.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The part of an answer's handler that decoded bytes are given to. */
export type AnswerHandler = Required<
  Pick<
    Dispatcher.DispatchHandler,
    'onRequestStart' | 'onResponseStart' | 'onResponseData' | 'onResponseEnd' | 'onResponseError'
  >
>;

/**
 * A compressed answer may grow to this size. It bounds a stream as well, because a few kilobytes can expand to gigabytes that no
 * caller waits for.
 */
const DECODED_BYTES_MAX = 8 * JSON_ANSWER_BYTES;

/**
 * Decodes an answer that the provider compressed although it was asked for the plain bytes. A plain answer passes as it comes.
 *
 * Pauses reach both the decoder and the connection, so what waits is bounded by their buffers. An answer that cannot be decoded
 * ends its connection at once and counts as broken off.
 */
export class DecodedAnswer implements AnswerHandler, Dispatcher.DispatchController {
  readonly #inner: AnswerHandler;
  #connection: Dispatcher.DispatchController | null = null;
  /** `null`: the answer comes as plain bytes. */
  #decoder: Transform | null = null;
  #encoding = '';
  /** The reader asked for no more, and has not yet asked for it again. */
  #heldBack = false;
  #decodedBytes = 0;
  /** All compressed bytes have come, so the connection tells of no abort any more. */
  #received = false;
  #ended = false;

  constructor(inner: AnswerHandler) {
    this.#inner = inner;
  }

  get aborted(): boolean {
    return this.#connection?.aborted ?? false;
  }

  get paused(): boolean {
    return this.#heldBack;
  }

  get reason(): Error | null {
    return this.#connection?.reason ?? null;
  }

  abort(reason: Error): void {
    this.#decoder?.destroy();
    this.#connection?.abort(reason);
    if (this.#decoder === null || !this.#received || this.#ended) return;
    this.#ended = true;
    this.#inner.onResponseError(this, reason);
  }

  pause(): void {
    this.#heldBack = true;
    this.#decoder?.pause();
    this.#connection?.pause();
  }

  resume(): void {
    this.#heldBack = false;
    this.#decoder?.resume();
    if (this.#decoder?.writableNeedDrain !== true) this.#connection?.resume();
  }

  onRequestStart(connection: Dispatcher.DispatchController, context: unknown): void {
    this.#connection = connection;
    this.#inner.onRequestStart(this, context);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status >= 200) this.#encoding = encodingOf(headers['content-encoding']);
    this.#inner.onResponseStart(this, status, headers);
  }

  onResponseData(connection: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#encoding === '') {
      this.#inner.onResponseData(this, chunk);
      return;
    }
    if (this.#ended) return;
    this.#decoder ??= this.#open(chunk);
    // A decoder that an earlier chunk has destroyed takes no more.
    if (this.#decoder.destroyed || this.#decoder.write(chunk)) return;
    connection.pause();
  }

  onResponseEnd(_connection: Dispatcher.DispatchController, trailers: Headers): void {
    this.#received = true;
    if (this.#decoder !== null) this.#decoder.end();
    else this.#inner.onResponseEnd(this, trailers);
  }

  onResponseError(_connection: Dispatcher.DispatchController | null, error: Error): void {
    this.#decoder?.destroy();
    if (this.#ended) return;
    this.#ended = true;
    this.#inner.onResponseError(this, error);
  }

  #open(first: Buffer): Transform {
    const decoder = createDecoder(this.#encoding, first);
    if (this.#heldBack) decoder.pause();
    decoder
      .on('data', (bytes: Buffer) => this.#take(bytes))
      .on('drain', () => {
        if (!this.#heldBack) this.#connection?.resume();
      })
      .on('end', () => {
        if (this.#ended) return;
        this.#ended = true;
        this.#inner.onResponseEnd(this, {});
      })
      .on('error', (error) => this.#fail(error));
    return decoder;
  }

  #take(bytes: Buffer): void {
    if (this.#ended) return;
    this.#decodedBytes += bytes.length;
    if (this.#decodedBytes > DECODED_BYTES_MAX) this.#fail(new Error('the decoded answer is too long'));
    else this.#inner.onResponseData(this, bytes);
  }

  #fail(error: Error): void {
    if (this.#ended) return;
    this.#ended = true;
    // The answer has failed before its connection ends: an end of ours would not count as the provider's fault.
    this.#inner.onResponseError(this, error);
    this.abort(error);
  }
}

/** The one coding of an answer; empty: none that is known. */
function encodingOf(header: string | string[] | undefined): string {
  if (header === undefined) return '';
  const names = [header].flat().join(',').toLowerCase().split(',');
  const [name = '', ...more] = names.map((each) => each.trim()).filter((each) => !NO_CODING.has(each));
  return more.length === 0 && CODINGS.has(name) ? name : '';
}

const NO_CODING: ReadonlySet<string> = new Set(['', 'identity']);
const CODINGS: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'deflate', 'br', 'zstd']);

/** Bytes are decoded as far as they came, so that the events of a stream are not late. */
const SYNC = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };

function createDecoder(encoding: string, first: Buffer): Transform {
  switch (encoding) {
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress();
    case 'deflate':
      // Some servers leave out the frame that the name stands for (RFC 9110, section 8.4.1.2).
      return ((first[0] ?? 0) & 0x0f) === ZLIB_DEFLATE ? createInflate(SYNC) : createInflateRaw(SYNC);
    default:
      return createGunzip(SYNC);
  }
}

/** The method of compression in the first byte of a zlib frame (RFC 1950). */
const ZLIB_DEFLATE = 0x08;
