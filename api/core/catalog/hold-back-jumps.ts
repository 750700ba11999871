import { type AttoUsd, FACTOR_ONE_PPM, maxBigint, minBigint } from '../money.ts';
import type { ImportedList } from './import-source.ts';

/**
 * A new list, in which a model whose price jumped keeps its old entry: one wrong digit at a provider must neither be
 * charged to agents nor given away. A price that stays where it jumped to waits for the operator.
 *
 * @param factorPpm A price may become this many times dearer or cheaper at once.
 */
export function holdBackJumps<M extends { id: string }>(
  before: ImportedList<M> | null,
  list: ImportedList<M>,
  factorPpm: bigint,
  prices: (model: M) => Map<string, AttoUsd>,
): { list: ImportedList<M>; heldBack: string[] } {
  if (before === null) return { list, heldBack: [] };
  const known = new Map(before.models.map((model) => [model.id, model]));
  const heldBack: string[] = [];
  const models = list.models.map((model) => {
    const old = known.get(model.id);
    if (old === undefined || !jumps(prices(old), prices(model), factorPpm)) return model;
    heldBack.push(model.id);
    return old;
  });
  return { list: { ...list, models }, heldBack };
}

function jumps(
  before: ReadonlyMap<string, AttoUsd>,
  now: ReadonlyMap<string, AttoUsd>,
  factorPpm: bigint,
): boolean {
  return [...new Set([...before.keys(), ...now.keys()])].some((name) => {
    const [was, is] = [before.get(name), now.get(name)];
    // A price that comes or goes is another way of billing, not a jump.
    if (was === undefined || is === undefined) return false;
    return maxBigint(was, is) * FACTOR_ONE_PPM > minBigint(was, is) * factorPpm;
  });
}
