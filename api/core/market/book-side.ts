import { formatDecimal9 } from '../events/market-values.ts';
import type { BookLevel } from './book-view.ts';

/** In billionths. */
export interface PriceLevel {
  price: bigint;
  size: bigint;
  orders: number;
}

/**
 * One side of a book. Its best level stands last: nearly all that changes is near it, and an array is cheap to change at
 * its end.
 */
export class BookSide {
  readonly #isBid: boolean;
  readonly #levels: PriceLevel[];

  /** `null`: a price is there twice. */
  static of(isBid: boolean, levels: readonly PriceLevel[]): BookSide | null {
    const sorted = levels.toSorted((a, b) => (isBetter(isBid, a.price, b.price) ? 1 : -1));
    const isTwice = sorted.some(({ price }, i) => price === sorted[i + 1]?.price);
    return isTwice ? null : new BookSide(isBid, sorted);
  }

  private constructor(isBid: boolean, levels: PriceLevel[]) {
    this.#isBid = isBid;
    this.#levels = levels;
  }

  get count(): number {
    return this.#levels.length;
  }

  get bestPrice(): bigint | null {
    return this.#levels.at(-1)?.price ?? null;
  }

  /** All that there is now at its price; a size of 0 takes the level away. */
  put(level: PriceLevel): void {
    const place = this.#placeOf(level.price);
    const isThere = this.#levels[place]?.price === level.price;
    if (level.size === 0n) {
      if (isThere) this.#levels.splice(place, 1);
    } else if (isThere) this.#levels[place] = level;
    else this.#levels.splice(place, 0, level);
  }

  /** Best first. */
  best(depth: number): BookLevel[] {
    return this.#levels.slice(-depth).reverse().map(toShown);
  }

  /** Of this price, or where it would stand. */
  #placeOf(price: bigint): number {
    let low = 0;
    let high = this.#levels.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const level = this.#levels[middle];
      if (level !== undefined && isBetter(this.#isBid, price, level.price)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const isBetter = (isBid: boolean, price: bigint, than: bigint): boolean =>
  isBid ? price > than : price < than;

function toShown(level: PriceLevel): BookLevel {
  const cached = shownLevels.get(level);
  if (cached !== undefined) return cached;
  const { price, size, orders } = level;
  const shown = { price: formatDecimal9(price), size: formatDecimal9(size), orders };
  shownLevels.set(level, shown);
  return shown;
}

/** Levels never change, a new one is put in the place of the old. A book is shown four times a second, mostly unchanged. */
const shownLevels = new WeakMap<PriceLevel, BookLevel>();
