import type { CallId } from '../../ids.ts';

/**
 * What an agent's open calls have, by their ids, in the order in which they came: few at a time, thousands a second.
 *
 * Not a `Map`: that copies itself into a new table every few deletions, and its old tables, once V8 counts them as
 * long-lived, keep whole calls alive that are over. An agent has few open calls, thousands only while their prices
 * are looked up: 6,000 of them are looked through in microseconds.
 */
export class OpenCallMap<T> implements Iterable<[CallId, T]> {
  readonly #ids: CallId[] = [];
  readonly #values: T[] = [];

  /** Throws on an id that stands twice in `entries`. */
  constructor(entries: readonly (readonly [CallId, T])[] = []) {
    for (const [callId, value] of entries) {
      this.#ids.push(callId);
      this.#values.push(value);
    }
    if (new Set(this.#ids).size < this.#ids.length) throw new Error('a call stands in it twice');
  }

  get size(): number {
    return this.#ids.length;
  }

  has(callId: CallId): boolean {
    return this.#ids.includes(callId);
  }

  get(callId: CallId): T | undefined {
    const place = this.#ids.indexOf(callId);
    return place < 0 ? undefined : this.#values[place];
  }

  set(callId: CallId, value: T): void {
    const place = this.#ids.indexOf(callId);
    if (place < 0) {
      this.#ids.push(callId);
      this.#values.push(value);
    } else this.#values[place] = value;
  }

  delete(callId: CallId): void {
    const place = this.#ids.indexOf(callId);
    if (place < 0) return;
    this.#ids.splice(place, 1);
    this.#values.splice(place, 1);
  }

  /** Not to be changed. */
  keys(): readonly CallId[] {
    return this.#ids;
  }

  /** Not to be changed, and no longer what it was once a call comes or goes. */
  values(): readonly T[] {
    return this.#values;
  }

  /** Those that are here now; calls may come and go meanwhile. */
  *[Symbol.iterator](): Generator<[CallId, T]> {
    const values = this.#values.slice();
    // There are as many values as ids, and `T` may be `undefined`.
    for (const [place, callId] of this.#ids.slice().entries()) yield [callId, values[place] as T];
  }
}
