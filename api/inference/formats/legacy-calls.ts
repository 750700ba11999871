import { textOf } from './values.ts';

/** Gives the calls that chats had before tools ids, because their results name the function alone. */
export class LegacyCalls {
  /** Calls in their order; `null`: it has its result. */
  readonly #ids: (string | null)[] = [];
  /** Places of calls without a result, the newest last. A call that has got its result by the other list may still stand in one. */
  readonly #open: number[] = [];
  readonly #openByName = new Map<string, number[]>();

  begin(name: unknown): string {
    const place = this.#ids.length;
    const id = `function_call_${place + 1}`;
    const sameName = this.#openByName.get(textOf(name)) ?? [];
    this.#openByName.set(textOf(name), sameName);
    for (const list of [this.#open, sameName]) list.push(place);
    this.#ids.push(id);
    return id;
  }

  /** The id of the newest call of this name that has no result, or of any name; empty: no call is without one. */
  idOfResult(name: unknown): string {
    return this.#take(this.#openByName.get(textOf(name)) ?? []) ?? this.#take(this.#open) ?? '';
  }

  #take(places: number[]): string | null {
    for (let place = places.pop(); place !== undefined; place = places.pop()) {
      const id = this.#ids[place] ?? null;
      this.#ids[place] = null;
      if (id !== null) return id;
    }
    return null;
  }
}
