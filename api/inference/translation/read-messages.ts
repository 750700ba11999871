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

/** Of a messages body that passed its schema and policy. */
export function readMessages(body: Readonly<Record<string, unknown>>, gaps: Gaps): Conversation {
  gaps.unknown(body, '', HINTS, READ, OURS);
  const system = readTexts(body.system, 'system', gaps);
  const turns: Turn[] = [];
  for (const [index, message] of records(body.messages).entries()) {
    const path = `messages[${index}].`;
    gaps.unknown(message, path, MESSAGE, HINTS);
    const blocks = blocksOf(message.content, `${path}content`, gaps);
    if (message.role === 'assistant') turns.push(readAssistant(blocks, `${path}content`, gaps));
    else if (message.role === 'system') {
      const parts = readTexts(message.content, `${path}content`, gaps);
      if (turns.length === 0) system.push(...parts);
      else turns.push({ role: 'system', parts, at: `${path}role` });
    } else turns.push(...readUser(blocks, `${path}content`, gaps));
  }
  refusePrefill(body.messages, gaps);
  const choice = gaps.record(body.tool_choice, 'tool_choice');
  const one = gaps.boolean(choice.disable_parallel_tool_use, 'tool_choice.disable_parallel_tool_use');
  return {
    system,
    turns,
    tools: records(body.tools).map((tool, index) => readTool(tool, `tools[${index}].`, gaps)),
    toolChoice: readToolChoice(choice, gaps),
    parallelToolCalls: one === true ? false : null,
    temperature: numberOf(body.temperature),
    topP: gaps.number(body.top_p, 'top_p'),
    topK: gaps.number(body.top_k, 'top_k'),
    stop: gaps.texts(body.stop_sequences, 'stop_sequences'),
    reasoning: readReasoning(body, gaps),
    answerFormat: readFormat(recordOf(body.output_config).format, gaps),
  };
}

const READ = new Set([
  'max_tokens',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'thinking',
  'output_config',
]);
const MESSAGE = new Set(['role', 'content']);

/** The provider would go on with such an answer; all others begin a new one. */
function refusePrefill(messages: unknown, gaps: Gaps): void {
  const all = records(messages);
  if (all.at(-1)?.role !== 'assistant') return;
  gaps.add(`messages[${all.length - 1}].role`, 'an answer that has begun');
}

const blocksOf = (content: unknown, path: string, gaps: Gaps): Record<string, unknown>[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : gaps.records(content, path);

function readTexts(content: unknown, path: string, gaps: Gaps): TextPart[] {
  return readParts(content, path, gaps).flatMap((part) => {
    if (part.type === 'text') return [part];
    gaps.add(path);
    return [];
  });
}

/** Results of tools stand in a user's message; in every other format each is one of its own, before the user's words. */
function readUser(blocks: readonly Record<string, unknown>[], path: string, gaps: Gaps): Turn[] {
  const turns: Turn[] = [];
  const parts: UserPart[] = [];
  for (const [index, block] of blocks.entries()) {
    if (block.type !== 'tool_result') {
      parts.push(...readPart(block, `${path}[${index}]`, gaps));
      continue;
    }
    const at = `${path}[${index}].`;
    gaps.unknown(block, at, TOOL_RESULT, HINTS);
    turns.push({
      role: 'tool',
      callId: gaps.text(block.tool_use_id, `${at}tool_use_id`) ?? '',
      parts: readParts(block.content, `${at}content`, gaps),
      failed: gaps.boolean(block.is_error, `${at}is_error`) === true,
    });
  }
  if (parts.length > 0 || turns.length === 0) turns.push({ role: 'user', parts });
  return turns;
}

const TOOL_RESULT = new Set(['type', 'tool_use_id', 'content', 'is_error']);

const readParts = (content: unknown, path: string, gaps: Gaps): UserPart[] =>
  blocksOf(content, path, gaps).flatMap((block, index) => readPart(block, `${path}[${index}]`, gaps));

function readPart(block: Record<string, unknown>, at: string, gaps: Gaps): UserPart[] {
  switch (block.type) {
    case 'text':
      return readText(block, at, gaps);
    case 'image':
      gaps.unknown(block, `${at}.`, IMAGE, HINTS);
      gaps.unknown(recordOf(block.source), `${at}.source.`, LINK);
      return [{ type: 'image', url: textOf(recordOf(block.source).url), detail: null, at }];
    case 'document':
      return readDocument(block, at, gaps);
    default:
      gaps.add(`${at}.type`);
      return [];
  }
}

const IMAGE = new Set(['type', 'source']);
const LINK = new Set(['type', 'url']);

function readText(block: Record<string, unknown>, at: string, gaps: Gaps): TextPart[] {
  gaps.unknown(block, `${at}.`, TEXT, HINTS);
  return block.text === '' ? [] : [{ type: 'text', text: gaps.text(block.text, `${at}.text`) ?? '' }];
}

// Of earlier answers: for people to read, and what the official client has read from the text.
const TEXT = new Set(['type', 'text', 'citations', 'parsed', 'parsed_output']);

function readDocument(block: Record<string, unknown>, at: string, gaps: Gaps): UserPart[] {
  gaps.unknown(block, `${at}.`, DOCUMENT, HINTS);
  // Without citations, which no other format has, a document of text is text.
  const citations = gaps.record(block.citations, `${at}.citations`);
  gaps.unknown(citations, `${at}.citations.`, CITATIONS);
  if (gaps.boolean(citations.enabled, `${at}.citations.enabled`) === true) gaps.add(`${at}.citations`);
  const source = recordOf(block.source);
  gaps.unknown(source, `${at}.source.`, SOURCE);
  const title = gaps.text(block.title, `${at}.title`);
  const context = gaps.text(block.context, `${at}.context`);
  const heading = [title, context].flatMap((text): TextPart[] => (text ? [{ type: 'text', text }] : []));
  switch (source.type) {
    case 'url':
      return [{ type: 'file', url: textOf(source.url), filename: title, at }];
    case 'text':
      return [...heading, { type: 'text', text: gaps.text(source.data, `${at}.source.data`) ?? '' }];
    case 'content':
      return [...heading, ...readParts(source.content, `${at}.source.content`, gaps)];
    default:
      gaps.add(`${at}.source.type`);
      return [];
  }
}

const SOURCE = new Set(['type', 'url', 'media_type', 'data', 'content']);
const DOCUMENT = new Set(['type', 'source', 'title', 'context', 'citations']);
const CITATIONS = new Set(['enabled']);

function readAssistant(blocks: readonly Record<string, unknown>[], path: string, gaps: Gaps): Turn {
  const parts = blocks.flatMap((block, index): AssistantPart[] => {
    const at = `${path}[${index}]`;
    switch (block.type) {
      case 'text':
        return readText(block, at, gaps);
      case 'thinking':
        return [
          {
            type: 'reasoning',
            text: gaps.text(block.thinking, `${at}.thinking`) ?? '',
            signature: gaps.text(block.signature, `${at}.signature`),
            encrypted: null,
          },
        ];
      case 'redacted_thinking':
        return [
          {
            type: 'reasoning',
            text: '',
            signature: null,
            encrypted: gaps.text(block.data, `${at}.data`) ?? '',
          },
        ];
      case 'tool_use':
        gaps.unknown(block, `${at}.`, TOOL_USE, HINTS);
        return [
          {
            type: 'tool_call',
            id: gaps.text(block.id, `${at}.id`) ?? '',
            name: gaps.text(block.name, `${at}.name`) ?? '',
            argumentsJson: JSON.stringify(block.input ?? {}),
          },
        ];
      default:
        gaps.add(`${at}.type`);
        return [];
    }
  });
  return { role: 'assistant', parts };
}

// Who called is said of calls of programs alone, which are not served.
const TOOL_USE = new Set(['type', 'id', 'name', 'input', 'caller']);

function readTool(tool: Record<string, unknown>, path: string, gaps: Gaps): FunctionTool {
  if (typeof tool.type === 'string' && tool.type !== 'custom') gaps.add(`${path}type`);
  gaps.unknown(tool, path, TOOL, HINTS);
  return {
    name: textOf(tool.name),
    description: gaps.text(tool.description, `${path}description`),
    parameters: tool.input_schema ?? null,
    strict: gaps.boolean(tool.strict, `${path}strict`),
  };
}

const TOOL = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  // How the provider hands the input over, and who may call: of no effect on what is called.
  'eager_input_streaming',
  'allowed_callers',
]);

function readToolChoice(choice: Record<string, unknown>, gaps: Gaps): ToolChoice | null {
  gaps.unknown(choice, 'tool_choice.', CHOICE);
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { type: choice.type };
    case 'any':
      return { type: 'required' };
    case 'tool':
      if (textOf(choice.name) === '') gaps.add('tool_choice.name');
      return { type: 'tool', name: textOf(choice.name) };
    case undefined:
      return null;
    default:
      gaps.add('tool_choice.type');
      return null;
  }
}

const CHOICE = new Set(['type', 'name', 'disable_parallel_tool_use']);

function readReasoning(body: Readonly<Record<string, unknown>>, gaps: Gaps): Reasoning | null {
  const output = gaps.record(body.output_config, 'output_config');
  gaps.unknown(output, 'output_config.', OUTPUT_CONFIG);
  const effort = gaps.text(output.effort, 'output_config.effort');
  const thinking = isRecord(body.thinking) ? body.thinking : null;
  if (thinking === null) return effort === null ? null : { enabled: true, effort, budgetTokens: null };
  gaps.unknown(thinking, 'thinking.', THINKING);
  if (!THINKING_TYPES.has(textOf(thinking.type))) gaps.add('thinking.type');
  return {
    enabled: thinking.type !== 'disabled',
    effort,
    budgetTokens: gaps.number(thinking.budget_tokens, 'thinking.budget_tokens'),
  };
}

// How much of it is shown changes nothing of what is thought.
const THINKING = new Set(['type', 'budget_tokens', 'display']);
const THINKING_TYPES = new Set(['enabled', 'adaptive', 'disabled']);

const OUTPUT_CONFIG = new Set(['effort', 'format']);

function readFormat(format: unknown, gaps: Gaps): AnswerFormat | null {
  if (format === undefined || format === null) return null;
  if (!isRecord(format) || format.type !== 'json_schema') {
    gaps.add('output_config.format');
    return null;
  }
  gaps.unknown(format, 'output_config.format.', FORMAT);
  const schema = format.schema ?? {};
  return { type: 'json_schema', name: 'answer', description: null, schema, strict: true };
}

const FORMAT = new Set(['type', 'schema']);
