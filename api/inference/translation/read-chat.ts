import type {
  AnswerFormat,
  AssistantPart,
  Conversation,
  FunctionTool,
  Reasoning,
  ReasoningPart,
  TextPart,
  ToolChoice,
  Turn,
  UserPart,
} from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import { isOwnReasoning } from '../../providers/signed-reasoning.ts';
import { CHAT_REASONING } from '../formats/reasoning-words.ts';
import { HINTS, OURS, typeName, UnsupportedFields } from '../formats/unsupported-fields.ts';
import { numberOf, recordOf, records, textOf } from '../formats/values.ts';
import { cacheOf, markLast } from './cache-marks.ts';
import { callSignatureOf } from '../formats/call-signature.ts';
import { verbosityAt } from './tool-words.ts';
import { CUSTOM_PARAMETERS, customArguments, customDescription } from './tool-names.ts';

/** Of a chat body that passed its schema and policy. */
export function readChat(
  body: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): Conversation {
  unsupported.unknown(body, '', HINTS, READ, OURS);
  // Its price was held for so many answers.
  if ((numberOf(body.n) ?? 1) > 1) unsupported.add('n', 'more than one answer');
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  for (const [index, message] of records(body.messages).entries()) {
    const path = `messages[${index}].`;
    switch (message.role) {
      case 'system':
      case 'developer': {
        unsupported.unknown(message, path, MESSAGE, HINTS);
        const parts = texts(message, path, unsupported);
        if (turns.length === 0) system.push(...parts);
        else turns.push({ role: 'system', parts, at: `${path}role` });
        break;
      }
      case 'assistant':
        turns.push({ role: 'assistant', parts: readAssistant(message, path, unsupported) });
        break;
      case 'tool':
        turns.push(readResult(message, path, unsupported));
        break;
      default: {
        unsupported.unknown(message, path, MESSAGE, HINTS);
        const name = unsupported.text(message.name, `${path}name`) ?? '';
        const parts = markLast(readParts(message.content, path, unsupported), cacheOf(message));
        turns.push({ role: 'user', parts, ...(name === '' ? {} : { name }) });
      }
    }
  }
  return {
    system,
    turns,
    ...readTools(body, unsupported),
    parallelToolCalls: unsupported.boolean(body.parallel_tool_calls, 'parallel_tool_calls'),
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
  'max_tokens',
  'max_completion_tokens',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'reasoning',
  'reasoning_effort',
  'response_format',
  'verbosity',
  'n',
]);
const MESSAGE = new Set(['role', 'content', 'name']);
const TOOL_RESULT = new Set(['role', 'content', 'tool_call_id', 'name']);

function readResult(
  message: Record<string, unknown>,
  path: string,
  unsupported: UnsupportedFields,
): Extract<Turn, { role: 'tool' }> {
  unsupported.unknown(message, path, TOOL_RESULT, HINTS);
  return {
    role: 'tool',
    callId: unsupported.text(message.tool_call_id, `${path}tool_call_id`) ?? '',
    parts: readParts(message.content, path, unsupported),
    failed: false,
    ...cacheOf(message),
  };
}

/** An earlier answer. Clients print it back with members of their own, of which none is named. */
function readAssistant(
  message: Record<string, unknown>,
  path: string,
  unsupported: UnsupportedFields,
): AssistantPart[] {
  const history = UnsupportedFields.ofHistory();
  const parts: AssistantPart[] = [...readReasoningItem(message, path, history)];
  parts.push(...texts(message, path, history));
  const refusal = textOf(message.refusal);
  if (refusal !== '') parts.push({ type: 'text', text: refusal });
  for (const [index, call] of records(message.tool_calls).entries())
    parts.push(...readCall(call, `${path}tool_calls[${index}].`, unsupported));
  return parts.filter((part) => part.type !== 'text' || part.text !== '');
}

function readCall(
  call: Record<string, unknown>,
  path: string,
  unsupported: UnsupportedFields,
): AssistantPart[] {
  const id = unsupported.text(call.id, `${path}id`) ?? '';
  const custom = isRecord(call.custom) ? call.custom : null;
  if (custom !== null) {
    const argumentsJson = customArguments(textOf(custom.input));
    return [{ type: 'tool_call', id, name: textOf(custom.name), argumentsJson, ...cacheOf(call) }];
  }
  const { name, arguments: json } = recordOf(call.function);
  const argumentsJson = isRecord(json) ? JSON.stringify(json) : textOf(json);
  const part: AssistantPart = {
    type: 'tool_call',
    id,
    name: textOf(name),
    argumentsJson,
    ...cacheOf(call),
  };
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
  const text = textOf(message.reasoning) || textOf(message.reasoning_content) || thinkingIn(message.content);
  return text === '' ? [] : [{ type: 'reasoning', text, signature: null, encrypted: null }];
}

/** The reasoning in a list of parts, as one vendor's answers have it. */
function thinkingIn(content: unknown): string {
  const thoughts = records(content).filter(({ type }) => type === 'thinking');
  return thoughts
    .map(({ thinking }) => textOf(thinking) || records(thinking).map(({ text }) => textOf(text)).join(''))
    .join('');
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
      // The way of one vendor's answers, which come back in the next request.
      case 'thinking':
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
  const parts = readParts(message.content, path, unsupported).flatMap((part): TextPart[] => {
    if (part.type === 'text') return [part];
    unsupported.add(`${path}content`, 'an image or file in a message of this role');
    return [];
  });
  return [...markLast(parts, cacheOf(message))];
}

/** The tools that may be called, and which of them has to be: a choice that allows some leaves the others out. */
function readTools(
  body: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): Pick<Conversation, 'tools' | 'toolChoice'> {
  const tools = records(body.tools).map((tool, index) => readTool(tool, `tools[${index}].`, unsupported));
  const choice = body.tool_choice;
  if (!isRecord(choice) || choice.type !== 'allowed_tools')
    return { tools, toolChoice: readToolChoice(choice, unsupported) };
  const { mode, tools: allowed } = recordOf(choice.allowed_tools);
  const names = new Set(records(allowed).map(nameOfTool));
  return {
    tools: tools.filter(({ name }) => names.has(name)),
    toolChoice: { type: mode === 'required' ? 'required' : 'auto' },
  };
}

/** The name of a tool, or of one that a choice names. */
const nameOfTool = (tool: Readonly<Record<string, unknown>>): string =>
  textOf(recordOf(tool[textOf(tool.type)]).name);

function readTool(tool: Record<string, unknown>, path: string, unsupported: UnsupportedFields): FunctionTool {
  unsupported.unknown(tool, path, TOOL, HINTS);
  const cached = cacheOf(tool);
  if (isRecord(tool.custom)) {
    const description = unsupported.text(tool.custom.description, `${path}custom.description`);
    return {
      name: textOf(tool.custom.name),
      description: customDescription(description, tool.custom.format),
      parameters: CUSTOM_PARAMETERS,
      strict: null,
      ...cached,
    };
  }
  const named = isRecord(tool.function) ? tool.function : null;
  if (tool.type !== 'function' || named === null)
    unsupported.add(`${path}type`, `a tool of the type ${typeName(tool.type)}`);
  if (named !== null) unsupported.unknown(named, `${path}function.`, FUNCTION, HINTS);
  return {
    name: textOf(named?.name),
    description: unsupported.text(named?.description, `${path}function.description`),
    parameters: named?.parameters ?? null,
    strict: unsupported.boolean(named?.strict, `${path}function.strict`),
    ...(cached.cache === undefined && named !== null ? cacheOf(named) : cached),
  };
}

const TOOL = new Set(['type', 'function', 'custom']);
const FUNCTION = new Set(['name', 'description', 'parameters', 'strict']);

function readToolChoice(choice: unknown, unsupported: UnsupportedFields): ToolChoice | null {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  if (!isRecord(choice)) return null;
  unsupported.unknown(choice, 'tool_choice.', CHOICE);
  const kind = textOf(choice.type);
  unsupported.unknown(recordOf(choice[kind]), `tool_choice.${kind}.`, CHOSEN);
  const name = nameOfTool(choice);
  if (name === '') unsupported.add('tool_choice', 'a choice that names no tool');
  return { type: 'tool', name };
}

const CHOICE = new Set(['type', 'function', 'custom']);
const CHOSEN = new Set(['name']);

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
  if (effort === null && budgetTokens === null && enabled === null) return null;
  return { enabled: enabled !== false && effort !== 'none', effort, budgetTokens };
}

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
    name: unsupported.text(schema.name, 'response_format.json_schema.name') || 'answer',
    description: unsupported.text(schema.description, 'response_format.json_schema.description'),
    schema: schema.schema ?? {},
    strict: unsupported.boolean(schema.strict, 'response_format.json_schema.strict'),
  };
}

const FORMAT = new Set(['type', 'json_schema']);
const SCHEMA = new Set(['name', 'description', 'schema', 'strict']);
