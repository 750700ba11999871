import type {
  AnswerFormat,
  AssistantPart,
  Conversation,
  Reasoning,
  ReasoningPart,
  TextPart,
  Turn,
  UserPart,
} from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import type { Work } from '#core/steps.ts';
import { isOwnReasoning } from '../../providers/signed-reasoning.ts';
import { callSignatureOf } from '../formats/call-signature.ts';
import { LegacyCalls } from '../formats/legacy-calls.ts';
import { CHAT_REASONING } from '../formats/reasoning-words.ts';
import { HINTS, OURS, typeName, UnsupportedFields } from '../formats/unsupported-fields.ts';
import { numberOf, recordOf, records, textOf } from '../formats/values.ts';
import { reasoningInDetails, reasoningInParts, reasoningTextOf } from '../price/answer-part.ts';
import { cacheOf, markLast } from './cache-marks.ts';
import { customArguments } from './custom-tools.ts';
import { hasLegacyFunctions } from './legacy-functions.ts';
import { readChatTools } from './read-chat-tools.ts';
import { callerTool, callerToolsIn, ToolNaming } from './tool-names.ts';
import { verbosityAt } from './tool-words.ts';
import { forEachTurn } from './turns-at-once.ts';

/** Reads a chat body that passed its schema and policy. */
export function readChat(
  body: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): Work<Conversation> {
  unsupported.unknown(body, '', READ, HINTS);
  // Its price was held for so many answers.
  if ((numberOf(body.n) ?? 1) > 1) unsupported.add('n', 'more than one answer');
  const isLegacy = hasLegacyFunctions(body);
  const tools = [
    ...callerToolsIn(body.tools),
    ...records(body.functions).map(({ name }) => ({ ...callerTool(textOf(name)), isLegacy })),
  ];
  const reading: Reading = {
    system: [],
    turns: [],
    naming: new ToolNaming(tools),
    legacyCalls: new LegacyCalls(),
    unsupported,
  };
  return forEachTurn(
    records(body.messages),
    (message, index) => readMessage(message, `messages[${index}].`, reading),
    () => ({ system: reading.system, turns: reading.turns, ...readSettings(body, isLegacy, reading) }),
  );
}

/** Everything but what is said. */
function readSettings(
  body: Readonly<Record<string, unknown>>,
  isLegacy: boolean,
  { naming, unsupported }: Reading,
): Omit<Conversation, 'system' | 'turns'> {
  return {
    ...readChatTools(body, naming, unsupported),
    toolNames: naming.shown,
    // Such a caller takes one call of an answer.
    parallelToolCalls: isLegacy
      ? false
      : unsupported.boolean(body.parallel_tool_calls, 'parallel_tool_calls'),
    temperature: numberOf(body.temperature),
    topP: unsupported.number(body.top_p, 'top_p'),
    topK: unsupported.number(body.top_k, 'top_k'),
    stop: unsupported.texts(body.stop, 'stop'),
    reasoning: readReasoning(body, unsupported),
    answerFormat: readFormat(body.response_format, unsupported),
    verbosity: verbosityAt(unsupported.text(body.verbosity, 'verbosity'), 'verbosity'),
  };
}

const READ = new Set([
  ...OURS,
  'max_tokens',
  'max_completion_tokens',
  'messages',
  'tools',
  'tool_choice',
  'functions',
  'function_call',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'reasoning',
  'reasoning_effort',
  'thinking',
  'response_format',
  'verbosity',
  'n',
]);
const MESSAGE = new Set(['role', 'content', 'name']);
const TOOL_RESULT = new Set(['role', 'content', 'tool_call_id', 'name']);

interface Reading {
  system: TextPart[];
  turns: Turn[];
  naming: ToolNaming;
  legacyCalls: LegacyCalls;
  unsupported: UnsupportedFields;
}

function readMessage(message: Record<string, unknown>, path: string, reading: Reading): void {
  const { system, turns, legacyCalls, unsupported } = reading;
  switch (message.role) {
    case 'system':
    case 'developer': {
      unsupported.unknown(message, path, MESSAGE, HINTS);
      const said = markLast(texts(message, path, unsupported), cacheOf(message));
      const parts = named(said, message.name);
      if (turns.length === 0) system.push(...parts);
      else if (parts.length > 0) turns.push({ role: 'system', parts, at: `${path}role` });
      return;
    }
    case 'assistant':
      turns.push({ role: 'assistant', parts: readAssistant(message, path, reading) });
      return;
    case 'tool':
    case 'function': {
      const callId =
        message.role === 'function'
          ? legacyCalls.idOfResult(message.name)
          : unsupported.text(message.tool_call_id, `${path}tool_call_id`);
      turns.push(readResult(message, callId ?? '', path, unsupported));
      return;
    }
    default: {
      unsupported.unknown(message, path, MESSAGE, HINTS);
      const name = unsupported.text(message.name, `${path}name`) ?? '';
      const parts = markLast(readParts(message.content, path, unsupported), cacheOf(message));
      turns.push({ role: 'user', parts, ...(name === '' ? {} : { name }) });
    }
  }
}

/** An instruction of a name has it before its words, because no other format names who gives instructions. */
function named(parts: readonly TextPart[], name: unknown): readonly TextPart[] {
  const [first, ...rest] = parts;
  if (first === undefined || textOf(name) === '') return parts;
  return [{ ...first, text: `${textOf(name)}: ${first.text}` }, ...rest];
}

function readResult(
  message: Record<string, unknown>,
  callId: string,
  path: string,
  unsupported: UnsupportedFields,
): Extract<Turn, { role: 'tool' }> {
  unsupported.unknown(message, path, TOOL_RESULT, HINTS);
  return {
    role: 'tool',
    callId,
    parts: readParts(message.content, path, unsupported),
    failed: false,
    ...cacheOf(message),
  };
}

/** An earlier answer. Clients print it back with members of their own, of which none is named. */
function readAssistant(message: Record<string, unknown>, path: string, reading: Reading): AssistantPart[] {
  const history = UnsupportedFields.ofHistory();
  const parts: AssistantPart[] = [...readReasoningItem(message, path, history)];
  parts.push(...texts(message, path, history));
  const refusal = textOf(message.refusal);
  if (refusal !== '') parts.push({ type: 'text', text: refusal });
  for (const [index, call] of records(message.tool_calls).entries())
    parts.push(...readCall(call, `${path}tool_calls[${index}].`, reading));
  if (isRecord(message.function_call)) {
    const id = reading.legacyCalls.begin(message.function_call.name);
    parts.push(...readCall({ id, function: message.function_call }, `${path}function_call.`, reading));
  }
  const said = parts.filter((part) => part.type !== 'text' || part.text !== '');
  const last = said.at(-1);
  if (last === undefined || last.type === 'reasoning') return said;
  return [...said.slice(0, -1), ...markLast([last], cacheOf(message))];
}

function readCall(
  call: Record<string, unknown>,
  path: string,
  { naming, unsupported }: Reading,
): AssistantPart[] {
  const id = unsupported.text(call.id, `${path}id`) ?? '';
  const custom = isRecord(call.custom) ? call.custom : null;
  if (custom !== null) {
    const argumentsJson = customArguments(textOf(custom.input));
    const name = naming.nameOf({ ...callerTool(textOf(custom.name)), isCustom: true });
    return [{ type: 'tool_call', id, name, argumentsJson, ...cacheOf(call) }];
  }
  const { name: given, arguments: json } = recordOf(call.function);
  const argumentsJson = isRecord(json) ? JSON.stringify(json) : textOf(json);
  const name = naming.nameOf(callerTool(textOf(given)));
  const part: AssistantPart = { type: 'tool_call', id, name, argumentsJson, ...cacheOf(call) };
  const signature = callSignatureOf(call);
  return signature === ''
    ? [part]
    : [{ type: 'reasoning', text: '', signature: null, encrypted: null, callSignature: signature }, part];
}

/**
 * `reasoning_details` has what the provider signed; the text beside it says the same for people. Of a stream it is in
 * pieces, the signature last.
 */
function readReasoningItem(
  message: Record<string, unknown>,
  path: string,
  unsupported: UnsupportedFields,
): ReasoningPart[] {
  const parts: ReasoningPart[] = [];
  let open: ReasoningPart | null = null;
  const details = unsupported.records(message.reasoning_details, `${path}reasoning_details`);
  for (const detail of details) {
    if (isForeign(detail)) continue;
    const said = (member: string): string => textOf(detail[member]);
    if (detail.type === 'reasoning.encrypted') {
      parts.push({ type: 'reasoning', text: '', signature: null, encrypted: said('data') });
      open = null;
      continue;
    }
    if (open === null) {
      open = { type: 'reasoning', text: '', signature: null, encrypted: null };
      parts.push(open);
    }
    open.text += said('text') || said('summary');
    open.signature = said('signature') || null;
    if (open.signature !== null) open = null;
  }
  if (parts.length > 0) return parts;
  const text =
    reasoningTextOf(message) ||
    (details.length > 0 ? '' : reasoningInDetails(message)) ||
    reasoningInParts(message.content);
  return text === '' ? [] : [{ type: 'reasoning', text, signature: null, encrypted: null }];
}

/** Whether another vendor's model wrote the reasoning: the provider would refuse it as not its own. */
const isForeign = ({ format }: Record<string, unknown>): boolean =>
  typeof format === 'string' && !isOwnReasoning(format);

function readParts(content: unknown, path: string, unsupported: UnsupportedFields): UserPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return records(content).flatMap((part, index): UserPart[] => {
    const at = `${path}content[${index}]`;
    switch (part.type) {
      case 'text':
        unsupported.unknown(part, `${at}.`, TEXT_PART, HINTS);
        return part.text === '' ? [] : [{ type: 'text', text: textOf(part.text), ...cacheOf(part) }];
      // The way of some vendors' answers, which come back in the next request.
      case 'thinking':
      case 'redacted_thinking':
      case 'reasoning':
        return [];
      case 'refusal':
        unsupported.unknown(part, `${at}.`, REFUSAL_PART, HINTS);
        return [{ type: 'text', text: unsupported.text(part.refusal, `${at}.refusal`) ?? '' }];
      case 'image_url': {
        const link = isRecord(part.image_url) ? part.image_url : { url: part.image_url };
        unsupported.unknown(part, `${at}.`, IMAGE_PART, HINTS);
        unsupported.unknown(link, `${at}.image_url.`, IMAGE_LINK);
        const detail = unsupported.text(link.detail, `${at}.image_url.detail`);
        return [{ type: 'image', url: textOf(link.url), detail, at, ...cacheOf(part) }];
      }
      case 'file': {
        const file = isRecord(part.file) ? part.file : {};
        unsupported.unknown(part, `${at}.`, FILE_PART, HINTS);
        unsupported.unknown(file, `${at}.file.`, FILE);
        const url = textOf(file.file_url) || textOf(file.file_data);
        const filename = unsupported.text(file.filename, `${at}.file.filename`);
        return [{ type: 'file', url, filename, at, ...cacheOf(part) }];
      }
      default:
        unsupported.add(`${at}.type`, `a part of the type ${typeName(part.type)}`);
        return [];
    }
  });
}

const TEXT_PART = new Set(['type', 'text']);
const REFUSAL_PART = new Set(['type', 'refusal']);
const IMAGE_PART = new Set(['type', 'image_url']);
const IMAGE_LINK = new Set(['url', 'detail']);
const FILE_PART = new Set(['type', 'file']);
const FILE = new Set(['file_url', 'file_data', 'filename']);

function texts(
  message: Readonly<Record<string, unknown>>,
  path: string,
  unsupported: UnsupportedFields,
): TextPart[] {
  return readParts(message.content, path, unsupported).flatMap((part): TextPart[] => {
    if (part.type === 'text') return [part];
    unsupported.add(`${path}content`, 'an image or file in a message of this role');
    return [];
  });
}

function readReasoning(
  body: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): Reasoning | null {
  const given = unsupported.record(body.reasoning, 'reasoning');
  unsupported.unknown(given, 'reasoning.', CHAT_REASONING);
  const named = unsupported.text(body.reasoning_effort, 'reasoning_effort');
  const effort = unsupported.text(given.effort, 'reasoning.effort') ?? named;
  if (named !== null && named !== effort) unsupported.leaveOut('reasoning_effort');
  const budgetTokens = unsupported.number(given.max_tokens, 'reasoning.max_tokens');
  const enabled = unsupported.boolean(given.enabled, 'reasoning.enabled');
  // What is left out of the answer is left out by us.
  unsupported.boolean(given.exclude, 'reasoning.exclude');
  const own = { enabled: enabled !== false && effort !== 'none', effort, budgetTokens };
  const says = effort !== null || budgetTokens !== null || enabled !== null;
  return readThinking(body.thinking, says ? own : null, unsupported);
}

/** The words of the messages format, which clients send to its models in a chat, too. The chat's own words count before them. */
function readThinking(
  value: unknown,
  own: Reasoning | null,
  unsupported: UnsupportedFields,
): Reasoning | null {
  const given = unsupported.record(value, 'thinking');
  unsupported.unknown(given, 'thinking.', THINKING);
  const type = unsupported.text(given.type, 'thinking.type');
  const budgetTokens = unsupported.number(given.budget_tokens, 'thinking.budget_tokens');
  if (type === null && budgetTokens === null) return own;
  if (type !== null && !THINKING_TYPES.has(type)) unsupported.leaveOut('thinking.type');
  const enabled = type !== 'disabled';
  if (own === null) return { enabled, effort: null, budgetTokens };
  if (own.enabled !== enabled) unsupported.leaveOut('thinking.type');
  if (budgetTokens === null) return own;
  if (own.enabled && own.budgetTokens === null) return { ...own, budgetTokens };
  unsupported.leaveOut('thinking.budget_tokens');
  return own;
}

// `display` does not change the reasoning itself.
const THINKING = new Set(['type', 'budget_tokens', 'display']);
const THINKING_TYPES = new Set(['enabled', 'adaptive', 'disabled', 'auto']);

function readFormat(format: unknown, unsupported: UnsupportedFields): AnswerFormat | null {
  if (!isRecord(format)) return null;
  unsupported.unknown(format, 'response_format.', FORMAT);
  if (format.type === 'text') return null;
  if (format.type === 'json_object') return { type: 'json_object', at: 'response_format' };
  const schema = isRecord(format.json_schema) ? format.json_schema : null;
  if (format.type !== 'json_schema' || schema === null) {
    unsupported.leaveOut('response_format');
    return null;
  }
  unsupported.unknown(schema, 'response_format.json_schema.', SCHEMA);
  return {
    type: 'json_schema',
    at: 'response_format',
    name: unsupported.text(schema.name, 'response_format.json_schema.name') || 'answer',
    description: unsupported.text(schema.description, 'response_format.json_schema.description'),
    schema: schema.schema ?? {},
    strict: unsupported.boolean(schema.strict, 'response_format.json_schema.strict'),
  };
}

const FORMAT = new Set(['type', 'json_schema']);
const SCHEMA = new Set(['name', 'description', 'schema', 'strict']);
