import type { z } from 'zod';
import { isoTime, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { bookRecord } from '#core/events/book-record.ts';
import type { marketTrade } from '#core/events/market-trade.ts';
import { formatDecimal9 } from '#core/events/market-values.ts';
import { BookSide, type SimulatedLevel } from './book-side.ts';

export type BookLine = z.input<typeof bookRecord>;
export type TradeLine = z.input<typeof marketTrade>;
type Change = Extract<BookLine, { type: 'book_changed' }>['changes'][number];

const TICK_NANO = 100_000n;
const SIZE_STEP_NANO = 10_000_000n;
export const PRICE_TICK = formatDecimal9(TICK_NANO);
export const SIZE_STEP = formatDecimal9(SIZE_STEP_NANO);
/** What the operator asks for fresh credit. Nobody offers credit that ends sooner for as much. */
export const FRESH_PRICE = '0.99';
const FRESH_TICK = 9_900;
/** Around which the newest market trades, and by how much less each market that ends before it. */
const NEWEST_TICK = 9_550;
const OLDER_BY_TICKS = 350;
const TICK_MIN = 1_000;

/** Levels of a side, and how far from the fair price they reach. */
const LEVELS = 130;
const THIN_LEVELS = 14;
const REACH_TICKS = 200;
/** From the fair price to the best quotes. */
const GAP_TICKS = 3;
const THIN_GAP_TICKS = 14;
const CHANGES_MAX = 3;
/** Of one order, which may take several levels: no trade is larger. */
const ORDER_STEPS_MAX = 15_000;
const ORDER_LEVELS_MAX = 3;
/** Nobody takes what is so much worse than the fair price. */
const ORDER_REACH_TICKS = 40;
export const TRADE_NANO_USD_MAX = BigInt(ORDER_STEPS_MAX) * SIZE_STEP_NANO;

/** Of the fair price's walk: ticks in a second, and how strongly it is drawn back within one. */
const WALK_TICKS = 2;
const DRAWN_BACK = 1 / 3_000;
/** By the largest order, where a trade is made in a second; many small steps are to walk no further. */
const PUSH_TICKS = 6;
const SNAPSHOT_MS = MINUTE_MS / 2;
const BUSY_SECONDS = { least: 180, most: 600 };
const THIN_SECONDS = { least: 12, most: 40 };

export interface SimulatedMarketOptions {
  id: string;
  seed: number;
  /** 0: the newest; 1: the one that ends before it. */
  age: number;
  startAtMs: number;
  changesPerSecond: number;
  tradesPerSecond: number;
  agents: readonly number[];
  after: MarketPoint;
}

/** Where a market's records go on. */
export interface MarketPoint {
  bookSeq: number;
  tradeSeq: number;
  /** `null`: nothing was traded yet. */
  price: string | null;
}

/**
 * One market that trades by itself. A fair price walks at random and is drawn back to where it began; quotes follow it
 * from both sides, orders take the best of them and push it a little. Now and then most quotes are gone for a while.
 */
export class SimulatedMarket {
  readonly id: string;
  readonly #options: SimulatedMarketOptions;
  readonly #random: SeededRandom;
  readonly #bids = new BookSide('bid');
  readonly #asks = new BookSide('ask');
  /** Of each agent, sold and not bought back: who has sold last buys next, so that nobody sells more than it has. */
  readonly #sold: Map<number, number>;
  readonly #homeTick: number;
  #fairTick: number;
  #atMs: number;
  #bookSeq: number;
  #tradeSeq: number;
  #isThin = false;
  /** Of each price that the present record changes: whether it had a level before. */
  readonly #wasThere = new Map<string, boolean>();
  #next: { changeMs: number; tradeMs: number; snapshotMs: number; moodMs: number };

  constructor(options: SimulatedMarketOptions) {
    const { id, seed, age, startAtMs, agents, after } = options;
    this.id = id;
    this.#options = options;
    this.#random = createSeededRandom(seed, id);
    this.#sold = new Map(agents.map((agent) => [agent, 0]));
    this.#homeTick = Math.max(NEWEST_TICK - age * OLDER_BY_TICKS, 2 * TICK_MIN);
    this.#fairTick = after.price === null ? this.#homeTick : toTick(after.price);
    this.#atMs = startAtMs;
    this.#bookSeq = after.bookSeq;
    this.#tradeSeq = after.tradeSeq;
    this.#next = {
      changeMs: startAtMs + this.#pause(options.changesPerSecond),
      tradeMs: startAtMs + this.#pause(options.tradesPerSecond),
      snapshotMs: startAtMs,
      moodMs: startAtMs + this.#seconds(BUSY_SECONDS),
    };
    for (const side of [this.#bids, this.#asks]) {
      for (let depth = GAP_TICKS; depth < REACH_TICKS; depth++) {
        const isThere = depth === GAP_TICKS || this.#random.unit() < LEVELS / REACH_TICKS;
        if (isThere) this.#quote(side, this.#tickAt(side, depth));
      }
    }
  }

  /** When its next step is due. */
  get nextMs(): number {
    return Math.min(this.#next.changeMs, this.#next.tradeMs, this.#next.snapshotMs);
  }

  /** Its records of one moment. */
  step(): { trades: TradeLine[]; book: BookLine } {
    const { nextMs } = this;
    this.#walk(nextMs);
    if (nextMs === this.#next.snapshotMs) {
      this.#next.snapshotMs += SNAPSHOT_MS;
      return { trades: [], book: this.snapshot() };
    }
    const { changesPerSecond, tradesPerSecond } = this.#options;
    const isOrder = nextMs === this.#next.tradeMs;
    const { trades, changes } = isOrder ? this.#trade() : this.#requote();
    if (isOrder) this.#next.tradeMs += Math.max(1, trades.length) * this.#pause(tradesPerSecond);
    else this.#next.changeMs += changes.length * this.#pause(changesPerSecond);
    this.#bookSeq++;
    return { trades, book: { ...this.#head(this.#bookSeq), type: 'book_changed', changes } };
  }

  #walk(toMs: number): void {
    const seconds = (toMs - this.#atMs) / SECOND_MS;
    this.#atMs = toMs;
    const drawn = (this.#homeTick - this.#fairTick) * Math.min(1, seconds * DRAWN_BACK);
    this.#push(drawn + WALK_TICKS * Math.sqrt(seconds) * this.#random.bell());
    if (toMs < this.#next.moodMs) return;
    this.#isThin = !this.#isThin;
    this.#next.moodMs = toMs + this.#seconds(this.#isThin ? THIN_SECONDS : BUSY_SECONDS);
  }

  #push(ticks: number): void {
    const most = FRESH_TICK - 2 * THIN_GAP_TICKS;
    this.#fairTick = Math.min(most, Math.max(TICK_MIN, this.#fairTick + ticks));
  }

  /** An order that takes the best levels of the other side; where it finds none for its price, somebody makes one. */
  #trade(): { trades: TradeLine[]; changes: Change[] } {
    const isBuy = this.#random.below(2) === 0;
    const side = isBuy ? this.#asks : this.#bids;
    let leftSteps = Math.min(ORDER_STEPS_MAX, 100 + Math.floor(300 / (0.02 + this.#random.unit())));
    const pushTicks = PUSH_TICKS / Math.sqrt(Math.max(1, this.#options.tradesPerSecond));
    this.#push((isBuy ? pushTicks : -pushTicks) * (leftSteps / ORDER_STEPS_MAX));
    const trades: TradeLine[] = [];
    const changes: Change[] = [];
    while (leftSteps > 0 && trades.length < ORDER_LEVELS_MAX) {
      const tick = side.best;
      if (this.#depthOf(side, tick) > ORDER_REACH_TICKS) break;
      const level = side.at(tick);
      if (level === undefined) throw new Error('A simulated side has no best level.');
      // The last level stays: a side of a book may be thin, and never becomes empty by one order.
      const isLast = side.count === 1;
      const taken = Math.min(leftSteps, isLast ? level.sizeSteps - 1 : level.sizeSteps);
      if (taken === 0) break;
      leftSteps -= taken;
      trades.push(this.#tradeOf(tick, taken));
      const rest = { sizeSteps: level.sizeSteps - taken, orders: Math.max(1, level.orders - 1) };
      changes.push(this.#change(side, tick, rest.sizeSteps === 0 ? null : rest));
      if (isLast) break;
    }
    return trades.length > 0 ? { trades, changes } : this.#requote();
  }

  #tradeOf(tick: number, sizeSteps: number): TradeLine {
    const holders = [...this.#sold].filter(([, sold]) => sold <= 0);
    const [seller] = holders[this.#random.below(holders.length)] ?? [];
    const others = [...this.#sold.keys()].filter((agent) => agent !== seller);
    const buyer = others[this.#random.below(others.length)];
    if (seller === undefined || buyer === undefined)
      throw new Error('A simulated market has two agents or more.');
    this.#sold.set(seller, (this.#sold.get(seller) ?? 0) + sizeSteps);
    this.#sold.set(buyer, (this.#sold.get(buyer) ?? 0) - sizeSteps);
    this.#tradeSeq++;
    return {
      ...this.#head(this.#tradeSeq),
      type: 'traded',
      tradeId: `${this.id}.${this.#tradeSeq}`,
      price: priceOf(tick),
      size: sizeOf(sizeSteps),
      sellerAgentId: seller,
      buyerAgentId: buyer,
    };
  }

  #requote(): { trades: TradeLine[]; changes: Change[] } {
    this.#wasThere.clear();
    const count = 1 + this.#random.below(CHANGES_MAX);
    const all = Array.from({ length: count }, () => this.#requoteOne());
    // Of a price that has changed twice, what there is now; of one that came and went, nothing.
    const newest = new Map(all.map((change) => [keyOf(change), change]));
    const changes = [...newest].flatMap(([key, change]) =>
      change.orders === 0 && this.#wasThere.get(key) === false ? [] : [change],
    );
    return { trades: [], changes: changes.length > 0 ? changes : [this.#quote(this.#bids, this.#bids.best)] };
  }

  /** What the fair price has overtaken goes first, and only then is anything added: so the sides never cross. */
  #requoteOne(): Change {
    for (const side of [this.#bids, this.#asks]) {
      if (side.count > 1 && this.#depthOf(side, side.best) < 1) return this.#change(side, side.best, null);
    }
    const side = this.#random.below(2) === 0 ? this.#bids : this.#asks;
    const gap = this.#isThin ? THIN_GAP_TICKS : GAP_TICKS;
    if (this.#depthOf(side, side.best) > gap) return this.#quoteBefore(side, gap);
    const wanted = this.#isThin ? THIN_LEVELS : LEVELS;
    if (this.#depthOf(side, side.worst) > REACH_TICKS) return this.#change(side, side.worst, null);
    const depth = this.#someDepth();
    const tick = this.#tickAt(side, depth);
    if (side.count <= wanted && side.at(tick) === undefined && this.#isFree(side, tick))
      return this.#quote(side, tick);
    const known = side.nearest(tick);
    const goes = this.#random.unit() < (side.count > wanted ? 0.8 : 0.2);
    return goes && side.count > 2 ? this.#change(side, known, null) : this.#quote(side, known);
  }

  /** Between the fair price and the best quote. */
  #quoteBefore(side: BookSide, gap: number): Change {
    const tick = this.#tickAt(side, 1 + this.#random.below(gap));
    return this.#quote(side, this.#isFree(side, tick) ? tick : side.best);
  }

  /** A quote of the other side that the fair price has overtaken may still be there. */
  #isFree(side: BookSide, tick: number): boolean {
    if (tick < 1 || tick >= FRESH_TICK) return false;
    const other = side === this.#bids ? this.#asks : this.#bids;
    return other.count === 0 || (tick - other.best) * side.away > 0;
  }

  #quote(side: BookSide, tick: number): Change {
    const depth = Math.max(0, this.#depthOf(side, tick));
    const orders = 1 + this.#random.below(6);
    const most = (20 + depth) * (this.#isThin ? 20 : 90);
    return this.#change(side, tick, { sizeSteps: 1 + orders * (1 + this.#random.below(most)), orders });
  }

  /** `null`: nothing is left there. */
  #change(side: BookSide, tick: number, level: SimulatedLevel | null): Change {
    const { sizeSteps, orders } = level ?? { sizeSteps: 0, orders: 0 };
    const change = { side: side.name, price: priceOf(tick), size: sizeOf(sizeSteps), orders };
    const key = keyOf(change);
    if (!this.#wasThere.has(key)) this.#wasThere.set(key, side.at(tick) !== undefined);
    if (level === null) side.remove(tick);
    else side.set(tick, level);
    return change;
  }

  /** As it is behind its last record. */
  snapshot(): BookLine {
    const levelsOf = (side: BookSide) =>
      Array.from(side.levels(), ([tick, { sizeSteps, orders }]) => ({
        price: priceOf(tick),
        size: sizeOf(sizeSteps),
        orders,
      }));
    return {
      ...this.#head(this.#bookSeq),
      type: 'book_snapshot',
      bids: levelsOf(this.#bids),
      asks: levelsOf(this.#asks),
    };
  }

  #head(seq: number): { v: 1; market: string; seq: number; at: string } {
    return { v: 1, market: this.id, seq, at: isoTime(Math.floor(this.#atMs)) };
  }

  /** From the fair price, away from the other side. */
  #depthOf = (side: BookSide, tick: number): number => (tick - this.#fairTick) * side.away;
  #tickAt = (side: BookSide, depth: number): number =>
    side.away > 0 ? Math.ceil(this.#fairTick + depth) : Math.floor(this.#fairTick - depth);

  /** Mostly near the fair price. */
  #someDepth(): number {
    const near = this.#random.unit();
    return 1 + Math.floor(near * near * REACH_TICKS);
  }

  #pause = (perSecond: number): number => (SECOND_MS / perSecond) * (0.5 + this.#random.unit());
  #seconds = ({ least, most }: { least: number; most: number }): number =>
    SECOND_MS * (least + this.#random.below(most - least));
}

const keyOf = ({ side, price }: Change): string => `${side} ${price}`;
const priceOf = (tick: number): string => formatDecimal9(BigInt(tick) * TICK_NANO);
const sizeOf = (steps: number): string => formatDecimal9(BigInt(steps) * SIZE_STEP_NANO);
const toTick = (price: string): number => Math.round(Number(price) * 10_000);

interface SeededRandom {
  /** From 0 up to, and without, 1. */
  unit(): number;
  /** A whole number from 0 up to, and without, `bound`. */
  below(bound: number): number;
  /** Around 0, with a spread of about 1; never beyond 3.5. */
  bell(): number;
}

/** The same numbers from the same seed and name on every machine, by whole numbers alone. */
function createSeededRandom(seed: number, name: string): SeededRandom {
  let state =
    [...name].reduce((mixed, letter) => Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193), seed) | 0;

  function unit(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  return {
    unit,
    below: (bound) => Math.floor(unit() * bound),
    bell: () => (unit() + unit() + unit() + unit() - 2) * 1.75,
  };
}
