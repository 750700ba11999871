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
import { HINTS, OURS, type UnsupportedFields } from '../formats/unsupported-fields.ts';
import { numberOf, recordOf, records, textOf } from '../formats/values.ts';

/** Of a chat body that passed its schema and policy. */
export function readChat(
  body: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): Conversation {
  unsupported.unknown(body, '', HINTS, READ, OURS);
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  for (const [index, message] of records(body.messages).entries()) {
    const path = `messages[${index}].`;
    switch (message.role) {
      case 'system':
      case 'developer':
        unsupported.unknown(message, path, ROLE_AND_CONTENT, HINTS);
        if (turns.length === 0) system.push(...texts(message.content, path, unsupported));
        else
          turns.push({ role: 'system', parts: texts(message.content, path, unsupported), at: `${path}role` });
        break;
      case 'assistant':
        turns.push({ role: 'assistant', parts: readAssistant(message, path, unsupported) });
        break;
      case 'tool':
        unsupported.unknown(message, path, TOOL_RESULT, HINTS);
        turns.push({
          role: 'tool',
          callId: unsupported.text(message.tool_call_id, `${path}tool_call_id`) ?? '',
          parts: readParts(message.content, path, unsupported),
          failed: false,
        });
        break;
      default:
        unsupported.unknown(message, path, ROLE_AND_CONTENT, HINTS);
        turns.push({ role: 'user', parts: readParts(message.content, path, unsupported) });
    }
  }
  return {
    system,
    turns,
    tools: records(body.tools).map((tool, index) => readTool(tool, `tools[${index}].`, unsupported)),
    toolChoice: readToolChoice(body.tool_choice, unsupported),
    parallelToolCalls: unsupported.boolean(body.parallel_tool_calls, 'parallel_tool_calls'),
    temperature: numberOf(body.temperature),
    topP: unsupported.number(body.top_p, 'top_p'),
    topK: unsupported.number(body.top_k, 'top_k'),
    stop: unsupported.texts(body.stop, 'stop'),
    reasoning: readReasoning(body, unsupported),
    answerFormat: readFormat(body.response_format, unsupported),
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
]);
const ROLE_AND_CONTENT = new Set(['role', 'content']);
const TOOL_RESULT = new Set(['role', 'content', 'tool_call_id', 'name']);

function readAssistant(
  message: Record<string, unknown>,
  path: string,
  unsupported: UnsupportedFields,
): AssistantPart[] {
  unsupported.unknown(message, path, ASSISTANT, HINTS);
  const parts: AssistantPart[] = [...readReasoningItem(message, path, unsupported)];
  parts.push(...texts(message.content, path, unsupported));
  const refusal = unsupported.text(message.refusal, `${path}refusal`);
  if (refusal !== null) parts.push({ type: 'text', text: refusal });
  for (const [index, call] of unsupported.records(message.tool_calls, `${path}tool_calls`).entries()) {
    const at = `${path}tool_calls[${index}].`;
    const named = isRecord(call.function) ? call.function : null;
    if (named === null) unsupported.add(`${at}type`);
    else unsupported.unknown(named, `${at}function.`, CALLED);
    unsupported.unknown(call, at, TOOL_CALL, HINTS);
    unsupported.text(call.type, `${at}type`);
    parts.push({
      type: 'tool_call',
      id: unsupported.text(call.id, `${at}id`) ?? '',
      name: unsupported.text(named?.name, `${at}function.name`) ?? '',
      argumentsJson: unsupported.text(named?.arguments, `${at}function.arguments`) ?? '',
    });
  }
  return parts.filter((part) => part.type !== 'text' || part.text !== '');
}

const ASSISTANT = new Set([
  'role',
  'content',
  'tool_calls',
  'refusal',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  // Of earlier answers, for people and for clients to read.
  'annotations',
  'parsed',
]);
// Numbered, where a client has put them together from a stream.
const TOOL_CALL = new Set(['id', 'type', 'function', 'index']);
const CALLED = new Set(['name', 'arguments', 'parsed_arguments']);

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
  for (const [index, detail] of details.entries()) {
    if (isForeign(detail)) continue;
    const said = (member: string) =>
      unsupported.text(detail[member], `${path}reasoning_details[${index}].${member}`) ?? '';
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
  const text = textOf(message.reasoning) || textOf(message.reasoning_content);
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
        return part.text === '' ? [] : [{ type: 'text', text: textOf(part.text) }];
      case 'refusal':
        unsupported.unknown(part, `${at}.`, REFUSAL_PART);
        return [{ type: 'text', text: unsupported.text(part.refusal, `${at}.refusal`) ?? '' }];
      case 'image_url': {
        const link = isRecord(part.image_url) ? part.image_url : { url: part.image_url };
        unsupported.unknown(part, `${at}.`, IMAGE_PART, HINTS);
        unsupported.unknown(link, `${at}.image_url.`, IMAGE_LINK);
        const detail = unsupported.text(link.detail, `${at}.image_url.detail`);
        return [{ type: 'image', url: textOf(link.url), detail, at }];
      }
      case 'file': {
        const file = isRecord(part.file) ? part.file : {};
        unsupported.unknown(part, `${at}.`, FILE_PART, HINTS);
        unsupported.unknown(file, `${at}.file.`, FILE);
        const url = textOf(file.file_url) || textOf(file.file_data);
        return [{ type: 'file', url, filename: unsupported.text(file.filename, `${at}.file.filename`), at }];
      }
      default:
        unsupported.add(`${at}.type`);
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

function texts(content: unknown, path: string, unsupported: UnsupportedFields): TextPart[] {
  return readParts(content, path, unsupported).flatMap((part) => {
    if (part.type === 'text') return [part];
    unsupported.add(`${path}content`);
    return [];
  });
}

function readTool(tool: Record<string, unknown>, path: string, unsupported: UnsupportedFields): FunctionTool {
  const named = isRecord(tool.function) ? tool.function : null;
  if (tool.type !== 'function' || named === null) unsupported.add(`${path}type`);
  unsupported.unknown(tool, path, TOOL, HINTS);
  if (named !== null) unsupported.unknown(named, `${path}function.`, FUNCTION);
  return {
    name: textOf(named?.name),
    description: unsupported.text(named?.description, `${path}function.description`),
    parameters: named?.parameters ?? null,
    strict: unsupported.boolean(named?.strict, `${path}function.strict`),
  };
}

const TOOL = new Set(['type', 'function']);
const FUNCTION = new Set(['name', 'description', 'parameters', 'strict']);

function readToolChoice(choice: unknown, unsupported: UnsupportedFields): ToolChoice | null {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  if (!isRecord(choice)) return null;
  const named = recordOf(choice.function);
  const name = textOf(named.name);
  if (choice.type !== 'function' || name === '') unsupported.add('tool_choice');
  unsupported.unknown(choice, 'tool_choice.', TOOL);
  unsupported.unknown(named, 'tool_choice.function.', NAMED);
  return { type: 'tool', name };
}

const NAMED = new Set(['name']);

function readReasoning(
  body: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): Reasoning | null {
  const given = unsupported.record(body.reasoning, 'reasoning');
  unsupported.unknown(given, 'reasoning.', CHAT_REASONING);
  const named = unsupported.text(body.reasoning_effort, 'reasoning_effort');
  const effort = unsupported.text(given.effort, 'reasoning.effort') ?? named;
  if (named !== null && named !== effort) unsupported.add('reasoning_effort');
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
    unsupported.add('response_format.type');
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
