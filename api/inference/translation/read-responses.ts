import { isRecord } from '#core/is-record.ts';
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
import { type Gaps, HINTS, OURS } from './gaps.ts';
import { booleanOf, numberOf, recordOf, records, textOf, textOrNull } from './values.ts';

/** Of a responses body that passed its schema and policy. */
export function readResponses(body: Readonly<Record<string, unknown>>, gaps: Gaps): Conversation {
  gaps.unknown(body, '', HINTS, READ, OURS);
  const system: TextPart[] =
    textOf(body.instructions) === '' ? [] : [{ type: 'text', text: textOf(body.instructions) }];
  const turns: Turn[] = [];
  const items =
    typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : records(body.input);
  for (const [index, item] of items.entries()) readItem(item, `input[${index}].`, { system, turns, gaps });
  const text = recordOf(body.text);
  gaps.unknown(text, 'text.', TEXT);
  return {
    system,
    turns,
    tools: records(body.tools).map((tool, index) => readTool(tool, `tools[${index}].`, gaps)),
    toolChoice: readToolChoice(body.tool_choice, gaps),
    parallelToolCalls: booleanOf(body.parallel_tool_calls),
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    topK: numberOf(body.top_k),
    stop: [],
    reasoning: readReasoning(body.reasoning, gaps),
    answerFormat: readFormat(text.format, gaps),
  };
}

const READ = new Set([
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  // Bounds the steps of server tools, of which a translated call has none.
  'max_tool_calls',
  'temperature',
  'top_p',
  'top_k',
  'reasoning',
  'text',
]);
const TEXT = new Set(['format']);

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
      answerOf(turns).push(...readThought(item));
      return;
    case 'function_call':
      answerOf(turns).push({
        type: 'tool_call',
        id: textOf(item.call_id),
        name: textOf(item.name),
        argumentsJson: textOf(item.arguments),
      });
      return;
    case 'function_call_output':
      turns.push({
        role: 'tool',
        callId: textOf(item.call_id),
        parts: readParts(item.output, `${path}output`, gaps),
        failed: item.status === 'incomplete',
      });
      return;
    default:
      gaps.add(`${path}type`);
  }
}

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
      if (turns.length > 0) gaps.add(`${path}role`);
      system.push(...texts());
      return;
    default:
      turns.push({ role: 'user', parts });
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

/** `encrypted_content` is what a translated answer put there: its signature, or thought that nobody can read. */
function readThought(item: Record<string, unknown>): AssistantPart[] {
  const text = [...records(item.summary), ...records(item.content)].map((part) => textOf(part.text)).join('');
  const kept = textOrNull(item.encrypted_content);
  if (text === '' && kept === null) return [];
  return text === ''
    ? [{ type: 'reasoning', text, signature: null, encrypted: kept }]
    : [{ type: 'reasoning', text, signature: kept, encrypted: null }];
}

function readParts(content: unknown, path: string, gaps: Gaps): UserPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return records(content).flatMap((part, index): UserPart[] => {
    switch (part.type) {
      case 'input_text':
      case 'output_text':
      case 'text':
        return part.text === '' ? [] : [{ type: 'text', text: textOf(part.text) }];
      case 'refusal':
        return [{ type: 'text', text: textOf(part.refusal) }];
      case 'input_image': {
        const url = isRecord(part.image_url) ? part.image_url.url : part.image_url;
        return [{ type: 'image', url: textOf(url), detail: textOrNull(part.detail) }];
      }
      case 'input_file':
        return [{ type: 'file', url: textOf(part.file_url), filename: textOrNull(part.filename) }];
      default:
        gaps.add(`${path}[${index}].type`);
        return [];
    }
  });
}

function readTool(tool: Record<string, unknown>, path: string, gaps: Gaps): FunctionTool {
  if (tool.type !== 'function') gaps.add(`${path}type`);
  gaps.unknown(tool, path, TOOL, HINTS);
  return {
    name: textOf(tool.name),
    description: textOrNull(tool.description),
    parameters: tool.parameters ?? null,
    strict: booleanOf(tool.strict),
  };
}

const TOOL = new Set(['type', 'name', 'description', 'parameters', 'strict']);

function readToolChoice(choice: unknown, gaps: Gaps): ToolChoice | null {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice };
  if (!isRecord(choice)) return null;
  if (choice.type !== 'function') gaps.add('tool_choice');
  return { type: 'tool', name: textOf(choice.name) };
}

function readReasoning(value: unknown, gaps: Gaps): Reasoning | null {
  if (!isRecord(value)) return null;
  gaps.unknown(value, 'reasoning.', REASONING);
  const effort = textOrNull(value.effort);
  const budgetTokens = numberOf(value.max_tokens);
  if (effort === null && budgetTokens === null && value.enabled === undefined) return null;
  return { enabled: value.enabled !== false && effort !== 'none', effort, budgetTokens };
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
  if (!isRecord(format) || format.type === 'text') return null;
  if (format.type === 'json_object') return { type: 'json_object' };
  if (format.type !== 'json_schema') {
    gaps.add('text.format');
    return null;
  }
  const { name, schema, strict } = format;
  return {
    type: 'json_schema',
    name: textOf(name) || 'answer',
    schema: schema ?? {},
    strict: booleanOf(strict),
  };
}
