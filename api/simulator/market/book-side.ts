/** Of one price: sizes in steps of the market. */
export interface SimulatedLevel {
  sizeSteps: number;
  orders: number;
}

/** One side of a simulated book. Prices are whole ticks; its best and its worst are known at any time. */
export class BookSide {
  readonly name: 'bid' | 'ask';
  /** From the best price to the worst. */
  readonly away: 1 | -1;
  readonly #levels = new Map<number, SimulatedLevel>();
  #best = 0;
  #worst = 0;

  constructor(name: 'bid' | 'ask') {
    this.name = name;
    this.away = name === 'bid' ? -1 : 1;
  }

  get count(): number {
    return this.#levels.size;
  }

  /** Only of a side that has levels. */
  get best(): number {
    return this.#best;
  }

  get worst(): number {
    return this.#worst;
  }

  at(tick: number): SimulatedLevel | undefined {
    return this.#levels.get(tick);
  }

  /** The level at this price, or the next one away from the best; the worst where there is none. */
  nearest(tick: number): number {
    let found = tick;
    while ((this.#worst - found) * this.away > 0 && !this.#levels.has(found)) found += this.away;
    return this.#levels.has(found) ? found : this.#worst;
  }

  set(tick: number, level: SimulatedLevel): void {
    if (this.#levels.size === 0) {
      this.#best = tick;
      this.#worst = tick;
    }
    if ((this.#best - tick) * this.away > 0) this.#best = tick;
    if ((tick - this.#worst) * this.away > 0) this.#worst = tick;
    this.#levels.set(tick, level);
  }

  remove(tick: number): void {
    this.#levels.delete(tick);
    if (this.#levels.size === 0) return;
    while (!this.#levels.has(this.#best)) this.#best += this.away;
    while (!this.#levels.has(this.#worst)) this.#worst -= this.away;
  }

  /** Best first. */
  *levels(): Generator<[tick: number, level: SimulatedLevel]> {
    if (this.#levels.size === 0) return;
    for (let tick = this.#best; (this.#worst - tick) * this.away >= 0; tick += this.away) {
      const level = this.#levels.get(tick);
      if (level !== undefined) yield [tick, level];
    }
  }
}
