import type {
  AnswerFormat,
  AssistantPart,
  Conversation,
  FunctionTool,
  Reasoning,
  TextPart,
  ToolChoice,
  Turn,
  UserPart,
} from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import { HINTS, OURS, type UnsupportedFields } from '../formats/unsupported-fields.ts';
import { numberOf, recordOf, records, textOf } from '../formats/values.ts';
import { readSignedReasoning } from './signed-reasoning.ts';

/** Of a responses body that passed its schema and policy. */
export function readResponses(
  body: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): Conversation {
  unsupported.unknown(body, '', HINTS, READ, OURS);
  const system: TextPart[] =
    textOf(body.instructions) === '' ? [] : [{ type: 'text', text: textOf(body.instructions) }];
  const turns: Turn[] = [];
  const items =
    typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : records(body.input);
  for (const [index, item] of items.entries())
    readItem(item, `input[${index}].`, { system, turns, unsupported });
  const text = unsupported.record(body.text, 'text');
  unsupported.unknown(text, 'text.', TEXT);
  refuseIncluded(body.include, unsupported);
  return {
    system,
    turns,
    tools: records(body.tools).map((tool, index) => readTool(tool, `tools[${index}].`, unsupported)),
    toolChoice: readToolChoice(body.tool_choice, unsupported),
    parallelToolCalls: unsupported.boolean(body.parallel_tool_calls, 'parallel_tool_calls'),
    temperature: numberOf(body.temperature),
    topP: unsupported.number(body.top_p, 'top_p'),
    topK: unsupported.number(body.top_k, 'top_k'),
    stop: [],
    reasoning: readReasoning(body.reasoning, unsupported),
    answerFormat: readFormat(text.format, unsupported),
  };
}

const READ = new Set([
  'max_output_tokens',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'top_k',
  'reasoning',
  'text',
]);
const TEXT = new Set(['format']);

/** Signed reasoning is always shown, and a translated call has no tools of the provider's own. */
function refuseIncluded(include: unknown, unsupported: UnsupportedFields): void {
  for (const [index, name] of unsupported.texts(include, 'include').entries()) {
    if (name !== 'reasoning.encrypted_content' && !/_call(_output)?\./.test(name))
      unsupported.add(`include[${index}]`);
  }
}

interface Reading {
  system: TextPart[];
  turns: Turn[];
  unsupported: UnsupportedFields;
}

function readItem(
  item: Record<string, unknown>,
  path: string,
  { system, turns, unsupported }: Reading,
): void {
  switch (item.type) {
    case undefined:
    case null:
    case 'message':
      readMessage(item, path, { system, turns, unsupported });
      return;
    case 'reasoning':
      unsupported.unknown(item, path, REASONING_ITEM, HINTS);
      answerOf(turns).push(...readReasoningItem(item, path, unsupported));
      return;
    case 'function_call':
      unsupported.unknown(item, path, CALL, HINTS);
      answerOf(turns).push({
        type: 'tool_call',
        id: unsupported.text(item.call_id, `${path}call_id`) ?? '',
        name: unsupported.text(item.name, `${path}name`) ?? '',
        argumentsJson: unsupported.text(item.arguments, `${path}arguments`) ?? '',
      });
      return;
    case 'function_call_output':
      unsupported.unknown(item, path, CALL_OUTPUT, HINTS);
      turns.push({
        role: 'tool',
        callId: unsupported.text(item.call_id, `${path}call_id`) ?? '',
        parts: readParts(item.output, `${path}output`, unsupported),
        failed: item.status === 'incomplete',
      });
      return;
    default:
      unsupported.add(`${path}type`);
  }
}

const REASONING_ITEM = new Set([
  'type',
  'id',
  'summary',
  'content',
  'encrypted_content',
  'status',
  'format',
  'signature',
]);
// What the official client has read from the text, and sends back beside it.
const CALL = new Set(['type', 'id', 'call_id', 'name', 'arguments', 'parsed_arguments', 'status']);
const CALL_OUTPUT = new Set(['type', 'id', 'call_id', 'output', 'status']);

function readMessage(
  item: Record<string, unknown>,
  path: string,
  { system, turns, unsupported }: Reading,
): void {
  unsupported.unknown(item, path, MESSAGE, HINTS);
  const parts = readParts(item.content, `${path}content`, unsupported);
  const texts = (): TextPart[] => {
    if (parts.some((part) => part.type !== 'text')) unsupported.add(`${path}content`);
    return parts.filter((part) => part.type === 'text');
  };
  switch (item.role) {
    case 'assistant':
      answerOf(turns).push(...texts());
      return;
    case 'system':
    case 'developer':
      if (turns.length === 0) system.push(...texts());
      else turns.push({ role: 'system', parts: texts(), at: `${path}role` });
      return;
    case 'user':
      turns.push({ role: 'user', parts });
      return;
    default:
      unsupported.add(`${path}role`);
  }
}

const MESSAGE = new Set(['type', 'id', 'role', 'content', 'status', 'phase']);

/** Reasoning, text and calls of one answer are items of their own here, and one message in every other format. */
function answerOf(turns: Turn[]): AssistantPart[] {
  const last = turns.at(-1);
  if (last?.role === 'assistant') return last.parts;
  const parts: AssistantPart[] = [];
  turns.push({ role: 'assistant', parts });
  return parts;
}

function readReasoningItem(
  item: Record<string, unknown>,
  path: string,
  unsupported: UnsupportedFields,
): AssistantPart[] {
  const text = ['summary', 'content']
    .flatMap((list) =>
      unsupported
        .records(item[list], path + list)
        .map((part, index) => unsupported.text(part.text, `${path}${list}[${index}].text`) ?? ''),
    )
    .join('');
  const kept = unsupported.text(item.encrypted_content, `${path}encrypted_content`) ?? '';
  const { signature, encrypted } = readSignedReasoning(kept);
  if (text === '' && signature === null && encrypted === null) return [];
  return [{ type: 'reasoning', text, signature, encrypted }];
}

function readParts(content: unknown, path: string, unsupported: UnsupportedFields): UserPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return unsupported.records(content, path).flatMap((part, index): UserPart[] => {
    const at = `${path}[${index}]`;
    switch (part.type) {
      case 'input_text':
      case 'output_text':
      case 'text':
        unsupported.unknown(part, `${at}.`, TEXT_PART, HINTS);
        return part.text === ''
          ? []
          : [{ type: 'text', text: unsupported.text(part.text, `${at}.text`) ?? '' }];
      case 'refusal':
        unsupported.unknown(part, `${at}.`, REFUSAL_PART, HINTS);
        return [{ type: 'text', text: unsupported.text(part.refusal, `${at}.refusal`) ?? '' }];
      case 'input_image': {
        unsupported.unknown(part, `${at}.`, IMAGE_PART, HINTS);
        const url = isRecord(part.image_url) ? part.image_url.url : part.image_url;
        return [
          { type: 'image', url: textOf(url), detail: unsupported.text(part.detail, `${at}.detail`), at },
        ];
      }
      case 'input_file':
        unsupported.unknown(part, `${at}.`, FILE_PART, HINTS);
        return [
          {
            type: 'file',
            url: textOf(part.file_url),
            filename: unsupported.text(part.filename, `${at}.filename`),
            at,
          },
        ];
      default:
        unsupported.add(`${at}.type`);
        return [];
    }
  });
}

// What an earlier answer had beside its text is for people to read.
const TEXT_PART = new Set(['type', 'text', 'annotations', 'logprobs', 'parsed']);
const REFUSAL_PART = new Set(['type', 'refusal']);
const IMAGE_PART = new Set(['type', 'image_url', 'detail']);
const FILE_PART = new Set(['type', 'file_url', 'filename', 'detail']);

function readTool(tool: Record<string, unknown>, path: string, unsupported: UnsupportedFields): FunctionTool {
  if (tool.type !== 'function') unsupported.add(`${path}type`);
  unsupported.unknown(tool, path, TOOL, HINTS);
  return {
    name: textOf(tool.name),
    description: unsupported.text(tool.description, `${path}description`),
    parameters: tool.parameters ?? null,
    strict: unsupported.boolean(tool.strict, `${path}strict`),
  };
}

const TOOL = new Set(['type', 'name', 'description', 'parameters', 'strict']);

function readToolChoice(choice: unknown, unsupported: UnsupportedFields): ToolChoice | null {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  if (choice === undefined || choice === null) return null;
  if (!isRecord(choice) || choice.type !== 'function') {
    unsupported.add('tool_choice');
    return null;
  }
  unsupported.unknown(choice, 'tool_choice.', CHOICE);
  const name = textOf(choice.name);
  if (name === '') unsupported.add('tool_choice.name');
  return { type: 'tool', name };
}

const CHOICE = new Set(['type', 'name']);

function readReasoning(value: unknown, unsupported: UnsupportedFields): Reasoning | null {
  const given = unsupported.record(value, 'reasoning');
  unsupported.unknown(given, 'reasoning.', REASONING);
  const effort = unsupported.text(given.effort, 'reasoning.effort');
  const budgetTokens = unsupported.number(given.max_tokens, 'reasoning.max_tokens');
  const enabled = unsupported.boolean(given.enabled, 'reasoning.enabled');
  if (effort === null && budgetTokens === null && enabled === null) return null;
  return { enabled: enabled !== false && effort !== 'none', effort, budgetTokens };
}

const REASONING = new Set([
  'effort',
  'summary',
  'generate_summary',
  'max_tokens',
  'enabled',
  'mode',
  'context',
]);

function readFormat(format: unknown, unsupported: UnsupportedFields): AnswerFormat | null {
  if (format === undefined || format === null) return null;
  const { type, name, description, schema, strict } = recordOf(format);
  unsupported.unknown(recordOf(format), 'text.format.', FORMAT);
  if (type === 'text') return null;
  if (type === 'json_object') return { type, at: 'text.format' };
  if (type !== 'json_schema') {
    unsupported.add('text.format');
    return null;
  }
  return {
    type,
    name: unsupported.text(name, 'text.format.name') || 'answer',
    description: unsupported.text(description, 'text.format.description'),
    schema: schema ?? {},
    strict: unsupported.boolean(strict, 'text.format.strict'),
  };
}

const FORMAT = new Set(['type', 'name', 'description', 'schema', 'strict']);
