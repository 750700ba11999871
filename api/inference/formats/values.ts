import { isRecord } from '#core/is-record.ts';

/* Reads of parsed JSON whose shape a schema or a provider has promised: what is of another kind counts as absent. */

export const records = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter((each) => isRecord(each)) : [];
export const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
/** The same list where each entry stays the same. */
export function mapRecords(
  list: readonly unknown[],
  map: (each: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): readonly unknown[] {
  const mapped = list.map((each) => (isRecord(each) ? map(each) : each));
  return mapped.every((each, index) => each === list[index]) ? list : mapped;
}
export const recordOf = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  // One whose digits are kept.
  return JSON.isRawJSON(value) ? Number(value.rawJSON) : null;
}
export const booleanOf = (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null);
