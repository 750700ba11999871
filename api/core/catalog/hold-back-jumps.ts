import { FACTOR_ONE_PPM, maxBigint, minBigint } from '../money.ts';
import type { Model, PriceOverride, Prices } from './catalog.ts';
import type { ImportedList } from './import-models.ts';

/**
 * A new list, in which a model whose price jumped keeps its old entry: one wrong digit at a provider must neither be
 * charged to agents nor given away. A price that stays where it jumped to waits for the operator.
 *
 * @param factorPpm A price may become this many times dearer or cheaper at once.
 */
export function holdBackJumps(
  before: ImportedList | null,
  list: ImportedList,
  factorPpm: bigint,
): { list: ImportedList; heldBack: string[] } {
  if (before === null) return { list, heldBack: [] };
  const known = new Map(before.models.map((model) => [model.id, model]));
  const heldBack: string[] = [];
  const models = list.models.map((model) => {
    const old = known.get(model.id);
    if (old === undefined || !jumps(old, model, factorPpm)) return model;
    heldBack.push(model.id);
    return old;
  });
  return { list: { ...list, models }, heldBack };
}

function jumps(old: Model, model: Model, factorPpm: bigint): boolean {
  const before = pricesOf(old);
  const now = pricesOf(model);
  return [...new Set([...before.keys(), ...now.keys()])].some((name) => {
    const [was, is] = [before.get(name), now.get(name)];
    // A price that comes or goes is another way of billing, not a jump.
    if (was === undefined || is === undefined) return false;
    return maxBigint(was, is) * FACTOR_ONE_PPM > minBigint(was, is) * factorPpm;
  });
}

function pricesOf({ endpoints }: Model): Map<string, bigint> {
  const prices = new Map<string, bigint>();
  for (const [e, { prices: all }] of endpoints.entries()) {
    add(prices, `${e}`, all);
    for (const [o, override] of all.overrides.entries()) add(prices, `${e}.${o}`, override);
  }
  return prices;
}

function add(prices: Map<string, bigint>, at: string, all: Prices | PriceOverride): void {
  for (const [name, price] of Object.entries(all)) {
    if (typeof price === 'bigint') prices.set(`${at}.${name}`, price);
  }
}
