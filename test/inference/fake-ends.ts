import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { CallerSide } from '../../api/inference/hold/caller-side.ts';
import { UpstreamRequest } from '../../api/inference/upstream/upstream-request.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** The caller's end as the gateway holds it, without a socket: it keeps what was written and takes what a test allows. */
export class FakeResponse extends ServerResponse {
  status: number | null = null;
  head: unknown = null;
  readonly chunks: Buffer[] = [];
  ended = false;
  /** What `write` answers: false asks to wait for `drain`. */
  flowing = true;

  constructor() {
    super(new IncomingMessage(new Socket()));
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString('utf8');
  }

  override writeHead(status: number, head?: unknown): this {
    if (this.status !== null) throw new Error('two heads');
    this.status = status;
    this.head = head;
    return this;
  }

  override write(chunk: unknown): boolean {
    if (this.status === null) throw new Error('bytes before the head');
    if (this.ended || this.destroyed) throw new Error('bytes after the end');
    if (!Buffer.isBuffer(chunk)) throw new Error('not a buffer');
    this.chunks.push(chunk);
    return this.flowing;
  }

  override end(chunk?: unknown): this {
    if (this.ended) throw new Error('two ends');
    if (chunk !== undefined) this.write(chunk);
    this.ended = true;
    return this;
  }

  override destroy(): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    this.emit('close');
    return this;
  }

  hangUp(): void {
    this.destroy();
  }
}

/** A caller behind a gate, and all that it told the call. */
export function fakeCaller(options: { gateOpen?: boolean } = {}) {
  const res = new FakeResponse();
  const heard: string[] = [];
  const clock = createFakeClock();
  clock.advance(1_000);
  const caller = new CallerSide(
    res,
    {
      callerGone: () => void heard.push('gone'),
      callerResumed: () => void heard.push('resumed'),
      answerBegins: () => void heard.push('begins'),
    },
    clock,
  );
  if (options.gateOpen ?? true) caller.openGate();
  heard.length = 0;
  return { res, caller, heard, clock };
}

/** A provider's end: undici's side of a request, played by the test. */
export class FakeController implements Dispatcher.DispatchController {
  paused = false;
  aborted = false;
  reason: Error | null = null;
  readonly asked: string[] = [];
  readonly #request: Failing;

  constructor(request: Failing) {
    this.#request = request;
  }

  abort(reason: Error): void {
    this.asked.push('abort');
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#request.onResponseError(this, reason);
  }

  pause(): void {
    this.asked.push('pause');
    this.paused = true;
  }

  resume(): void {
    this.asked.push('resume');
    this.paused = false;
  }
}

/** The part of a handler that hears of an aborted connection. */
interface Failing {
  onResponseError(controller: Dispatcher.DispatchController | null, error: Error): void;
}

export function fakeUpstream() {
  const upstream = new UpstreamRequest();
  const controller = new FakeController(upstream);
  return { upstream, controller };
}
