import type { Dialect } from '#core/catalog/dialect.ts';
import { isRecord } from '#core/is-record.ts';
import { reasoningInDetails, reasoningInParts, reasoningTextOf } from '../price/answer-part.ts';
import { fitCallId } from './call-id-rules.ts';
import { signedPartOf, thinkingPartOf } from './signed-reasoning.ts';
import { mapRecords, recordOf, records, textOf } from './values.ts';

/*
 * Earlier answers of a chat, as one server takes them. Clients and gateways write members of many vendors into them, and strict
 * servers refuse the whole call for one that they do not know. None of these asks for anything, so they are left out without
 * a word.
 */

type Message = Readonly<Record<string, unknown>>;
type HistoryDialect = Pick<
  Dialect,
  | 'answerMembers'
  | 'answerParts'
  | 'reasoningMember'
  | 'signsCalls'
  | 'takesReasoningDetails'
  | 'takesThinkingParts'
  | 'callIds'
>;

/** @returns The same list where the server takes it as it is. */
export const fitAnswers = (messages: readonly unknown[], dialect: HistoryDialect): readonly unknown[] =>
  mapRecords(messages, (message) =>
    message.role === 'tool' ? fitResult(message, dialect) : fitAnswer(message, dialect),
  );

/** A result names its call by the id that the call is sent with. */
function fitResult(message: Message, { callIds }: HistoryDialect): Message {
  const id = message.tool_call_id;
  if (typeof id !== 'string') return message;
  const fitted = fitCallId(id, callIds.chat ?? null);
  return fitted === id ? message : { ...message, tool_call_id: fitted };
}

function fitAnswer(message: Message, dialect: HistoryDialect): Message {
  const { answerMembers, reasoningMember } = dialect;
  if (message.role !== 'assistant') return message;
  if (answerMembers === null) return dialect.takesReasoningDetails ? withSignedParts(message) : message;
  const fitted: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(message)) {
    if (name === 'content') fitted.content = fitContent(value, dialect);
    else if (name === 'tool_calls') {
      const calls = fitCalls(value, dialect);
      if (calls !== null) fitted.tool_calls = calls;
    } else if (isTaken(name, dialect) && value !== null) fitted[name] = value;
  }
  // A server that takes no empty list takes no answer of nothing either.
  if (fitted.content === null && message.content !== null && fitted.tool_calls === undefined)
    fitted.content = '';
  const refusal = textOf(message.refusal);
  if (refusal !== '' && !answerMembers.has('refusal') && isEmpty(fitted.content)) fitted.content = refusal;
  if (reasoningMember !== null && textOf(fitted[reasoningMember]) === '') {
    const reasoning = reasoningOf(message);
    if (reasoning !== '') fitted[reasoningMember] = reasoning;
  }
  if (dialect.takesThinkingParts && !hasThinkingPart(fitted.content)) {
    const reasoning = reasoningOf(message);
    if (reasoning !== '') fitted.content = [thinkingPartOf(reasoning), ...partsOf(fitted.content)];
  }
  return isSame(fitted, message) ? message : fitted;
}

/** The content is then as the server wrote it. */
const hasThinkingPart = (content: unknown): boolean =>
  records(content).some(({ type }) => type === 'thinking');

/** The content as a list of parts. A text becomes one part, and an empty one becomes none. */
function partsOf(content: unknown): readonly unknown[] {
  if (Array.isArray(content)) return content;
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
}

/** Some servers sign the parts of their content, which clients cannot read, and take the signature back there alone. */
function withSignedParts(message: Message): Message {
  const { reasoning_details: given, reasoning, content, ...rest } = message;
  const isOfPart = ({ format }: Message): boolean => signedPartOf(format, NOTHING_SIGNED) !== null;
  const details = records(given).filter(isOfPart);
  if (details.length === 0) return message;
  const others = records(given).filter((detail) => !isOfPart(detail));
  const parts = details.flatMap(({ format, text, summary, signature, data }) => {
    // The text of a stream comes in pieces, of which the last one is signed.
    const own = textOf(text) || textOf(summary);
    const signed = { signature: textOf(signature), encrypted: typeof data === 'string' ? data : null };
    return (
      signedPartOf(format, { text: details.length === 1 ? textOf(reasoning) || own : own, ...signed }) ?? []
    );
  });
  return {
    ...rest,
    content: [...parts, ...partsOf(content)],
    ...(others.length === 0 ? {} : { reasoning_details: others }),
  };
}

const NOTHING_SIGNED = { text: '', signature: null, encrypted: null };

const isTaken = (name: string, { answerMembers, reasoningMember, signsCalls }: HistoryDialect): boolean =>
  answerMembers?.has(name) === true || name === reasoningMember || (signsCalls && name === SIGNED);

/** The place of what one vendor signs. No other vendor is shown it. */
const SIGNED = 'extra_content';

const isEmpty = (content: unknown): boolean => (content ?? '') === '';

const isSame = (one: Message, other: Message): boolean => {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
};

function fitContent(content: unknown, dialect: HistoryDialect): unknown {
  if (!Array.isArray(content)) return content;
  const taken = content.filter((part) => !isRecord(part) || isPartTaken(part, dialect));
  const fitted = mapRecords(taken.length === content.length ? content : taken, (part) =>
    fitPart(part, dialect),
  );
  return fitted.length === 0 ? null : fitted;
}

/** The way of some vendors' answers. */
const VENDOR_PARTS: ReadonlySet<unknown> = new Set([
  'thinking',
  'redacted_thinking',
  'reasoning',
  'reference',
  'tool_reference',
]);

/** The thinking of Claude is a text, and that of the one vendor which takes such a part back is a list. */
const isPartTaken = ({ type, thinking }: Message, { answerParts }: HistoryDialect): boolean =>
  !VENDOR_PARTS.has(type) ||
  (typeof type === 'string' && answerParts.has(type) && typeof thinking !== 'string');

function fitPart(part: Message, { answerParts }: HistoryDialect): Message {
  if (part.type === 'refusal' && !answerParts.has('refusal'))
    return { type: 'text', text: textOf(part.refusal) };
  if (part.type !== 'text' || Object.keys(part).length === TEXT_MEMBERS) return part;
  return { type: 'text', text: part.text };
}

const TEXT_MEMBERS = 2;

/** `null`: there are none, and servers refuse an empty list. */
function fitCalls(calls: unknown, dialect: HistoryDialect): unknown {
  if (!Array.isArray(calls)) return calls;
  return calls.length === 0 ? null : mapRecords(calls, (call) => fitCall(call, dialect));
}

function fitCall(call: Message, { signsCalls, callIds }: HistoryDialect): Message {
  const fitted: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(call)) {
    if (name === 'function' && isRecord(value)) fitted.function = fitFunction(value);
    else if (name === 'id' && typeof value === 'string') fitted.id = fitCallId(value, callIds.chat ?? null);
    else if (CALL_MEMBERS.has(name) || (signsCalls && name === SIGNED)) fitted[name] = value;
  }
  return isSame(fitted, call) ? call : fitted;
}

const CALL_MEMBERS: ReadonlySet<string> = new Set(['id', 'type', 'function', 'custom']);
const FUNCTION_MEMBERS: ReadonlySet<string> = new Set(['name', 'arguments']);

function fitFunction(called: Message): Message {
  const entries = Object.entries(called).filter(([name]) => FUNCTION_MEMBERS.has(name));
  return entries.length === Object.keys(called).length ? called : Object.fromEntries(entries);
}

/** The reasoning of an earlier answer, in whichever member its vendor has it. */
const reasoningOf = (message: Message): string =>
  reasoningTextOf(message) || reasoningInDetails(message) || reasoningInParts(message.content);

const MARK = 'cache_control';

/** The places at which a list of messages or tools has marks for a cache, but for those in earlier answers. */
export function cacheMarksIn(list: unknown, path: string): string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((each, index) => {
    if (!isRecord(each) || each.role === 'assistant') return [];
    const at = `${path}[${index}]`;
    const own = MARK in each ? [`${at}.${MARK}`] : [];
    const named = MARK in recordOf(each.function) ? [`${at}.function.${MARK}`] : [];
    return [...own, ...named, ...cacheMarksIn(each.content, `${at}.content`)];
  });
}

/** The same list without these marks. */
export function withoutCacheMarks(list: unknown): unknown {
  if (!Array.isArray(list)) return list;
  return mapRecords(list, (each) => {
    const { content, function: named } = each;
    const inside = Array.isArray(content) ? withoutCacheMarks(content) : content;
    const plain = isRecord(named) && MARK in named ? withoutMark(named) : named;
    if (inside === content && plain === named && !(MARK in each)) return each;
    const changed = { ...each, ...(inside === content ? {} : { content: inside }) };
    return withoutMark(plain === named ? changed : { ...changed, function: plain });
  });
}

function withoutMark(value: Message): Message {
  const { [MARK]: _, ...rest } = value;
  return rest;
}
