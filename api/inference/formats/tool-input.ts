import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import { wholePartOf } from '../json/cut-json.ts';
import { type JsonBounds, scanJsonObject } from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { isNoArguments } from '../price/call-arguments.ts';

/**
 * Reads what a tool of the messages format is called with. Arguments that were cut are read up to the part that is whole, as the
 * official SDK reads them from a stream: any other text would be arguments that the model has not written. A model may also write
 * text that is no JSON, or is too deep to be written again, and the format has room for an object alone. The numbers of the input
 * are marked, so print it with `marks`.
 */
export function inputOf(json: string, marks: NumberMarks): Readonly<Record<string, unknown>> {
  const read = readInput(json, undefined, marks);
  return read === 'too_many' ? { arguments: json } : read.input;
}

/** The same as text, for servers that parse the arguments of earlier calls. */
export function parseableArguments(json: string): string {
  const marks = new NumberMarks();
  return marks.print(inputOf(json, marks)).toString();
}

/** The same with bounds, for what a caller says that a model wrote. */
export function readInput(
  json: string,
  bounds: JsonBounds | undefined,
  marks: NumberMarks,
): ReadInput | 'too_many' {
  if (isNoArguments(json)) return { input: {}, keyCount: 0, valueCount: 0 };
  const read = readObject(json, bounds, marks);
  if (read !== null) return read;
  const whole = wholePartOf(json);
  const cut = whole === null || whole === json ? null : readObject(whole, bounds, marks);
  return cut ?? { input: { arguments: json }, keyCount: 0, valueCount: 0 };
}

/** `null`: the text is no object. */
function readObject(
  json: string,
  bounds: JsonBounds | undefined,
  marks: NumberMarks,
): ReadInput | 'too_many' | null {
  const bytes = Buffer.from(json);
  const object = scanJsonObject(bytes, bounds);
  if (object === 'too_many_keys' || object === 'too_many_values') return 'too_many';
  const value = typeof object === 'string' ? undefined : parseMarked(bytes, marks);
  if (typeof object === 'string' || !isRecord(value)) return null;
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
