import { isRecord } from '#core/is-record.ts';
import { type Gaps, HINTS, OURS } from '../formats/gaps.ts';
import { numberOf, recordOf, records, textOf } from '../formats/values.ts';
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
} from './conversation.ts';
import { readKeptThought } from './kept-thought.ts';

/** Of a responses body that passed its schema and policy. */
export function readResponses(body: Readonly<Record<string, unknown>>, gaps: Gaps): Conversation {
  gaps.unknown(body, '', HINTS, READ, OURS);
  const system: TextPart[] =
    textOf(body.instructions) === '' ? [] : [{ type: 'text', text: textOf(body.instructions) }];
  const turns: Turn[] = [];
  const items =
    typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : records(body.input);
  for (const [index, item] of items.entries()) readItem(item, `input[${index}].`, { system, turns, gaps });
  const text = gaps.record(body.text, 'text');
  gaps.unknown(text, 'text.', TEXT);
  refuseIncluded(body.include, gaps);
  return {
    system,
    turns,
    tools: records(body.tools).map((tool, index) => readTool(tool, `tools[${index}].`, gaps)),
    toolChoice: readToolChoice(body.tool_choice, gaps),
    parallelToolCalls: gaps.boolean(body.parallel_tool_calls, 'parallel_tool_calls'),
    temperature: numberOf(body.temperature),
    topP: gaps.number(body.top_p, 'top_p'),
    topK: gaps.number(body.top_k, 'top_k'),
    stop: [],
    reasoning: readReasoning(body.reasoning, gaps),
    answerFormat: readFormat(text.format, gaps),
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

/** Signed thought is always shown, and of tools of a provider's own a translated call has none. */
function refuseIncluded(include: unknown, gaps: Gaps): void {
  for (const [index, name] of gaps.texts(include, 'include').entries()) {
    if (name !== 'reasoning.encrypted_content' && !/_call(_output)?\./.test(name))
      gaps.add(`include[${index}]`);
  }
}

interface Reading {
  system: TextPart[];
  turns: Turn[];
  gaps: Gaps;
}

function readItem(item: Record<string, unknown>, path: string, { system, turns, gaps }: Reading): void {
  switch (item.type) {
    case undefined:
    case null:
    case 'message':
      readMessage(item, path, { system, turns, gaps });
      return;
    case 'reasoning':
      gaps.unknown(item, path, REASONING_ITEM, HINTS);
      answerOf(turns).push(...readThought(item, path, gaps));
      return;
    case 'function_call':
      gaps.unknown(item, path, CALL, HINTS);
      answerOf(turns).push({
        type: 'tool_call',
        id: gaps.text(item.call_id, `${path}call_id`) ?? '',
        name: gaps.text(item.name, `${path}name`) ?? '',
        argumentsJson: gaps.text(item.arguments, `${path}arguments`) ?? '',
      });
      return;
    case 'function_call_output':
      gaps.unknown(item, path, CALL_OUTPUT, HINTS);
      turns.push({
        role: 'tool',
        callId: gaps.text(item.call_id, `${path}call_id`) ?? '',
        parts: readParts(item.output, `${path}output`, gaps),
        failed: item.status === 'incomplete',
      });
      return;
    default:
      gaps.add(`${path}type`);
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

function readMessage(item: Record<string, unknown>, path: string, { system, turns, gaps }: Reading): void {
  gaps.unknown(item, path, MESSAGE, HINTS);
  const parts = readParts(item.content, `${path}content`, gaps);
  const texts = (): TextPart[] => {
    if (parts.some((part) => part.type !== 'text')) gaps.add(`${path}content`);
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
      gaps.add(`${path}role`);
  }
}

const MESSAGE = new Set(['type', 'id', 'role', 'content', 'status', 'phase']);

/** Thought, text and calls of one answer are items of their own here, and one message in every other format. */
function answerOf(turns: Turn[]): AssistantPart[] {
  const last = turns.at(-1);
  if (last?.role === 'assistant') return last.parts;
  const parts: AssistantPart[] = [];
  turns.push({ role: 'assistant', parts });
  return parts;
}

function readThought(item: Record<string, unknown>, path: string, gaps: Gaps): AssistantPart[] {
  const text = ['summary', 'content']
    .flatMap((list) =>
      gaps
        .records(item[list], path + list)
        .map((part, index) => gaps.text(part.text, `${path}${list}[${index}].text`) ?? ''),
    )
    .join('');
  const kept = gaps.text(item.encrypted_content, `${path}encrypted_content`) ?? '';
  const { signature, encrypted } = readKeptThought(kept);
  if (text === '' && signature === null && encrypted === null) return [];
  return [{ type: 'reasoning', text, signature, encrypted }];
}

function readParts(content: unknown, path: string, gaps: Gaps): UserPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return gaps.records(content, path).flatMap((part, index): UserPart[] => {
    const at = `${path}[${index}]`;
    switch (part.type) {
      case 'input_text':
      case 'output_text':
      case 'text':
        gaps.unknown(part, `${at}.`, TEXT_PART, HINTS);
        return part.text === '' ? [] : [{ type: 'text', text: gaps.text(part.text, `${at}.text`) ?? '' }];
      case 'refusal':
        gaps.unknown(part, `${at}.`, REFUSAL_PART, HINTS);
        return [{ type: 'text', text: gaps.text(part.refusal, `${at}.refusal`) ?? '' }];
      case 'input_image': {
        gaps.unknown(part, `${at}.`, IMAGE_PART, HINTS);
        const url = isRecord(part.image_url) ? part.image_url.url : part.image_url;
        return [{ type: 'image', url: textOf(url), detail: gaps.text(part.detail, `${at}.detail`), at }];
      }
      case 'input_file':
        gaps.unknown(part, `${at}.`, FILE_PART, HINTS);
        return [
          {
            type: 'file',
            url: textOf(part.file_url),
            filename: gaps.text(part.filename, `${at}.filename`),
            at,
          },
        ];
      default:
        gaps.add(`${at}.type`);
        return [];
    }
  });
}

// What an earlier answer had beside its text is for people to read.
const TEXT_PART = new Set(['type', 'text', 'annotations', 'logprobs', 'parsed']);
const REFUSAL_PART = new Set(['type', 'refusal']);
const IMAGE_PART = new Set(['type', 'image_url', 'detail']);
const FILE_PART = new Set(['type', 'file_url', 'filename', 'detail']);

function readTool(tool: Record<string, unknown>, path: string, gaps: Gaps): FunctionTool {
  if (tool.type !== 'function') gaps.add(`${path}type`);
  gaps.unknown(tool, path, TOOL, HINTS);
  return {
    name: textOf(tool.name),
    description: gaps.text(tool.description, `${path}description`),
    parameters: tool.parameters ?? null,
    strict: gaps.boolean(tool.strict, `${path}strict`),
  };
}

const TOOL = new Set(['type', 'name', 'description', 'parameters', 'strict']);

function readToolChoice(choice: unknown, gaps: Gaps): ToolChoice | null {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  if (choice === undefined || choice === null) return null;
  if (!isRecord(choice) || choice.type !== 'function') {
    gaps.add('tool_choice');
    return null;
  }
  gaps.unknown(choice, 'tool_choice.', CHOICE);
  const name = textOf(choice.name);
  if (name === '') gaps.add('tool_choice.name');
  return { type: 'tool', name };
}

const CHOICE = new Set(['type', 'name']);

function readReasoning(value: unknown, gaps: Gaps): Reasoning | null {
  const given = gaps.record(value, 'reasoning');
  gaps.unknown(given, 'reasoning.', REASONING);
  const effort = gaps.text(given.effort, 'reasoning.effort');
  const budgetTokens = gaps.number(given.max_tokens, 'reasoning.max_tokens');
  const enabled = gaps.boolean(given.enabled, 'reasoning.enabled');
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

function readFormat(format: unknown, gaps: Gaps): AnswerFormat | null {
  if (format === undefined || format === null) return null;
  const { type, name, description, schema, strict } = recordOf(format);
  gaps.unknown(recordOf(format), 'text.format.', FORMAT);
  if (type === 'text') return null;
  if (type === 'json_object') return { type, at: 'text.format' };
  if (type !== 'json_schema') {
    gaps.add('text.format');
    return null;
  }
  return {
    type,
    name: gaps.text(name, 'text.format.name') || 'answer',
    description: gaps.text(description, 'text.format.description'),
    schema: schema ?? {},
    strict: gaps.boolean(strict, 'text.format.strict'),
  };
}

const FORMAT = new Set(['type', 'name', 'description', 'schema', 'strict']);
