import { isRecord } from '#core/is-record.ts';

/**
 * Keys in a parsed value, at any depth. Where the text holds more of them than the value, a key was repeated: one
 * reader may take the first, another the last, so the price could be read from one and the work done by the other.
 */
export function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += countKeys(item);
    return count;
  }
  for (const item of Object.values(value)) {
    count++;
    if (typeof item === 'object') count += countKeys(item);
  }
  return count;
}

/** Values that are looked at in one turn of the event loop. */
const COUNTED_AT_ONCE = 50_000;

/**
 * The same of a value with very many others in it, in steps. Their order does not matter. `Object.values` takes three times as long as the
 * keys for an object with tens of thousands of them.
 */
export function* countKeysInSteps(value: unknown): Generator<string, number> {
  const rest: unknown[] = [value];
  let count = 0;
  let seen = 0;
  while (rest.length > 0) {
    const each = rest.pop();
    if (!isList(each) && !isRecord(each)) continue;
    const keys = isList(each) ? null : Object.keys(each);
    count += keys?.length ?? 0;
    seen += keys?.length ?? 0;
    const entries = isList(each) ? each.length : (keys?.length ?? 0);
    for (let at = 0; at < entries; at++) {
      if (++seen >= COUNTED_AT_ONCE) {
        seen = 0;
        yield 'count keys';
      }
      const inner = isList(each) ? each[at] : each[keys?.[at] ?? ''];
      if (typeof inner === 'object' && inner !== null) rest.push(inner);
    }
  }
  return count;
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
