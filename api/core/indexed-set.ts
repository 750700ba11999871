/**
 * Who is here now, for objects that come and go thousands of times a second; each stands in one roster at a time.
 *
 * Not a `Set`: that copies itself into a new table every few hundred deletions, and its old tables, once V8 counts
 * them as long-lived, keep everything alive that they held last. The collector then copies whole calls that are over.
 */
export class IndexedSet<T extends object> implements Iterable<T> {
  readonly #members: (T & Placed)[] = [];

  get size(): number {
    return this.#members.length;
  }

  has(member: T & Placed): boolean {
    const place = member[PLACE];
    return place !== undefined && this.#members[place] === member;
  }

  add(member: T & Placed): void {
    member[PLACE] = this.#members.push(member) - 1;
  }

  /** The last member takes the place. False: was not here. */
  delete(member: T & Placed): boolean {
    const place = member[PLACE];
    if (place === undefined || this.#members[place] !== member) return false;
    const last = this.#members.pop();
    if (last === undefined || last === member) return true;
    this.#members[place] = last;
    last[PLACE] = place;
    return true;
  }

  /** Those who are here now, in no order; who leaves before it is reached is left out. */
  *[Symbol.iterator](): Generator<T> {
    for (const member of this.#members.slice()) if (this.has(member)) yield member;
  }
}

const PLACE = Symbol('place in a roster');
interface Placed {
  [PLACE]?: number;
}
