import { SSE_EVENT_BYTES } from '#core/limits.ts';
import type { CallerSide } from './caller-side.ts';
import {
  type ChatEvent,
  ERROR_NEEDLE,
  isDone,
  isJson,
  readChatEvent,
  USAGE_NEEDLE,
  withoutUsage,
  withPublicModel,
} from './formats/chat-stream.ts';
import { joinBuffers } from './join-buffers.ts';
import type { AnswerSink, UpstreamFailure, UpstreamRequest } from './upstream-request.ts';

/** How a provider's stream ended. What was written to the caller, if anything, has been. */
export type StreamEnd =
  /** Its end was marked, or it closed cleanly after its usage. */
  | { kind: 'complete' }
  /** The provider's own error, in an event. */
  | { kind: 'error'; event: Buffer }
  | { kind: 'malformed' }
  | { kind: 'failed'; cause: UpstreamFailure };

export interface StreamRelayOptions {
  upstream: UpstreamRequest;
  caller: CallerSide;
  /** Called once, with the first event, before anything is written. */
  head: (firstEvent: Buffer) => string[];
  upstreamModel: string;
  publicModel: string;
}

/**
 * Passes a provider's events on as they come, whole, and keeps back what is ours to write: usage, errors and the
 * end mark. Chunks of one turn of the event loop are joined before they are looked at: a burst costs a third less.
 */
export class StreamRelay implements AnswerSink {
  readonly ended: Promise<StreamEnd>;
  /** The last usage that any event carried, and the event itself. Never summed: some send running totals. */
  usageEvent: ChatEvent | null = null;

  readonly #options: StreamRelayOptions;
  readonly #renamed: boolean;
  #resolveEnded: (end: StreamEnd) => void = () => {};
  #eventsRelayed = 0;
  #bytesRelayed = 0;
  #smallestEventBytes = Number.MAX_SAFE_INTEGER;
  #done = false;
  #chunks: Buffer[] = [];
  #tail: Buffer = EMPTY;
  #flushScheduled = false;
  #finish: (() => void) | null = null;
  #out: Buffer[] = [];

  constructor(options: StreamRelayOptions) {
    this.#options = options;
    this.#renamed = options.upstreamModel !== options.publicModel;
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve;
    });
  }

  /**
   * An estimate of the text delivered, for streams whose usage never comes: the smallest event, as far as a frame can
   * be so long, is taken for the frame that each event has around its text. Where all events are alike that would leave
   * nothing: an event is at least one byte.
   */
  get deliveredBytes(): number {
    const frameBytes = Math.min(this.#smallestEventBytes, EVENT_FRAME_BYTES_MAX);
    return Math.max(this.#eventsRelayed, this.#bytesRelayed - this.#eventsRelayed * frameBytes);
  }

  data(chunk: Buffer): void {
    if (this.#done) return;
    this.#chunks.push(chunk);
    if (this.#flushScheduled) return;
    // The first byte waits for nothing: on a process that was idle, a turn of the event loop takes 0.1 ms. An event that
    // comes in pieces does: it would be searched anew for each of them.
    if (this.#eventsRelayed === 0 && this.#tail.length === 0) {
      this.flush();
      return;
    }
    this.#flushScheduled = true;
    setImmediate(flushRelay, this);
  }

  end(): void {
    this.#finishWith(() => {
      if (isWholeEvent(this.#tail)) this.#relay(Buffer.concat([this.#tail, BLANK_LINES]));
      this.#end(this.usageEvent === null ? { kind: 'failed', cause: 'cut' } : { kind: 'complete' });
    });
  }

  fail(cause: UpstreamFailure): void {
    this.#finishWith(() => this.#end({ kind: 'failed', cause }));
  }

  flush(): void {
    this.#flushScheduled = false;
    if (!this.#done && this.#chunks.length > 0) {
      const chunks = this.#tail.length > 0 ? [this.#tail, ...this.#chunks] : this.#chunks;
      this.#chunks = [];
      this.#relay(joinBuffers(chunks));
    }
    if (!this.#done && this.#finish !== null) this.#finish();
  }

  /** After what is still queued, in order. */
  #finishWith(finish: () => void): void {
    this.#finish = finish;
    if (!this.#flushScheduled) this.flush();
  }

  #relay(received: Buffer): void {
    const bytes = received.includes(CR) ? withoutCarriageReturns(received) : received;
    // Most events are passed in runs of the bytes that came: only one that a needle stands in is looked at.
    let usageAt = next(bytes, USAGE_NEEDLE, 0);
    let errorAt = next(bytes, ERROR_NEEDLE, 0);
    let runStartsAt = 0;
    let at = 0;
    while (!this.#done && at < bytes.length) {
      if (bytes[at] === LF) {
        this.#pass(bytes, runStartsAt, at);
        runStartsAt = ++at;
        continue;
      }
      const lineEndsAt = bytes.indexOf(LF, at);
      if (lineEndsAt < 0 || lineEndsAt + 1 >= bytes.length) break;
      const isOneLine = bytes[lineEndsAt + 1] === LF && isDataLine(bytes, at);
      if (usageAt < at) usageAt = next(bytes, USAGE_NEEDLE, at);
      if (errorAt < at) errorAt = next(bytes, ERROR_NEEDLE, at);
      const isPlain = usageAt > lineEndsAt && errorAt > lineEndsAt;
      if (isOneLine && isPlain && !this.#renamed && isPlainJson(bytes, at, lineEndsAt)) {
        this.#note(bytes, at + DATA.length, lineEndsAt);
        at = lineEndsAt + 2;
        continue;
      }
      this.#pass(bytes, runStartsAt, at);
      if (isOneLine) {
        this.#relayEvent(bytes, at, lineEndsAt);
        at = lineEndsAt + 2;
      } else {
        const eventEndsAt = bytes.indexOf(BLANK_LINES, at);
        if (eventEndsAt < 0) {
          runStartsAt = at;
          break;
        }
        const event = reframe(bytes.subarray(at, eventEndsAt));
        if (event !== null) this.#relayEvent(event, 0, event.length);
        at = eventEndsAt + 2;
      }
      runStartsAt = at;
    }
    if (!this.#done) this.#pass(bytes, runStartsAt, at);
    this.#tail = at === 0 ? bytes : bytes.subarray(at);
    if (this.#tail.length > SSE_EVENT_BYTES) this.#end({ kind: 'malformed' });
    this.#writeOut();
  }

  /** A run of whole events, as they came. */
  #pass(bytes: Buffer, startsAt: number, endsAt: number): void {
    if (endsAt > startsAt) this.#out.push(bytes.subarray(startsAt, endsAt));
  }

  /** One event passes: it counts, and the first of all opens the answer. */
  #note(bytes: Buffer, dataStartsAt: number, dataEndsAt: number): void {
    const length = dataEndsAt - dataStartsAt;
    this.#eventsRelayed++;
    this.#bytesRelayed += length;
    if (length < this.#smallestEventBytes) this.#smallestEventBytes = length;
    const { caller, head } = this.#options;
    if (!caller.committed) caller.begin(head(bytes.subarray(dataStartsAt, dataEndsAt)));
  }

  /** One event: a `data:` line without its line end. */
  #relayEvent(bytes: Buffer, startsAt: number, endsAt: number): void {
    let dataStartsAt = startsAt + DATA_FIELD_BYTES;
    while (isBlank(bytes[dataStartsAt])) dataStartsAt++;
    let dataEndsAt = endsAt;
    while (dataEndsAt > dataStartsAt && isBlank(bytes[dataEndsAt - 1])) dataEndsAt--;
    // Some servers keep the connection alive by events of nothing.
    if (dataEndsAt <= dataStartsAt) return;
    const event: ChatEvent =
      dataEndsAt - dataStartsAt > SSE_EVENT_BYTES
        ? { kind: 'malformed' }
        : readChatEvent(bytes, dataStartsAt, dataEndsAt);
    switch (event.kind) {
      case 'done':
        this.#end({ kind: 'complete' });
        return;
      case 'malformed':
        this.#end({ kind: 'malformed' });
        return;
      case 'error':
        this.usageEvent = event.usage === null ? this.usageEvent : event;
        this.#end({ kind: 'error', event: event.data });
        return;
      case 'usage':
        this.usageEvent = event;
        if (!event.hasChoices) return;
        this.#write(event.data, frame(withoutUsage(event)));
        return;
      case 'plain':
        this.#write(bytes.subarray(dataStartsAt, dataEndsAt), bytes.subarray(startsAt, dataEndsAt));
        return;
    }
  }

  #write(data: Buffer, line: Buffer): void {
    this.#note(data, 0, data.length);
    const { upstreamModel, publicModel } = this.#options;
    this.#out.push(this.#renamed ? withPublicModel(line, upstreamModel, publicModel) : line, BLANK_LINES);
  }

  #writeOut(): void {
    if (this.#out.length === 0) return;
    const out = this.#out;
    this.#out = [];
    if (!this.#options.caller.write(joinBuffers(out))) this.#options.upstream.pause();
  }

  #end(end: StreamEnd): void {
    if (this.#done) return;
    this.#writeOut();
    this.#done = true;
    this.#resolveEnded(end);
  }
}

const flushRelay = (relay: StreamRelay): void => relay.flush();

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const DATA_FIELD_BYTES = 5;
/** Providers' frames are 200 to 350 bytes: an event that is longer has text in it. */
const EVENT_FRAME_BYTES_MAX = 350;
const EMPTY = Buffer.alloc(0);
const BLANK_LINES = Buffer.from('\n\n');
const DATA = Buffer.from('data: ');

/** Where a needle stands next; beyond the end where it does not. */
function next(bytes: Buffer, needle: Buffer, from: number): number {
  const at = bytes.indexOf(needle, from);
  return at < 0 ? bytes.length : at;
}

/** `data: {…}` and no byte more, of a size that may pass. */
const isPlainJson = (bytes: Buffer, at: number, lineEndsAt: number): boolean =>
  bytes[at + 5] === 0x20 &&
  bytes[at + 6] === 0x7b &&
  bytes[lineEndsAt - 1] === 0x7d &&
  lineEndsAt - at <= SSE_EVENT_BYTES;

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09;

/** What a stream broke off with: an event that lacks only its blank line, or a part of one, which nobody may see. */
function isWholeEvent(tail: Buffer): boolean {
  const data = reframe(tail)?.subarray(DATA_FIELD_BYTES) ?? EMPTY;
  return isJson(data) || isDone(data, 0, data.length);
}

const isDataLine = (bytes: Buffer, at: number): boolean =>
  bytes[at] === 0x64 &&
  bytes[at + 1] === 0x61 &&
  bytes[at + 2] === 0x74 &&
  bytes[at + 3] === 0x61 &&
  bytes[at + 4] === COLON;

export const frame = (data: Buffer): Buffer => Buffer.concat([DATA, data]);

/**
 * An event of several lines as one `data:` line. Comments (which name the provider), ids, names and retry times are
 * left out: none belongs to this format, and a foreign `event:` line would be ours in the caller's eyes.
 */
function reframe(lines: Buffer): Buffer | null {
  const data = lines
    .toString('utf8')
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5));
  return data.length === 0 ? null : Buffer.from(`data:${data.join(' ')}`);
}

/** JSON holds no bare carriage return, so all of them are line ends. */
function withoutCarriageReturns(bytes: Buffer): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (const byte of bytes) if (byte !== CR) kept[length++] = byte;
  return kept.subarray(0, length);
}
