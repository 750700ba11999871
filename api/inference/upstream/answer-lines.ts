import type { FormatName } from '#core/catalog/catalog.ts';
import { records, textOf } from '../formats/values.ts';
import { joinBuffers } from '../json/join-buffers.ts';
import { parseTexts } from '../json/parse-record.ts';
import { SSE_EVENT_BYTES } from './stream-relay.ts';
import type { AnswerReceiver, UpstreamRequest } from './upstream-request.ts';

/*
 * Answers of which each line is a JSON object (`application/x-ndjson`), as some servers send where a stream of events was asked for. The
 * type says nothing: such lines come under any, and so do whole answers, which may end in a line of their own.
 */

/** An answer that was read up to the end of its first line, and all of it from there on. */
export class FirstLine implements AnswerReceiver {
  readonly #upstream: UpstreamRequest;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  readonly #read = Promise.withResolvers<void>();

  private constructor(upstream: UpstreamRequest) {
    this.#upstream = upstream;
  }

  /** Resolves once the first line is here, or is longer than an event may be. */
  static async read(upstream: UpstreamRequest): Promise<FirstLine> {
    const first = new FirstLine(upstream);
    upstream.pipeTo(first);
    await first.#read.promise;
    return first;
  }

  /** Whether the first of several lines is a piece of an answer in this format. */
  isPieceOf(format: FormatName): boolean {
    const bytes = joinBuffers(this.#chunks);
    const lineEndsAt = bytes.indexOf(LF);
    if (lineEndsAt < 0) return false;
    const isAlone = this.#upstream.ended && bytes.subarray(lineEndsAt).toString('latin1').trim() === '';
    const record = isAlone ? null : parseTexts(bytes.subarray(0, lineEndsAt));
    return record !== null && isPiece[format](record);
  }

  /** Nothing was handed over yet, so the answer is read by `pipeTo`. */
  takeWhole(): null {
    return null;
  }

  pipeTo(receiver: AnswerReceiver): void {
    for (const chunk of this.#chunks.splice(0)) receiver.data(chunk);
    this.#upstream.pipeTo(receiver);
  }

  abort(): void {
    this.#upstream.abort();
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (chunk.includes(LF) || this.#bytes > SSE_EVENT_BYTES) this.#read.resolve();
  }

  end(): void {
    this.#read.resolve();
  }

  fail(): void {
    this.#read.resolve();
  }
}

type Members = Readonly<Record<string, unknown>>;

const isPiece: Readonly<Record<FormatName, (record: Members) => boolean>> = {
  chat: ({ object, choices }) =>
    Array.isArray(choices) &&
    (object === 'chat.completion.chunk' || records(choices).some(({ delta }) => delta !== undefined)),
  responses: ({ type }) => textOf(type).startsWith('response.'),
  messages: ({ type }) => /^(?:message_|content_block_|ping$)/.test(textOf(type)),
};

/** Hands each line over as the event that it would be in a stream of events. */
export class LinesAsEvents implements AnswerReceiver {
  readonly #receiver: AnswerReceiver;
  #isInLine = false;

  constructor(receiver: AnswerReceiver) {
    this.#receiver = receiver;
  }

  data(chunk: Buffer): void {
    const events: Buffer[] = [];
    for (let at = 0; at < chunk.length; ) {
      const lineEndsAt = chunk.indexOf(LF, at);
      const to = lineEndsAt < 0 ? chunk.length : lineEndsAt;
      // A mark of the end may stand in a line of its own, as it does among events.
      if (!this.#isInLine && (chunk[at] === OPEN_BRACE || chunk[at] === OPEN_BRACKET)) events.push(DATA);
      events.push(chunk.subarray(at, to));
      if (lineEndsAt >= 0) events.push(EVENT_END);
      this.#isInLine = lineEndsAt < 0;
      at = to + 1;
    }
    this.#receiver.data(joinBuffers(events));
  }

  end(): void {
    this.#receiver.end();
  }

  fail(cause: Parameters<AnswerReceiver['fail']>[0]): void {
    this.#receiver.fail(cause);
  }
}

const LF = 0x0a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const DATA = Buffer.from('data: ');
const EVENT_END = Buffer.from('\n\n');
