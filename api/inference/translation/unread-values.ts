import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { type JsonObject, memberBytes } from '../json-object.ts';
import type { NumberMarks } from '../number-marks.ts';

/**
 * A caller's body in which the values that a translation passes on unread have marked numbers: the schemas of tools and
 * answers, and the input that tools were called with. No other number reaches the provider digit by digit. The rest of the body is
 * not searched for numbers, because a caller's metadata alone may hold 100,000.
 */
export function withMarkedNumbers(
  object: JsonObject,
  value: Readonly<Record<string, unknown>>,
  format: FormatName,
  marks: NumberMarks,
): Readonly<Record<string, unknown>> {
  let body = value;
  for (const [member, ...path] of UNREAD[format]) {
    const bytes = member === undefined ? undefined : memberBytes(object, member);
    const marked = bytes === undefined ? null : marks.parse(bytes);
    if (member === undefined || marked === null) continue;
    body = { ...body, [member]: graft(body[member], marked.value, path) };
  }
  return body;
}

const EACH = '*';

/** `EACH` stands for every entry of a list. */
const UNREAD: Readonly<Record<FormatName, readonly (readonly string[])[]>> = {
  'chat/completions': [
    ['tools', EACH, 'function', 'parameters'],
    ['response_format', 'json_schema', 'schema'],
  ],
  responses: [
    ['tools', EACH, 'parameters'],
    ['text', 'format', 'schema'],
  ],
  messages: [
    ['tools', EACH, 'input_schema'],
    ['output_config', 'format', 'schema'],
    ['messages', EACH, 'content', EACH, 'input'],
  ],
};

/** `value` with what `marked`, the same value with marks, has at the path. */
function graft(value: unknown, marked: unknown, [name, ...path]: readonly string[]): unknown {
  if (name === undefined) return marked;
  if (name === EACH) {
    if (!Array.isArray(value) || !Array.isArray(marked)) return value;
    return value.map((entry, index) => graft(entry, marked[index], path));
  }
  if (!isRecord(value) || !isRecord(marked) || !Object.hasOwn(value, name)) return value;
  return { ...value, [name]: graft(value[name], marked[name], path) };
}
