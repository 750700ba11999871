import type { ServerResponse } from 'node:http';
import type { Clock } from '#core/clock.ts';
import { GATE_BUFFER_BYTES } from '#core/limits.ts';

/** The events of the caller's connection that a running call handles. */
export interface CallerEvents {
  /** Hung up before the answer was complete. */
  callerGone(): void;
  /** The caller takes bytes again after `write` answered false. */
  callerResumed(): void;
  /** The answer goes out: nothing else can be answered any longer. */
  answerBegins(): void;
}

/**
 * The caller's end of a call: nothing, the status line included, goes out before the gate is open, and what waits
 * for it is bounded.
 */
export class CallerSide {
  gone = false;
  gateOpen = false;
  /** Since when the caller has taken nothing although bytes wait; `null`: it takes them. */
  blockedSinceMs: number | null = null;
  lastWriteAtMs = 0;

  readonly #res: CallResponse;
  readonly #events: CallerEvents;
  readonly #clock: Clock;
  #head: Record<string, string> | null = null;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(res: ServerResponse, events: CallerEvents, clock: Clock) {
    this.#res = res;
    this.#events = events;
    this.#clock = clock;
    this.#res[CALLER] = this;
    if (res.destroyed) this.gone = true;
    else res.on('close', onClose).on('drain', onDrain);
  }

  /** The status line is out, with or without an answer behind it. */
  headSent = false;

  /** Bytes are on their way, or wait for the gate: the status can change no more. */
  get committed(): boolean {
    return this.#head !== null;
  }

  openGate(): void {
    this.gateOpen = true;
    if (this.#head === null || this.gone) return;
    this.#beginAnswer(this.#head);
    const held = this.#held;
    this.#held = [];
    for (const bytes of held) this.#send(bytes);
    if (this.blockedSinceMs === null) this.#events.callerResumed();
  }

  /** Commits to status 200 with these headers. */
  begin(head: Record<string, string>): void {
    this.#head = head;
    if (this.gateOpen && !this.gone) this.#beginAnswer(head);
  }

  /** The status line goes out before there is an answer, so that the connection is not taken for a dead one. Another provider may still be asked. */
  beginEarly(head: Record<string, string>): void {
    if (this.headSent || !this.gateOpen || this.gone) return;
    this.#writeHead(head);
  }

  /** False: hold back more until `callerResumed`. What is written after a hang-up is dropped. */
  write(bytes: Buffer): boolean {
    if (this.gone) return true;
    if (this.gateOpen) return this.#send(bytes);
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    return this.#heldBytes < GATE_BUFFER_BYTES;
  }

  /** A comment, so that no proxy between us takes a thinking model for a dead connection. */
  keepAlive(): void {
    if (this.gateOpen && !this.gone && this.blockedSinceMs === null) this.#send(KEEP_ALIVE);
  }

  end(bytes: Buffer): void {
    this.leave();
    if (!this.gone) this.#res.end(bytes);
  }

  /** Nothing of what waited at the gate may be seen: somebody else answers. */
  discard(): void {
    this.leave();
    this.#head = null;
    this.#held = [];
  }

  /** Ignores further events: the answer is complete, or another writer owns it. */
  leave(): void {
    // Nor may what a connection keeps of its last answer keep the call.
    this.#res[CALLER] = null;
  }

  /** A reader that takes nothing has hung up. */
  drop(): void {
    this.#res.destroy();
    this.closed();
  }

  closed(): void {
    if (this.gone || this.#res[CALLER] === null) return;
    this.gone = true;
    this.#held = [];
    this.#events.callerGone();
  }

  resumed(): void {
    this.blockedSinceMs = null;
    this.#events.callerResumed();
  }

  #writeHead(head: Record<string, string>): void {
    if (this.headSent) return;
    this.headSent = true;
    this.#res.writeHead(200, head);
    this.lastWriteAtMs = this.#clock.monotonicMs();
  }

  #beginAnswer(head: Record<string, string>): void {
    this.#writeHead(head);
    this.#events.answerBegins();
  }

  #send(bytes: Buffer): boolean {
    this.lastWriteAtMs = this.#clock.monotonicMs();
    const flowing = this.#res.write(bytes);
    if (flowing) return true;
    this.blockedSinceMs ??= this.lastWriteAtMs;
    return false;
  }
}

const KEEP_ALIVE = Buffer.from(': keep-alive\n\n');

const CALLER = Symbol('caller side');
interface CallResponse extends ServerResponse {
  [CALLER]?: CallerSide | null;
}

// One function each for all calls: a closure per call costs a fifth more CPU (garbage).
function onClose(this: CallResponse): void {
  if (!this.writableFinished) this[CALLER]?.closed();
}

function onDrain(this: CallResponse): void {
  this[CALLER]?.resumed();
}
