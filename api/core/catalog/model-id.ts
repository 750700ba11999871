/** Splits at every colon after the last slash: suffixes stack, in any order. */
export function splitModelId(id: string): { base: string; suffixes: string[] } {
  const nameAt = id.lastIndexOf('/') + 1;
  const [name = '', ...suffixes] = id.slice(nameAt).split(':');
  return { base: id.slice(0, nameAt) + name, suffixes };
}

/**
 * The first four steer a call, the last two are versions that are never served (spec, What the service does,
 * 6).
 */
const RESERVED: ReadonlySet<string> = new Set(['online', 'nitro', 'floor', 'exacto', 'free', 'batch']);

/** Other suffixes, such as `:thinking`, are simply part of a model's id. */
export const hasReservedSuffix = (id: string): boolean =>
  splitModelId(id).suffixes.some((suffix) => RESERVED.has(suffix));
