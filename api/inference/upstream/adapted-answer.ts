import type { Dispatcher } from 'undici';
import type { AnswerAdapter, ResponseHeaders } from '#core/catalog/provider-kind.ts';
import { JSON_ANSWER_BYTES } from '#core/limits.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/** Hands a provider's answer to its request in the format that was asked for, as the kind's adapter turns it. */
export class AdaptedAnswer implements Dispatcher.DispatchHandler {
  readonly #request: UpstreamRequest;
  readonly #adapter: AnswerAdapter;
  #controller: Dispatcher.DispatchController | null = null;
  /** Bytes that the adapter has taken since it last returned any. */
  #heldBytes = 0;
  #failed = false;

  constructor(request: UpstreamRequest, adapter: AnswerAdapter) {
    this.#request = request;
    this.#adapter = adapter;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#request.onRequestStart(controller);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status < 200) return;
    // Whatever the adapter does, the provider has answered.
    this.#request.onResponseStart(controller, status, headers);
    const adapted = this.#try(() => this.#adapter.begin(status, headers));
    if (adapted !== null) this.#request.onResponseStart(controller, status, adapted);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#failed) return;
    this.#heldBytes += chunk.length;
    const bytes = this.#try(() => this.#adapter.data(chunk));
    if (bytes === null) return;
    if (bytes.length > 0) {
      this.#heldBytes = 0;
      this.#request.onResponseData(controller, bytes);
    } else if (this.#heldBytes > JSON_ANSWER_BYTES)
      this.#fail(new Error('the answer is too long to be adapted'));
  }

  onResponseEnd(): void {
    if (this.#failed) return;
    const bytes = this.#try(() => this.#adapter.end());
    if (bytes === null) return;
    if (bytes.length > 0 && this.#controller !== null) this.#request.onResponseData(this.#controller, bytes);
    this.#request.onResponseEnd();
  }

  onResponseError(controller: Dispatcher.DispatchController | null, error: Error): void {
    if (!this.#failed) this.#request.onResponseError(controller, error);
  }

  /** `null`: the adapter has thrown, and the answer counts as broken off. */
  #try<T>(work: () => T): T | null {
    try {
      return work();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
      return null;
    }
  }

  #fail(error: Error): void {
    this.#failed = true;
    this.#request.onResponseError(this.#controller, error);
    this.#controller?.abort(error);
  }
}
