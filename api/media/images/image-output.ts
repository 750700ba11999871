import { isoTime, SECOND_MS } from '#core/clock.ts';
import type { TokenCounts } from '#core/events/ledger-event.ts';
import { type FileName, hourOf, type ImageType } from '#core/files/file-name.ts';
import type { FileStore } from '#core/files/file-store.ts';
import { randomBase62 } from '#core/ids.ts';
import type { Settle } from '#core/ledger/command.ts';
import { RESULT_LINK_MS } from '#core/limits.ts';
import type { NanoUsd } from '#core/money.ts';
import { answerHeaders } from '../../inference/hold/answer-headers.ts';
import { answerTail, completedEvent } from './image-answer.ts';
import type { ImageCall } from './image-call.ts';
import type { ImageSink } from './read-images.ts';

/** What the end of an answer shows. */
export interface ImageTotals {
  /** Unix seconds, as the provider says. */
  created: number | null;
  tokens: TokenCounts;
  cost: NanoUsd | null;
}

export type ImageFiles = Pick<FileStore, 'write' | 'delete' | 'getLink'>;

/** Takes a call's images, and gives them to its caller. An output that stores nothing lacks the methods of storage. */
export interface ImageOutput extends ImageSink {
  /** Before the charge: what it fails at is not paid for. */
  prepare?(): Promise<void>;
  /** From here on the caller has what was stored: what it takes of the agent's room. */
  keep?(): Settle['stored'];
  end(totals: ImageTotals): void;
  /** Whatever was stored and not kept goes. */
  close?(): Promise<void>;
}

/** @param files - Without any, no request for links gets so far. */
export function openOutput(call: ImageCall, files: ImageFiles | null): ImageOutput {
  const { stream, plan } = call.options;
  if (plan.format === 'url' && files !== null) return new StoredOutput(call, files);
  return stream ? new KeptOutput(call) : new SentOutput(call);
}

/** Images that are stored, and answered by their links: all of one call, or none. */
class StoredOutput implements ImageOutput {
  readonly #call: ImageCall;
  readonly #files: ImageFiles;
  readonly #images: { name: FileName; type: ImageType }[] = [];
  #bytes = 0;
  #untilMs = 0;
  #shown: object[] = [];

  constructor(call: ImageCall, files: ImageFiles) {
    this.#call = call;
    this.#files = files;
  }

  async take(type: ImageType, bytes: AsyncIterable<Buffer>): Promise<void> {
    const { gateway, agentId } = this.#call.options;
    if (this.#untilMs === 0) {
      const nowMs = gateway.clock.now();
      this.#untilMs = nowMs - (nowMs % SECOND_MS) + RESULT_LINK_MS;
    }
    const name: FileName = {
      kind: 'pictures',
      endHour: hourOf(this.#untilMs),
      agentId,
      id: `img_${randomBase62(24)}`,
      contentType: type,
    };
    const written = await this.#files.write(name, bytes);
    this.#images.push({ name, type });
    this.#bytes += written.bytes;
  }

  async prepare(): Promise<void> {
    const expires_at = isoTime(this.#untilMs);
    this.#shown = await Promise.all(
      this.#images.map(async ({ name, type }) => ({
        url: await this.#files.getLink(name, this.#untilMs),
        media_type: type,
        expires_at,
      })),
    );
  }

  keep(): Settle['stored'] {
    this.#images.length = 0;
    return { bytes: this.#bytes, untilMs: this.#untilMs };
  }

  end(totals: ImageTotals): void {
    const call = this.#call;
    const [first] = this.#shown;
    if (call.options.stream) {
      if (first !== undefined) completedEvent(call, first, totals);
      return;
    }
    const body = Buffer.from(`{"data":${JSON.stringify(this.#shown)},${answerTail(call, totals)}}`);
    const headers = answerHeaders(call, 'application/json');
    call.caller.begin({ ...headers, 'content-length': String(body.length) });
    call.caller.end(body);
  }

  /** What cannot be deleted ends by itself: nobody has a link. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#images.map(({ name }) => this.#files.delete(name)));
  }
}

/** Images that pass to a caller who wants the bytes themselves, at the pace at which it takes them. Nothing is stored. */
class SentOutput implements ImageOutput {
  readonly #call: ImageCall;

  constructor(call: ImageCall) {
    this.#call = call;
  }

  async take(type: ImageType, bytes: AsyncIterable<Buffer>): Promise<void> {
    const call = this.#call;
    // A shut gate has ended the provider's answer, too.
    if ((await call.gate) === 'shut') return;
    const opening = call.caller.committed ? ',' : '{"data":[';
    if (!call.caller.committed) call.caller.begin(answerHeaders(call, 'application/json'));
    await call.write(Buffer.from(`${opening}{"media_type":"${type}","b64_json":"`));
    // Each piece but the last is a multiple of three bytes, so their texts can be joined.
    for await (const piece of bytes) await call.write(Buffer.from(piece.toString('base64'), 'latin1'));
    await call.write(Buffer.from('"}'));
  }

  end(totals: ImageTotals): void {
    this.#call.caller.end(Buffer.from(`],${answerTail(this.#call, totals)}}`));
  }
}

/** The one image of a stream, in memory until its event is written: what it cost stands beside it. */
class KeptOutput implements ImageOutput {
  readonly #call: ImageCall;
  #pieces: Buffer[] = [];
  #type: ImageType | null = null;

  constructor(call: ImageCall) {
    this.#call = call;
  }

  async take(type: ImageType, bytes: AsyncIterable<Buffer>): Promise<void> {
    // Of a provider that answers with several the first is the one that was asked for.
    if (this.#type !== null) return;
    this.#type = type;
    for await (const piece of bytes) this.#pieces.push(piece);
  }

  end(totals: ImageTotals): void {
    const image = {
      b64_json: Buffer.concat(this.#pieces).toString('base64'),
      media_type: this.#type,
    };
    completedEvent(this.#call, image, totals);
  }

  async close(): Promise<void> {
    this.#pieces = [];
  }
}
