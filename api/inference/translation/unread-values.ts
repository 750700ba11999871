import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import type { Steps, Work } from '#core/steps.ts';
import { type JsonObject, memberBytes } from '../json/json-object.ts';
import type { NumberMarks } from '../json/number-marks.ts';

/**
 * A caller's body in which the values that a translation passes on unread have marked numbers: the schemas of tools and
 * answers, and the input that tools were called with. No other number reaches the provider digit by digit. The rest of the body is
 * not searched for numbers, because a caller's metadata alone may hold hundreds of thousands.
 */
export function withMarkedNumbers(
  object: JsonObject,
  value: Members,
  format: FormatName,
  marks: NumberMarks,
): Work<Members> {
  const unread: Unread[] = [];
  for (const { member, paths, holds } of UNREAD[format]) {
    const bytes = memberBytes(object, member);
    if (bytes !== undefined && (holds === undefined || bytes.includes(holds)))
      unread.push({ member, paths, bytes });
  }
  return unread.length === 0 ? value : marked(unread, value, marks);
}

type Members = Readonly<Record<string, unknown>>;

interface Unread extends Pick<UnreadMember, 'member' | 'paths'> {
  bytes: Buffer;
}

function* marked(unread: readonly Unread[], value: Members, marks: NumberMarks): Steps<Members> {
  let body = value;
  for (const { member, paths, bytes } of unread) {
    const read = yield* marks.parseInSteps(bytes);
    if (read === null) continue;
    yield 'parse numbers';
    for (const path of paths) body = { ...body, [member]: graft(body[member], read.value, path) };
  }
  return body;
}

/** The same of a provider's answer or event, whose one such place is `path`. */
export function withMarkedNumbersAt(
  bytes: Buffer,
  value: Readonly<Record<string, unknown>>,
  path: readonly string[],
  marks: NumberMarks,
): Readonly<Record<string, unknown>> {
  const marked = marks.parse(bytes);
  const grafted = marked === null ? value : graft(value, marked.value, path);
  return isRecord(grafted) ? grafted : value;
}

export const EACH = '*';

interface UnreadMember {
  member: string;
  /** `EACH` stands for every entry of a list. */
  paths: readonly (readonly string[])[];
  /** Every value in which the paths lead anywhere has this text; missing: the value is always read. */
  holds?: Buffer;
}

const TOOLS = [
  [EACH, 'parameters'],
  [EACH, 'tools', EACH, 'parameters'],
];

const UNREAD: Readonly<Record<FormatName, readonly UnreadMember[]>> = {
  chat: [
    { member: 'tools', paths: [[EACH, 'function', 'parameters']] },
    { member: 'functions', paths: [[EACH, 'parameters']] },
    { member: 'response_format', paths: [['json_schema', 'schema']] },
  ],
  responses: [
    { member: 'tools', paths: TOOLS },
    { member: 'input', paths: TOOLS.map((path) => [EACH, 'tools', ...path]), holds: Buffer.from('"tools"') },
    {
      member: 'input',
      paths: ['operation', 'action', 'actions'].map((name) => [EACH, name]),
      holds: Buffer.from('_call"'),
    },
    { member: 'input', paths: [[EACH, 'arguments']], holds: Buffer.from('"tool_search_call"') },
    { member: 'text', paths: [['format', 'schema']] },
  ],
  messages: [
    {
      member: 'tools',
      paths: [
        [EACH, 'input_schema'],
        [EACH, 'input_examples'],
      ],
    },
    { member: 'output_config', paths: [['format', 'schema']] },
    { member: 'output_format', paths: [['schema']] },
    {
      member: 'messages',
      paths: [
        [EACH, 'content', EACH, 'input'],
        [EACH, 'content', EACH, 'tool', 'definition', 'input_schema'],
      ],
      holds: Buffer.from('"input'),
    },
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
