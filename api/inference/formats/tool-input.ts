import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import { type JsonBounds, scanJsonObject } from '../json/json-object.ts';
import type { NumberMarks } from '../json/number-marks.ts';

/**
 * What a tool of the messages format is called with. A model may write what is no JSON, or too deep to be written again;
 * the format has room for an object alone. Its numbers are marked, so print it with `marks`.
 */
export function inputOf(json: string, marks: NumberMarks): Readonly<Record<string, unknown>> {
  const read = readInput(json, undefined, marks);
  return read === 'too_many' ? { arguments: json } : read.input;
}

/** The same with bounds, for what a caller says that a model wrote. */
export function readInput(
  json: string,
  bounds: JsonBounds | undefined,
  marks: NumberMarks,
): ReadInput | 'too_many' {
  if (json === '') return { input: {}, keyCount: 0, valueCount: 0 };
  const bytes = Buffer.from(json);
  const object = scanJsonObject(bytes, bounds);
  if (object === 'too_many_keys' || object === 'too_many_values') return 'too_many';
  const value = typeof object === 'string' ? undefined : parseMarked(bytes, marks);
  if (typeof object === 'string' || !isRecord(value))
    return { input: { arguments: json }, keyCount: 0, valueCount: 0 };
  const { keyCount, valueCount } = object;
  return { input: value, keyCount, valueCount };
}

function parseMarked(bytes: Buffer, marks: NumberMarks): unknown {
  try {
    const marked = marks.parse(bytes);
    return marked === null ? parseJson(bytes.toString('utf8')) : marked.value;
  } catch {
    return undefined;
  }
}

interface ReadInput {
  input: Readonly<Record<string, unknown>>;
  keyCount: number;
  valueCount: number;
}
