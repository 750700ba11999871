import { isRecord } from '#core/is-record.ts';
import { type Gaps, HINTS, OURS } from '../formats/gaps.ts';
import { CHAT_REASONING } from '../formats/reasoning-words.ts';
import { numberOf, recordOf, records, textOf } from '../formats/values.ts';
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
} from './conversation.ts';

/** Of a chat body that passed its schema and policy. */
export function readChat(body: Readonly<Record<string, unknown>>, gaps: Gaps): Conversation {
  gaps.unknown(body, '', HINTS, READ, OURS);
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  for (const [index, message] of records(body.messages).entries()) {
    const path = `messages[${index}].`;
    switch (message.role) {
      case 'system':
      case 'developer':
        gaps.unknown(message, path, ROLE_AND_CONTENT, HINTS);
        if (turns.length === 0) system.push(...texts(message.content, path, gaps));
        else turns.push({ role: 'system', parts: texts(message.content, path, gaps), at: `${path}role` });
        break;
      case 'assistant':
        turns.push({ role: 'assistant', parts: readAssistant(message, path, gaps) });
        break;
      case 'tool':
        gaps.unknown(message, path, TOOL_RESULT, HINTS);
        turns.push({
          role: 'tool',
          callId: gaps.text(message.tool_call_id, `${path}tool_call_id`) ?? '',
          parts: readParts(message.content, path, gaps),
          failed: false,
        });
        break;
      default:
        gaps.unknown(message, path, ROLE_AND_CONTENT, HINTS);
        turns.push({ role: 'user', parts: readParts(message.content, path, gaps) });
    }
  }
  return {
    system,
    turns,
    tools: records(body.tools).map((tool, index) => readTool(tool, `tools[${index}].`, gaps)),
    toolChoice: readToolChoice(body.tool_choice, gaps),
    parallelToolCalls: gaps.boolean(body.parallel_tool_calls, 'parallel_tool_calls'),
    temperature: numberOf(body.temperature),
    topP: gaps.number(body.top_p, 'top_p'),
    topK: gaps.number(body.top_k, 'top_k'),
    stop: gaps.texts(body.stop, 'stop'),
    reasoning: readReasoning(body, gaps),
    answerFormat: readFormat(body.response_format, gaps),
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

function readAssistant(message: Record<string, unknown>, path: string, gaps: Gaps): AssistantPart[] {
  gaps.unknown(message, path, ASSISTANT, HINTS);
  const parts: AssistantPart[] = [...readThought(message, path, gaps)];
  parts.push(...texts(message.content, path, gaps));
  const refusal = gaps.text(message.refusal, `${path}refusal`);
  if (refusal !== null) parts.push({ type: 'text', text: refusal });
  for (const [index, call] of gaps.records(message.tool_calls, `${path}tool_calls`).entries()) {
    const at = `${path}tool_calls[${index}].`;
    const named = isRecord(call.function) ? call.function : null;
    if (named === null) gaps.add(`${at}type`);
    else gaps.unknown(named, `${at}function.`, CALLED);
    gaps.unknown(call, at, TOOL_CALL, HINTS);
    gaps.text(call.type, `${at}type`);
    parts.push({
      type: 'tool_call',
      id: gaps.text(call.id, `${at}id`) ?? '',
      name: gaps.text(named?.name, `${at}function.name`) ?? '',
      argumentsJson: gaps.text(named?.arguments, `${at}function.arguments`) ?? '',
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
function readThought(message: Record<string, unknown>, path: string, gaps: Gaps): ReasoningPart[] {
  const parts: ReasoningPart[] = [];
  let open: ReasoningPart | null = null;
  const details = gaps.records(message.reasoning_details, `${path}reasoning_details`);
  for (const [index, detail] of details.entries()) {
    if (isForeign(detail)) continue;
    const said = (member: string) =>
      gaps.text(detail[member], `${path}reasoning_details[${index}].${member}`) ?? '';
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

/** Thought of an answer that another vendor's model gave: the provider would refuse it as not its own. */
const isForeign = ({ format }: Record<string, unknown>): boolean =>
  typeof format === 'string' && !format.startsWith('anthropic');

function readParts(content: unknown, path: string, gaps: Gaps): UserPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return records(content).flatMap((part, index): UserPart[] => {
    const at = `${path}content[${index}]`;
    switch (part.type) {
      case 'text':
        gaps.unknown(part, `${at}.`, TEXT_PART, HINTS);
        return part.text === '' ? [] : [{ type: 'text', text: textOf(part.text) }];
      case 'refusal':
        gaps.unknown(part, `${at}.`, REFUSAL_PART);
        return [{ type: 'text', text: gaps.text(part.refusal, `${at}.refusal`) ?? '' }];
      case 'image_url': {
        const link = isRecord(part.image_url) ? part.image_url : { url: part.image_url };
        gaps.unknown(part, `${at}.`, IMAGE_PART, HINTS);
        gaps.unknown(link, `${at}.image_url.`, IMAGE_LINK);
        const detail = gaps.text(link.detail, `${at}.image_url.detail`);
        return [{ type: 'image', url: textOf(link.url), detail, at }];
      }
      case 'file': {
        const file = isRecord(part.file) ? part.file : {};
        gaps.unknown(part, `${at}.`, FILE_PART, HINTS);
        gaps.unknown(file, `${at}.file.`, FILE);
        const url = textOf(file.file_url) || textOf(file.file_data);
        return [{ type: 'file', url, filename: gaps.text(file.filename, `${at}.file.filename`), at }];
      }
      default:
        gaps.add(`${at}.type`);
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

function texts(content: unknown, path: string, gaps: Gaps): TextPart[] {
  return readParts(content, path, gaps).flatMap((part) => {
    if (part.type === 'text') return [part];
    gaps.add(`${path}content`);
    return [];
  });
}

function readTool(tool: Record<string, unknown>, path: string, gaps: Gaps): FunctionTool {
  const named = isRecord(tool.function) ? tool.function : null;
  if (tool.type !== 'function' || named === null) gaps.add(`${path}type`);
  gaps.unknown(tool, path, TOOL, HINTS);
  if (named !== null) gaps.unknown(named, `${path}function.`, FUNCTION);
  return {
    name: textOf(named?.name),
    description: gaps.text(named?.description, `${path}function.description`),
    parameters: named?.parameters ?? null,
    strict: gaps.boolean(named?.strict, `${path}function.strict`),
  };
}

const TOOL = new Set(['type', 'function']);
const FUNCTION = new Set(['name', 'description', 'parameters', 'strict']);

function readToolChoice(choice: unknown, gaps: Gaps): ToolChoice | null {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  if (!isRecord(choice)) return null;
  const named = recordOf(choice.function);
  const name = textOf(named.name);
  if (choice.type !== 'function' || name === '') gaps.add('tool_choice');
  gaps.unknown(choice, 'tool_choice.', TOOL);
  gaps.unknown(named, 'tool_choice.function.', NAMED);
  return { type: 'tool', name };
}

const NAMED = new Set(['name']);

function readReasoning(body: Readonly<Record<string, unknown>>, gaps: Gaps): Reasoning | null {
  const given = gaps.record(body.reasoning, 'reasoning');
  gaps.unknown(given, 'reasoning.', CHAT_REASONING);
  const named = gaps.text(body.reasoning_effort, 'reasoning_effort');
  const effort = gaps.text(given.effort, 'reasoning.effort') ?? named;
  if (named !== null && named !== effort) gaps.add('reasoning_effort');
  const budgetTokens = gaps.number(given.max_tokens, 'reasoning.max_tokens');
  const enabled = gaps.boolean(given.enabled, 'reasoning.enabled');
  // What is left out of the answer is left out by us.
  gaps.boolean(given.exclude, 'reasoning.exclude');
  if (effort === null && budgetTokens === null && enabled === null) return null;
  return { enabled: enabled !== false && effort !== 'none', effort, budgetTokens };
}

function readFormat(format: unknown, gaps: Gaps): AnswerFormat | null {
  if (!isRecord(format)) return null;
  gaps.unknown(format, 'response_format.', FORMAT);
  if (format.type === 'text') return null;
  if (format.type === 'json_object') return { type: 'json_object', at: 'response_format' };
  const schema = isRecord(format.json_schema) ? format.json_schema : null;
  if (format.type !== 'json_schema' || schema === null) {
    gaps.add('response_format.type');
    return null;
  }
  gaps.unknown(schema, 'response_format.json_schema.', SCHEMA);
  return {
    type: 'json_schema',
    name: gaps.text(schema.name, 'response_format.json_schema.name') || 'answer',
    description: gaps.text(schema.description, 'response_format.json_schema.description'),
    schema: schema.schema ?? {},
    strict: gaps.boolean(schema.strict, 'response_format.json_schema.strict'),
  };
}

const FORMAT = new Set(['type', 'json_schema']);
const SCHEMA = new Set(['name', 'description', 'schema', 'strict']);
