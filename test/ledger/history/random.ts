/** A whole number from 0 up to, and without, `below`. All a history's choices are drawn through it. */
export type Draw = (below: number) => number;

/** Seeded and 32 bits wide (xorshift with a scrambled start), so that a printed seed replays a history exactly. */
export function createDraw(seed: number): Draw {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0 || 1;
  state = Math.imul(state ^ (state >>> 15), 0xc2b2ae35) >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

export function pick<T>(draw: Draw, values: readonly T[]): T {
  const value = values[draw(values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}
