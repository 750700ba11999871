export interface SeededRandom {
  /** From 0 up to, and without, 1. */
  unit(): number;
  /** A whole number from 0 up to, and without, `bound`. */
  below(bound: number): number;
  /** Around 0, with a spread of about 1; never beyond 3.5. */
  bell(): number;
}

/** The same numbers from the same seed and name on every machine, by whole numbers alone. */
export function createSeededRandom(seed: number, name: string): SeededRandom {
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
