import { exactValue } from '../exact-json.ts';
import { type JsonBounds, readJsonObject } from '../json-object.ts';

/**
 * What a tool of the messages format is called with. A model may write what is no JSON, or too deep to be written again;
 * the format has room for an object alone.
 */
export function inputOf(json: string): Readonly<Record<string, unknown>> {
  const read = readInput(json);
  return read === 'too_many' ? { arguments: json } : read.input;
}

/** The same with bounds, for what a caller says that a model wrote. */
export function readInput(json: string, bounds?: JsonBounds): ReadInput | 'too_many' {
  if (json === '') return { input: {}, keyCount: 0, valueCount: 0 };
  const bytes = Buffer.from(json);
  const read = readJsonObject(bytes, bounds);
  if (read === 'too_many_keys' || read === 'too_many_values') return 'too_many';
  if (typeof read === 'string') return { input: { arguments: json }, keyCount: 0, valueCount: 0 };
  const { keyCount, valueCount } = read.object;
  return { input: exactValue(bytes, read.value), keyCount, valueCount };
}

interface ReadInput {
  input: Readonly<Record<string, unknown>>;
  keyCount: number;
  valueCount: number;
}
