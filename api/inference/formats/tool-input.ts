import { keepDigits } from '../exact-json.ts';
import { readJsonObject } from '../json-object.ts';

/**
 * What a tool of the messages format is called with. A model may write what is no JSON, or too deep to be written again;
 * the format has room for an object alone.
 */
export function inputOf(json: string): Readonly<Record<string, unknown>> {
  if (json === '') return {};
  const bytes = Buffer.from(json);
  const read = readJsonObject(bytes);
  return typeof read === 'string' ? { arguments: json } : keepDigits(bytes, read.value);
}
