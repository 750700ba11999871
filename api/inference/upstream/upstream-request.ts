import type { Dispatcher } from 'undici';
import type { Clock, Timer } from '#core/clock.ts';
import { GATE_BUFFER_BYTES } from '#core/limits.ts';
import { joinBuffers } from '../json/join-buffers.ts';

/** Official clients read an answer under any status of success. */
export const isGoodStatus = (status: number): boolean => status >= 200 && status < 300;

/** Takes over an answer once its first byte is here. Exactly one of `end` and `fail` follows the last `data`. */
export interface AnswerReceiver {
  data(chunk: Buffer): void;
  end(): void;
  fail(cause: UpstreamFailure): void;
}

export type UpstreamFailure =
  /** No connection, or it was lost before the status line: the provider may not have seen the request. */
  | 'unreachable'
  /** Lost in the middle of an answer. */
  | 'cut'
  /** Ended by us: a time limit, the gate, a hang-up. */
  | 'aborted';

/** How long after its call a whole answer may take to end its HTTP response. Most end it within milliseconds of the end mark. */
const RESPONSE_END_WAIT_MS = 250;

export type Started = { ok: true } | { ok: false; cause: UpstreamFailure };

/**
 * One request to a provider, as undici calls it back. `started` resolves at the first body byte, at the end of an
 * empty body, or at a failure before either: until then nothing was shown to the caller and another endpoint may
 * still be tried.
 */
export class UpstreamRequest implements Dispatcher.DispatchHandler {
  readonly #begun = Promise.withResolvers<Started>();
  readonly started = this.#begun.promise;
  status = 0;
  headers: Readonly<Record<string, string | string[] | undefined>> = {};
  bytesReceived = 0;
  ended = false;

  #controller: Dispatcher.DispatchController | null = null;
  #sink: AnswerReceiver | null = null;
  #waiting: Buffer[] = [];
  #failure: UpstreamFailure | null = null;
  #aborted = false;
  /** The reader asked for no more, and has not yet asked for it again. */
  #heldBack = false;
  #isWhole = false;
  /** Set while a whole answer that is read no further ends its response. */
  #leaving: Timer | null = null;

  /** The body of an answer that is complete, as most short ones are at their first byte; `null`: `pipeTo` tells how it goes on. */
  takeWhole(bytesMax: number): Buffer | null {
    if (!this.ended || this.#failure !== null || this.bytesReceived > bytesMax) return null;
    const waiting = this.#waiting;
    this.#waiting = [];
    return joinBuffers(waiting);
  }

  /** The first bytes of the body, once it has started. */
  get firstBytes(): Buffer {
    return this.#waiting[0] ?? NO_BYTES;
  }

  /** Hands over what has come so far, then everything else as it comes. */
  pipeTo(sink: AnswerReceiver): void {
    this.#sink = sink;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#heldBack = false;
    for (const chunk of waiting) sink.data(chunk);
    if (this.#failure !== null) sink.fail(this.#failure);
    else if (this.ended) sink.end();
    else if (!this.#heldBack) this.resume();
  }

  /** The request is on a connection: the provider may have seen it. */
  get sent(): boolean {
    return this.#controller !== null;
  }

  pause(): void {
    this.#heldBack = true;
    this.#controller?.pause();
  }

  resume(): void {
    this.#heldBack = false;
    this.#controller?.resume();
  }

  /** The answer is read no further. Before a connection exists, it is ended as soon as there is one. */
  abort(): void {
    if (this.ended || this.#aborted) return;
    this.#aborted = true;
    this.#controller?.abort(abortReason);
    // A request that still waits for a connection has no controller: its callbacks may come late or never.
    if (this.#controller === null) this.#finish('aborted');
  }

  /** Notes that the answer has its end mark: only the end of the HTTP response is still to come. */
  markWhole(): void {
    this.#isWhole = true;
  }

  /**
   * Stops reading. A whole answer gets a moment to end its response, because its connection then serves the next request, which
   * would open a new one otherwise. Bytes behind the end mark are dropped.
   */
  leave(clock: Pick<Clock, 'setTimer'>): void {
    if (this.ended || this.#aborted) return;
    if (!this.#isWhole) {
      this.abort();
      return;
    }
    // Later bytes are no part of the answer, so nothing of its call is kept for them.
    this.#sink = NOBODY;
    this.#leaving = clock.setTimer(RESPONSE_END_WAIT_MS, () => this.abort());
    this.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // An aborted request never reaches the provider, so it must not count as sent.
    if (this.#aborted) controller.abort(abortReason);
    else this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.ended) return;
    this.bytesReceived += chunk.length;
    if (this.#sink !== null) {
      this.#sink.data(chunk);
      return;
    }
    this.#waiting.push(chunk);
    if (this.bytesReceived > GATE_BUFFER_BYTES) controller.pause();
    this.#begun.resolve({ ok: true });
  }

  onResponseEnd(): void {
    this.#finish(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, _error: Error): void {
    this.#finish(this.#aborted ? 'aborted' : this.status === 0 ? 'unreachable' : 'cut');
  }

  #finish(failure: UpstreamFailure | null): void {
    if (this.ended) return;
    this.ended = true;
    this.#failure = failure;
    this.#leaving?.cancel();
    this.#leaving = null;
    if (this.#sink === null) {
      this.#begun.resolve(
        failure === null || this.#waiting.length > 0 ? { ok: true } : { ok: false, cause: failure },
      );
    } else if (failure === null) this.#sink.end();
    else this.#sink.fail(failure);
  }
}

const NOBODY: AnswerReceiver = { data() {}, end() {}, fail() {} };

const NO_BYTES = Buffer.alloc(0);
const abortReason = new Error('the gateway ended the request');
