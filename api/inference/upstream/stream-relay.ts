import type { Clock, Timer } from '#core/clock.ts';
import { JSON_ANSWER_BYTES } from '#core/limits.ts';
import type { ReadEvent, StreamReader } from '../formats/call-format.ts';
import { dataEvent, namedEvent } from '../formats/stream-text.ts';
import { addLateRecords } from '../formats/usage-places.ts';
import type { CallerSide } from '../hold/caller-side.ts';
import { joinBuffers } from '../json/join-buffers.ts';
import { withPlainNames } from '../json/plain-names.ts';
import { standsAt } from '../json/stands-at.ts';
import {
  DATA_FIELD_BYTES,
  EVENT_NAME_LINE_BYTES_MAX,
  eventsAt,
  isDataLine,
  isWholeEvent,
  trimBlanks,
} from './event-lines.ts';
import { EventNeedles } from './event-needles.ts';
import { LineEnds } from './line-ends.ts';
import type { AnswerReceiver, UpstreamFailure, UpstreamRequest } from './upstream-request.ts';

/** How long a stream without usage waits after its end mark for a usage record. */
const LATE_USAGE_WAIT_MS = 250;
/** The largest event of a stream, not counting what it repeats of the request and of earlier events. */
export const SSE_EVENT_BYTES = 1024 * 1024;
/**
 * The largest stream that is collected into a JSON answer. Some 300 bytes surround each token in a stream.
 */
const COLLECTED_STREAM_BYTES = 8 * JSON_ANSWER_BYTES;

/** How a provider's stream ended. What was written to the caller, if anything, has been. */
export type StreamEnd =
  /** Its end was marked, or it closed cleanly with nothing missing. */
  | { kind: 'complete' }
  /** The provider's own error, in an event. */
  | { kind: 'error'; event: Buffer }
  | { kind: 'malformed' }
  /** An answer that had begun, beyond a bound of ours. */
  | { kind: 'too_long' }
  | { kind: 'failed'; cause: UpstreamFailure };

export interface StreamRelayOptions {
  clock: Pick<Clock, 'setTimer'>;
  /** Cleans events that pass, of which one may tell an error; missing where nothing passes. */
  scrub?: (events: Buffer) => Buffer;
  upstream: UpstreamRequest;
  caller: CallerSide;
  /** Of the format: what an event is, and what of it is ours to write. */
  reader: Omit<StreamReader, 'end'>;
  /** Of the request: some events repeat it. */
  requestBytes: number;
  /** A whole answer is kept in memory, without the frames of its events; of one that passes there may be any length. */
  textBytesMax: number;
  /** The bound of one event; missing: that of a provider's events. */
  eventBytesMax?: number;
  /** Called once, with the first event of the answer, before anything is written. */
  firstEvent: (event: Buffer) => void;
  /** Called once, before anything is written to a caller who takes events. */
  head: () => Record<string, string>;
}

/**
 * Passes a provider's events on as they come, whole, and keeps back what is ours to write: usage, errors and the
 * end mark. Chunks of one turn of the event loop are joined before they are looked at: a burst costs a third less.
 */
export class StreamRelay implements AnswerReceiver {
  readonly #outcome = Promise.withResolvers<StreamEnd>();
  /** Rejects with what the reader threw: a fault of ours ends its own call, and no other. */
  readonly ended = this.#outcome.promise;

  readonly #options: StreamRelayOptions;
  #eventsRelayed = 0;
  #bytesRelayed = 0;
  #done = false;
  /** Set by the end mark of an answer that is not counted yet. */
  #lateWait: Timer | null = null;
  #chunks: Buffer[] = [];
  #chunksBytes = 0;
  /** The beginning of an event that has not ended, in the pieces that it came in. */
  #tail: Buffer[] = [];
  #tailBytes = 0;
  readonly #lineEnds = new LineEnds();
  #flushScheduled = false;
  #finish: (() => void) | null = null;
  #out: Buffer[] = [];

  constructor(options: StreamRelayOptions) {
    this.#options = options;
  }

  /** The text delivered, or read to be kept, for answers whose tokens the provider does not count. */
  get deliveredBytes(): number {
    return this.#options.reader.text.bytes;
  }

  /** Events that were passed on. */
  get eventsRelayed(): number {
    return this.#eventsRelayed;
  }

  data(chunk: Buffer): void {
    if (this.#done) return;
    const lines = this.#lineEnds.read(chunk);
    if (lines.length === 0) return;
    this.#chunks.push(lines);
    this.#chunksBytes += lines.length;
    if (this.#flushScheduled) return;
    // No line ends here, so it is looked at together with the piece that ends it.
    const isInside = this.#tailBytes > 0 && !lines.includes(LF);
    if (isInside && this.#tailBytes + this.#chunksBytes <= this.#eventBytesMax) return;
    // The first byte waits for nothing: on a process that was idle, a turn of the event loop takes 0.1 ms. An event that
    // comes in pieces does: it would be searched anew for each of them.
    if (this.#eventsRelayed === 0 && this.#tailBytes === 0) {
      this.flush();
      return;
    }
    this.#flushScheduled = true;
    setImmediate(flushRelay, this);
  }

  end(): void {
    this.#finishWith(() => {
      const tail = joinBuffers(this.#tail);
      if (isWholeEvent(tail)) this.#relay(Buffer.concat([tail, BLANK_LINES]));
      const { reader } = this.#options;
      this.#end(reader.isComplete() ? { kind: 'complete' } : { kind: 'failed', cause: 'cut' });
    });
  }

  fail(cause: UpstreamFailure): void {
    this.#finishWith(() => this.#end({ kind: 'failed', cause }));
  }

  flush(): void {
    this.#flushScheduled = false;
    try {
      this.#relayWaiting();
    } catch (error) {
      this.#done = true;
      this.#outcome.reject(error);
      this.#options.upstream.abort();
    }
  }

  #relayWaiting(): void {
    if (!this.#done && this.#chunks.length > 0) {
      const bytes = joinBuffers(this.#chunks);
      this.#chunks = [];
      this.#chunksBytes = 0;
      if (this.#endsTail(bytes)) this.#relay(joinBuffers([...this.#tail, bytes]));
      else this.#addToTail(bytes);
      if (!this.#done && this.#isTooLong()) this.#endTooLong();
    }
    if (!this.#done && this.#finish !== null) this.#finish();
  }

  /**
   * Whether these bytes end the event that the tail begins. Only they are searched, and the tail is joined once, because an event may come
   * in many thousand pieces.
   */
  #endsTail(bytes: Buffer): boolean {
    const last = this.#tail.at(-1);
    if (last === undefined) return true;
    return (last.at(-1) === LF && bytes[0] === LF) || bytes.includes(BLANK_LINES);
  }

  #addToTail(bytes: Buffer): void {
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    if (this.#tailBytes > this.#eventBytesMax) this.#endTooLong();
  }

  #isTooLong(): boolean {
    const { upstream, textBytesMax } = this.#options;
    if (textBytesMax === Number.POSITIVE_INFINITY) return false;
    const { bytesReceived } = upstream;
    const framesBytes = this.#eventsRelayed * EVENT_FRAME_BYTES_MAX;
    return bytesReceived - framesBytes > textBytesMax || bytesReceived > COLLECTED_STREAM_BYTES;
  }

  /** The first event may repeat the request, with escapes, and the last one all that came before it. */
  get #eventBytesMax(): number {
    const { eventBytesMax, requestBytes } = this.#options;
    if (eventBytesMax !== undefined) return eventBytesMax;
    const repeated = ESCAPED_BYTES_MAX * requestBytes + this.#bytesRelayed;
    return Math.min(JSON_ANSWER_BYTES, SSE_EVENT_BYTES + repeated);
  }

  /** After what is still queued, in order. */
  #finishWith(finish: () => void): void {
    this.#finish = finish;
    if (!this.#flushScheduled) this.flush();
  }

  #relay(bytes: Buffer): void {
    const { reader } = this.#options;
    let { unreadLineEnd } = reader;
    // Most events are passed in runs of the bytes that came: only one that is new, or that a needle stands in, is looked at.
    const needles = new EventNeedles(bytes);
    let runStartsAt = 0;
    let at = 0;
    while (!this.#done && at < bytes.length) {
      if (bytes[at] === LF) {
        this.#pass(bytes, runStartsAt, at);
        runStartsAt = ++at;
        continue;
      }
      const dataAt = unreadLineEnd === null ? at : unreadDataAt(bytes, at, unreadLineEnd);
      const lineEndsAt = bytes.indexOf(LF, dataAt);
      if (lineEndsAt < 0 || lineEndsAt + 1 >= bytes.length) break;
      const isOneLine = bytes[lineEndsAt + 1] === LF && isDataLine(bytes, dataAt);
      const mayPassUnread =
        this.#lateWait === null && unreadLineEnd !== null && (dataAt > at || unreadLineEnd.length === 0);
      const answer = isOneLine && mayPassUnread ? answerAt(bytes, dataAt, lineEndsAt) : null;
      const isUnread =
        answer !== null &&
        (reader.isKnown?.(answer) === true ||
          (needles.missIn(at, lineEndsAt) && reader.passes?.(answer) === true));
      if (isUnread) {
        this.#note(answer);
        at = lineEndsAt + 2;
        continue;
      }
      this.#pass(bytes, runStartsAt, at);
      if (isOneLine && dataAt === at) {
        this.#relayEvent(answer ?? bytes.subarray(at + DATA_FIELD_BYTES, lineEndsAt), '');
        at = lineEndsAt + 2;
      } else {
        const eventEndsAt = bytes.indexOf(BLANK_LINES, at);
        if (eventEndsAt < 0) {
          runStartsAt = at;
          break;
        }
        for (const { data, name } of eventsAt(bytes, at, eventEndsAt))
          if (!this.#done) this.#relayEvent(data, name);
        at = eventEndsAt + 2;
      }
      // An event that the reader keeps back must come before the next one, whichever packet that is in.
      unreadLineEnd = reader.unreadLineEnd;
      runStartsAt = at;
    }
    if (!this.#done) this.#pass(bytes, runStartsAt, at);
    // A part of no bytes would keep all the others in memory, for each stream what came last.
    this.#tail = [];
    this.#tailBytes = 0;
    if (at < bytes.length) this.#addToTail(at === 0 ? bytes : bytes.subarray(at));
    this.#writeOut();
  }

  /** A run of whole events, as they came. */
  #pass(bytes: Buffer, startsAt: number, endsAt: number): void {
    if (endsAt > startsAt && this.#lateWait === null) this.#out.push(bytes.subarray(startsAt, endsAt));
  }

  /** One event passes: it counts, and the first of all opens the answer. */
  #note(data: Buffer): void {
    this.#count(data);
    const { caller, head } = this.#options;
    if (!caller.committed) caller.begin(head());
  }

  #count(data: Buffer): void {
    if (this.#eventsRelayed === 0) this.#options.firstEvent(data);
    this.#eventsRelayed++;
    this.#bytesRelayed += data.length;
    this.#options.reader.text.addEvent(data);
  }

  #relayEvent(text: Buffer, name: string): void {
    const data = withPlainNames(trimBlanks(text));
    // Some servers keep the connection alive by events of nothing.
    if (data.length === 0 || data.equals(NULL)) return;
    const { reader, textBytesMax } = this.#options;
    if (data.length > this.#eventBytesMax) {
      this.#endTooLong();
      return;
    }
    if (this.#lateWait !== null) {
      addLateRecords(reader.records, data);
      if (reader.records.isWhole) this.#end(COMPLETE);
      return;
    }
    const event: ReadEvent = reader.read(data, name);
    switch (event.kind) {
      case 'done':
        this.#endOrWait();
        return;
      case 'malformed':
        this.#end({ kind: 'malformed' });
        return;
      case 'too_long':
        this.#endTooLong();
        return;
      case 'error':
        this.#end({ kind: 'error', event: data });
        return;
      case 'kept':
        // An event that a passing stream keeps back is usage, or was counted by its reader.
        if (textBytesMax !== Number.POSITIVE_INFINITY) this.#count(data);
        return;
      case 'changed':
        this.#note(data);
        this.#out.push(this.#scrubbed(event.events));
        return;
      case 'plain':
        this.#note(data);
        this.#out.push(this.#scrubbed(reader.namesEvents ? namedEvent(name, data) : dataEvent(data)));
        return;
    }
  }

  #scrubbed(events: Buffer): Buffer {
    const { scrub } = this.#options;
    return scrub === undefined ? events : scrub(events);
  }

  #writeOut(): void {
    if (this.#out.length === 0) return;
    const out = this.#out;
    this.#out = [];
    if (!this.#options.caller.write(joinBuffers(out))) this.#options.upstream.pause();
  }

  /** Some servers send their usage record behind the end mark. It is waited for only where none came before. */
  #endOrWait(): void {
    const { reader, clock } = this.#options;
    if (reader.records.isWhole) this.#end(COMPLETE);
    else this.#lateWait = clock.setTimer(LATE_USAGE_WAIT_MS, () => this.#end(COMPLETE));
  }

  /** Where no event was whole before, nothing says that it is an answer at all. */
  #endTooLong(): void {
    this.#end({ kind: this.#eventsRelayed > 0 ? 'too_long' : 'malformed' });
  }

  /** Whatever ends an answer behind its end mark, the answer is complete. */
  #end(cause: StreamEnd): void {
    if (this.#done) return;
    const end = this.#lateWait === null ? cause : COMPLETE;
    this.#lateWait?.cancel();
    this.#writeOut();
    this.#done = true;
    this.#outcome.resolve(end);
    const { upstream } = this.#options;
    if (end.kind === 'complete') upstream.markWhole();
    // Nobody reads on, and the call may be open until its end is on disk.
    if (end.kind === 'malformed' || end.kind === 'too_long') upstream.abort();
  }
}

const COMPLETE: StreamEnd = { kind: 'complete' };

const flushRelay = (relay: StreamRelay): void => relay.flush();

const LF = 0x0a;
/** Providers' frames are 200 to 350 bytes: an event that is longer has text in it. */
const EVENT_FRAME_BYTES_MAX = 350;
/** A letter of two bytes or three is `\uXXXX` in what some servers write; most of a request is none such. */
const ESCAPED_BYTES_MAX = 2;
const NULL = Buffer.from('null');
const BLANK_LINES = Buffer.from('\n\n');
const DATA = Buffer.from('data: ');

/** `data: {…}` and no byte more, of a size that may pass; `null`: the line is another. */
function answerAt(bytes: Buffer, at: number, lineEndsAt: number): Buffer | null {
  const isPlainJson =
    bytes[at + 5] === 0x20 &&
    bytes[at + 6] === 0x7b &&
    bytes[lineEndsAt - 1] === 0x7d &&
    lineEndsAt - at <= SSE_EVENT_BYTES;
  return isPlainJson ? bytes.subarray(at + DATA.length, lineEndsAt) : null;
}

/** Where the data line of an event begins whose name says that it may pass unread; `at` where there is no such name. */
function unreadDataAt(bytes: Buffer, at: number, unreadLineEnd: Buffer): number {
  if (unreadLineEnd.length === 0 || bytes[at] !== LETTER_E) return at;
  const nameEndsAt = bytes.indexOf(LF, at);
  if (nameEndsAt < 0 || nameEndsAt - at > EVENT_NAME_LINE_BYTES_MAX) return at;
  const from = nameEndsAt - unreadLineEnd.length;
  return from > at && standsAt(bytes, from, unreadLineEnd) ? nameEndsAt + 1 : at;
}

const LETTER_E = 0x65;
