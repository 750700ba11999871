import type { TradeCursor } from './market-store.ts';

/**
 * Trades that arrived before others with a lower number. Beyond it the lowest missing numbers are taken to
 * be lost.
 */
export const TRADES_AHEAD_MAX = 1_000;
/** Lost ranges whose numbers are remembered, so that a trade that is too late is told from a repeated one. */
export const GIVEN_UP_RANGES_MAX = 100;

/** Which trades of a market have been folded. */
export class SeenTrades {
  readonly generation: number;
  readonly #ahead: Set<number>;
  readonly #givenUp: (readonly [number, number])[];
  #throughSeq: number;

  constructor({ throughSeq, aheadSeqs, givenUp, generation }: TradeCursor) {
    this.#throughSeq = throughSeq;
    this.#ahead = new Set(aheadSeqs);
    this.#givenUp = [...givenUp];
    this.generation = generation;
  }

  /** All up to it, but for those that were given up. */
  get throughSeq(): number {
    return this.#throughSeq;
  }

  has(seq: number): boolean {
    return seq <= this.#throughSeq ? !this.#isGivenUp(seq) : this.#ahead.has(seq);
  }

  /** Counts a trade in. `too_late`: it is one of those that were given up, so that no candle may take it any more. */
  take(seq: number): 'new' | 'repeated' | 'too_late' {
    if (seq <= this.#throughSeq) return this.#isGivenUp(seq) ? 'too_late' : 'repeated';
    if (seq === this.#throughSeq + 1) {
      this.#throughSeq = seq;
      this.#close();
      return 'new';
    }
    if (this.#ahead.has(seq)) return 'repeated';
    this.#ahead.add(seq);
    if (this.#ahead.size > TRADES_AHEAD_MAX) this.#giveUp();
    return 'new';
  }

  toCursor(): TradeCursor {
    return {
      throughSeq: this.#throughSeq,
      aheadSeqs: [...this.#ahead].sort((a, b) => a - b),
      givenUp: [...this.#givenUp],
      generation: this.generation,
      candlesMissing: false,
    };
  }

  #close(): void {
    while (this.#ahead.delete(this.#throughSeq + 1)) this.#throughSeq++;
  }

  #giveUp(): void {
    const lowest = Math.min(...this.#ahead);
    this.#givenUp.push([this.#throughSeq + 1, lowest - 1]);
    if (this.#givenUp.length > GIVEN_UP_RANGES_MAX) this.#givenUp.shift();
    this.#throughSeq = lowest - 1;
    this.#close();
  }

  #isGivenUp(seq: number): boolean {
    return this.#givenUp.some(([first, last]) => seq >= first && seq <= last);
  }
}
