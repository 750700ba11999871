import { isRecord } from '#core/is-record.ts';
import { parseExact } from '../json/exact-json.ts';
import { argumentsIn, wholeArguments } from '../price/call-arguments.ts';
import { CallIds } from './call-ids.ts';
import { records, textOf } from './values.ts';

/*
 * The items of a whole response as every client can read them. Clients parse the arguments of a call, name its result by `call_id`, find
 * an item by its id, and go through the parts of a message, all without asking what is there.
 */

type Members = Record<string, unknown>;

/** Whether clients can read the items as they came, as those of most servers. */
export function areItemsReadable(output: unknown): boolean {
  if (!Array.isArray(output)) return false;
  const ids = new CallIds();
  return output.filter(isRecord).every((item) => {
    const isNamed = textOf(item.id) !== '' && (!isCall(item.type) || ids.keeps(textOf(item.call_id)));
    return isNamed && Object.keys(readableMembers(item)).length === 0;
  });
}

/**
 * @param json The items, whose numbers keep their digits. A server may write one item, or a text, in the place of a list.
 * @param answerId For ids of items and calls that their server gives none.
 */
export const readableItems = (json: string, answerId: string): string =>
  JSON.stringify(itemsIn(json, answerId));

/** The same, parsed. */
export function itemsIn(json: string, answerId: string): Members[] {
  const output = parseExact(json);
  const ids = new CallIds();
  const items =
    typeof output === 'string' ? [messageOf(output)] : isRecord(output) ? [output] : records(output);
  return items.map((item, place) => {
    const id = textOf(item.id) || madeItemId(item.type, answerId, place);
    const called = isCall(item.type)
      ? { call_id: ids.idOf(textOf(item.call_id) || textOf(item.id), answerId, place) }
      : {};
    return { ...item, id, ...called, ...readableMembers(item) };
  });
}

const messageOf = (text: string): Members => ({
  ...{ type: 'message', role: 'assistant', status: 'completed' },
  content: text,
});

/** A call whose result the caller sends back under its id. */
export const isCall = (type: unknown): boolean => type === 'function_call' || type === 'custom_tool_call';

/** An item's id begins by its type: servers that are sent it back ask for that. */
export const madeItemId = (type: unknown, answerId: string, place: number): string =>
  `${PREFIXES.get(type) ?? 'item'}_${answerId}_${place}`;

const PREFIXES: ReadonlyMap<unknown, string> = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['custom_tool_call', 'ctc'],
]);

/** The members of a whole item that its server wrote otherwise than OpenAI, as OpenAI writes them. */
export function readableMembers(item: Readonly<Members>): Members {
  switch (item.type) {
    case 'message':
      return {
        ...(textOf(item.role) === '' ? { role: 'assistant' } : {}),
        ...readableList(item, 'content', 'output_text'),
      };
    case 'reasoning': {
      const content = (item.content ?? null) === null ? {} : readableList(item, 'content', 'reasoning_text');
      return { ...readableList(item, 'summary', 'summary_text'), ...content };
    }
    case 'function_call': {
      const json = wholeArguments(item.arguments);
      return json === item.arguments ? {} : { arguments: json };
    }
    case 'custom_tool_call':
      return typeof item.input === 'string' ? {} : { input: argumentsIn(item.input) };
    default:
      return {};
  }
}

/** A list of parts; some servers write a text or one part in its place, or a text in the place of a part. */
function readableList(item: Readonly<Members>, name: 'content' | 'summary', type: string): Members {
  const value = item[name] ?? [];
  const parts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const readable = parts.map((part) => readablePart(part, type));
  const isSame = value === item[name] && parts === value && readable.every((part, at) => part === parts[at]);
  return isSame ? {} : { [name]: readable };
}

function readablePart(part: unknown, type: string): unknown {
  if (!isRecord(part)) return typeof part === 'string' ? partOf(type, part) : part;
  const isText = part.type === type || part.type === 'text' || part.type === undefined;
  if (!isText || typeof part.text !== 'string') return part;
  const isCited = type !== 'output_text' || Array.isArray(part.annotations);
  return part.type === type && isCited
    ? part
    : { ...partOf(type, part.text), ...part, type, ...(isCited ? {} : { annotations: [] }) };
}

const partOf = (type: string, text: string): Members =>
  type === 'output_text' ? { type, text, annotations: [] } : { type, text };
