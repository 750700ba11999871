import type { Dispatcher } from 'undici';
import { parseJson } from '#core/parse-json.ts';
import type { ProviderAnswer } from './read-job-answer.ts';

/** The largest answer about a job. */
const VIDEO_ANSWER_BYTES = 64 * 1024;

/** One small request and its JSON, as undici calls it back: thousands a second, each without a stream of its own. */
export class JsonExchange implements Dispatcher.DispatchHandler {
  readonly #answered = Promise.withResolvers<ProviderAnswer>();
  readonly answer = this.#answered.promise;
  #controller: Dispatcher.DispatchController | null = null;
  #aborted = false;
  #status = 0;
  #retryAfter = false;
  #chunks: Buffer[] = [];
  #bytes = 0;

  abort(): void {
    this.#aborted = true;
    // A request that still waits for a connection has no controller: its callbacks may come late or never.
    if (this.#controller === null) this.#answered.resolve({ kind: 'not_sent' });
    else this.#controller.abort(abortReason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#aborted) controller.abort(abortReason);
    else this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = headers['retry-after'] !== undefined;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > VIDEO_ANSWER_BYTES) controller.abort(abortReason);
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const body = parseJson(Buffer.concat(this.#chunks).toString('utf8'));
    this.#answered.resolve({ kind: 'answered', status: this.#status, body, retryAfter: this.#retryAfter });
  }

  onResponseError(): void {
    this.#answered.resolve({ kind: this.#controller === null ? 'not_sent' : 'lost' });
  }
}

const abortReason = new Error('the worker ended the request');
