import type { Dialect } from '#core/catalog/dialect.ts';
import { isRecord } from '#core/is-record.ts';
import { CUT_CALL_CHARS_MAX, CUT_CALLS_READ_MAX } from '#core/limits.ts';
import { LegacyCalls } from './legacy-calls.ts';
import { parseableArguments } from './tool-input.ts';
import { mapRecords, textOf } from './values.ts';

/*
 * Earlier calls of a chat, as one server takes them. Servers parse the arguments of earlier calls, and refuse the whole chat for one that a
 * limit has cut (ollama/ollama, `openai.go`: "invalid tool call arguments"); and some know calls of tools alone.
 */

type Message = Readonly<Record<string, unknown>>;

interface FittedCalls {
  /** The same list where the server takes it as it is. */
  messages: readonly unknown[];
  /** How much longer the conversation is now, at the most. */
  addedBytes: number;
}

export function fitCalls(
  messages: readonly unknown[],
  { answerMembers }: Pick<Dialect, 'answerMembers'>,
): FittedCalls {
  const legacy = answerMembers === null || answerMembers.has('function_call') ? null : new LegacyCalls();
  let addedBytes = 0;
  let cutCalls = 0;
  const wholeText = (json: string): string => {
    if (isWholeText(json)) return json;
    // To read the text of all of them would hold up other calls, and one that is left empty can be parsed.
    if (++cutCalls > CUT_CALLS_READ_MAX || json.length > CUT_CALL_CHARS_MAX) return NO_ARGUMENTS;
    const whole = parseableArguments(json);
    addedBytes += Math.max(0, bytesOf(whole) - bytesOf(json));
    return whole;
  };
  const fitted = mapRecords(messages, (message) => {
    const own = legacy === null ? message : withTools(message, legacy);
    if (own !== message) addedBytes += TOOL_BYTES;
    return withArguments(own, wholeText);
  });
  return { messages: fitted, addedBytes };
}

const NO_ARGUMENTS = '{}';

/**
 * Text that ends as an object or a list does passes unread: a limit that cuts behind one inside another is rare, and to read all arguments
 * of a long conversation in each call takes time.
 */
function isWholeText(json: string): boolean {
  const last = json.trimEnd().at(-1);
  return last === '}' || last === ']';
}

const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text));

function withArguments(message: Message, wholeText: (json: string) => string): Message {
  if (message.role !== 'assistant' || !Array.isArray(message.tool_calls)) return message;
  const calls = mapRecords(message.tool_calls, (call) => {
    const { function: called } = call;
    if (!isRecord(called) || typeof called.arguments !== 'string') return call;
    const json = wholeText(called.arguments);
    return json === called.arguments ? call : { ...call, function: { ...called, arguments: json } };
  });
  return calls === message.tool_calls ? message : { ...message, tool_calls: calls };
}

/** The bytes that the names of a tool's call take beside those of the call that it stands for, at the most. */
const TOOL_BYTES = 200;

/** A call, or its result, in the way that chats had before tools. */
function withTools(message: Message, legacy: LegacyCalls): Message {
  const { function_call: called, name, ...rest } = message;
  const named = name === undefined ? {} : { name };
  if (message.role === 'function')
    return { ...rest, role: 'tool', tool_call_id: legacy.idOfResult(name), ...named };
  if (message.role !== 'assistant' || !isRecord(called)) return message;
  const call = { id: legacy.begin(textOf(called.name)), type: 'function', function: called };
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  return { ...rest, ...named, tool_calls: [...calls, call] };
}
