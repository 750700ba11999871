import { hasReservedSuffix } from '#core/catalog/model-id.ts';

/** An alias may point to a dearer model tomorrow, a router picks the model after the call, and a name that begins with a dot would change an address. */
export const isServableId = (id: string): boolean =>
  !/^[~.]|\/\.|^openrouter\//.test(id) && !hasReservedSuffix(id);
