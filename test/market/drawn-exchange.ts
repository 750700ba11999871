import type { BookLevel, BookView } from '#core/market/book-view.ts';
import type { Draw } from '../ledger/history/random.ts';
import { BOOK_AT_MS, type Change, changed, type Level, snapshot } from './book-records.ts';

/** Of a price in thousandths. */
const PRICES = 40;
const LOWEST = 980;

type Side = Map<number, { size: number; orders: number }>;

/** Writes the book of one market as an exchange does, and knows what it is after each of its changes. */
export class DrawnExchange {
  /** As JSON, by `seq`. */
  readonly truth = new Map<number, string>();
  readonly #draw: Draw;
  readonly #bids: Side = new Map();
  readonly #asks: Side = new Map();
  #seq: number;

  constructor(draw: Draw) {
    this.#draw = draw;
    this.#seq = 1 + draw(1_000);
    this.#note();
  }

  get seq(): number {
    return this.#seq;
  }

  /** A change of its book, or now and then the whole of it. */
  next(): ReturnType<typeof snapshot | typeof changed> {
    return this.#draw(20) === 0 ? this.snapshot() : this.change();
  }

  snapshot(): ReturnType<typeof snapshot> {
    const [bids, asks] = [this.#bids, this.#asks].map((side) => this.#shuffled([...side].map(toLevel)));
    return snapshot(this.#seq, { bids: bids ?? [], asks: asks ?? [] });
  }

  change(): ReturnType<typeof changed> {
    this.#seq += 1;
    const changes = Array.from({ length: 1 + this.#draw(3) }, () => this.#changeOne());
    this.#note();
    return changed(this.#seq, ...changes);
  }

  /** One that nobody may believe: with it the best bid is not below the best ask. */
  crossing(): ReturnType<typeof changed> {
    return changed(
      this.#seq + 1,
      ['bid', '1.5', '1', 1],
      ['ask', this.#draw(2) === 0 ? '1.5' : '0.5', '1', 1],
    );
  }

  #changeOne(): Change {
    const isBid = this.#draw(2) === 0;
    const [side, other] = isBid ? [this.#bids, this.#asks] : [this.#asks, this.#bids];
    const price = LOWEST + this.#draw(PRICES);
    const isFree = [...other.keys()].every((there) => (isBid ? price < there : price > there));
    if (!isFree || this.#draw(3) === 0) {
      side.delete(price);
      return [isBid ? 'bid' : 'ask', priceText(price), this.#draw(2) === 0 ? '0' : '0.000', 0];
    }
    const level = { size: 1 + this.#draw(1_000_000), orders: 1 + this.#draw(9) };
    side.set(price, level);
    return [isBid ? 'bid' : 'ask', ...toLevel([price, level])];
  }

  #note(): void {
    const bids = shown(this.#bids, (a, b) => b - a);
    const asks = shown(this.#asks, (a, b) => a - b);
    this.truth.set(
      this.#seq,
      JSON.stringify({ seq: this.#seq, atMs: BOOK_AT_MS, bids, asks } satisfies BookView),
    );
  }

  #shuffled<T>(values: readonly T[]): T[] {
    const places = values.map((value) => ({ value, place: this.#draw(1_000) }));
    return places.sort((a, b) => a.place - b.place).map(({ value }) => value);
  }
}

const shown = (side: Side, order: (a: number, b: number) => number): BookLevel[] =>
  [...side]
    .sort(([a], [b]) => order(a, b))
    .map(([price, { size, orders }]) => ({ price: String(price / 1_000), size: String(size / 100), orders }));

const priceText = (price: number): string => (price / 1_000).toFixed(3);
const toLevel = ([price, { size, orders }]: [number, { size: number; orders: number }]): Level => [
  priceText(price),
  (size / 100).toFixed(2),
  orders,
];
