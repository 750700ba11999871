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

/** Reads a messages body that passed its schema and policy. */
export function readMessages(
  body: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): Conversation {
  unsupported.unknown(body, '', HINTS, READ, OURS);
  const system = readTexts(body.system, 'system', unsupported);
  const turns: Turn[] = [];
  for (const [index, message] of records(body.messages).entries()) {
    const path = `messages[${index}].`;
    unsupported.unknown(message, path, MESSAGE, HINTS);
    const blocks = blocksOf(message.content, `${path}content`, unsupported);
    if (message.role === 'assistant') turns.push(readAssistant(blocks, `${path}content`, unsupported));
    else if (message.role === 'system') {
      const parts = readTexts(message.content, `${path}content`, unsupported);
      if (turns.length === 0) system.push(...parts);
      else turns.push({ role: 'system', parts, at: `${path}role` });
    } else turns.push(...readUser(blocks, `${path}content`, unsupported));
  }
  refusePrefill(body.messages, unsupported);
  const choice = unsupported.record(body.tool_choice, 'tool_choice');
  const one = unsupported.boolean(choice.disable_parallel_tool_use, 'tool_choice.disable_parallel_tool_use');
  return {
    system,
    turns,
    tools: records(body.tools).map((tool, index) => readTool(tool, `tools[${index}].`, unsupported)),
    toolChoice: readToolChoice(choice, unsupported),
    parallelToolCalls: one === true ? false : null,
    temperature: numberOf(body.temperature),
    topP: unsupported.number(body.top_p, 'top_p'),
    topK: unsupported.number(body.top_k, 'top_k'),
    stop: unsupported.texts(body.stop_sequences, 'stop_sequences'),
    reasoning: readReasoning(body, unsupported),
    answerFormat: readFormat(recordOf(body.output_config).format, unsupported),
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
function refusePrefill(messages: unknown, unsupported: UnsupportedFields): void {
  const all = records(messages);
  if (all.at(-1)?.role !== 'assistant') return;
  unsupported.add(`messages[${all.length - 1}].role`, 'an answer that has begun');
}

const blocksOf = (
  content: unknown,
  path: string,
  unsupported: UnsupportedFields,
): Record<string, unknown>[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : unsupported.records(content, path);

function readTexts(content: unknown, path: string, unsupported: UnsupportedFields): TextPart[] {
  return readParts(content, path, unsupported).flatMap((part) => {
    if (part.type === 'text') return [part];
    unsupported.add(path);
    return [];
  });
}

/** Results of tools stand in a user's message; in every other format each is one of its own, before the user's words. */
function readUser(
  blocks: readonly Record<string, unknown>[],
  path: string,
  unsupported: UnsupportedFields,
): Turn[] {
  const turns: Turn[] = [];
  const parts: UserPart[] = [];
  for (const [index, block] of blocks.entries()) {
    if (block.type !== 'tool_result') {
      parts.push(...readPart(block, `${path}[${index}]`, unsupported));
      continue;
    }
    const at = `${path}[${index}].`;
    unsupported.unknown(block, at, TOOL_RESULT, HINTS);
    turns.push({
      role: 'tool',
      callId: unsupported.text(block.tool_use_id, `${at}tool_use_id`) ?? '',
      parts: readParts(block.content, `${at}content`, unsupported),
      failed: unsupported.boolean(block.is_error, `${at}is_error`) === true,
    });
  }
  if (parts.length > 0 || turns.length === 0) turns.push({ role: 'user', parts });
  return turns;
}

const TOOL_RESULT = new Set(['type', 'tool_use_id', 'content', 'is_error']);

const readParts = (content: unknown, path: string, unsupported: UnsupportedFields): UserPart[] =>
  blocksOf(content, path, unsupported).flatMap((block, index) =>
    readPart(block, `${path}[${index}]`, unsupported),
  );

function readPart(block: Record<string, unknown>, at: string, unsupported: UnsupportedFields): UserPart[] {
  switch (block.type) {
    case 'text':
      return readText(block, at, unsupported);
    case 'image':
      unsupported.unknown(block, `${at}.`, IMAGE, HINTS);
      unsupported.unknown(recordOf(block.source), `${at}.source.`, LINK);
      return [{ type: 'image', url: textOf(recordOf(block.source).url), detail: null, at }];
    case 'document':
      return readDocument(block, at, unsupported);
    default:
      unsupported.add(`${at}.type`);
      return [];
  }
}

const IMAGE = new Set(['type', 'source']);
const LINK = new Set(['type', 'url']);

function readText(block: Record<string, unknown>, at: string, unsupported: UnsupportedFields): TextPart[] {
  unsupported.unknown(block, `${at}.`, TEXT, HINTS);
  return block.text === '' ? [] : [{ type: 'text', text: unsupported.text(block.text, `${at}.text`) ?? '' }];
}

// Earlier answers carry citations for people, and fields that the official client parses from the text.
const TEXT = new Set(['type', 'text', 'citations', 'parsed', 'parsed_output']);

function readDocument(
  block: Record<string, unknown>,
  at: string,
  unsupported: UnsupportedFields,
): UserPart[] {
  unsupported.unknown(block, `${at}.`, DOCUMENT, HINTS);
  // Without citations, which no other format has, a document of text is text.
  const citations = unsupported.record(block.citations, `${at}.citations`);
  unsupported.unknown(citations, `${at}.citations.`, CITATIONS);
  if (unsupported.boolean(citations.enabled, `${at}.citations.enabled`) === true)
    unsupported.add(`${at}.citations`);
  const source = recordOf(block.source);
  unsupported.unknown(source, `${at}.source.`, SOURCE);
  const title = unsupported.text(block.title, `${at}.title`);
  const context = unsupported.text(block.context, `${at}.context`);
  const heading = [title, context].flatMap((text): TextPart[] => (text ? [{ type: 'text', text }] : []));
  switch (source.type) {
    case 'url':
      return [{ type: 'file', url: textOf(source.url), filename: title, at }];
    case 'text':
      return [...heading, { type: 'text', text: unsupported.text(source.data, `${at}.source.data`) ?? '' }];
    case 'content':
      return [...heading, ...readParts(source.content, `${at}.source.content`, unsupported)];
    default:
      unsupported.add(`${at}.source.type`);
      return [];
  }
}

const SOURCE = new Set(['type', 'url', 'media_type', 'data', 'content']);
const DOCUMENT = new Set(['type', 'source', 'title', 'context', 'citations']);
const CITATIONS = new Set(['enabled']);

function readAssistant(
  blocks: readonly Record<string, unknown>[],
  path: string,
  unsupported: UnsupportedFields,
): Turn {
  const parts = blocks.flatMap((block, index): AssistantPart[] => {
    const at = `${path}[${index}]`;
    switch (block.type) {
      case 'text':
        return readText(block, at, unsupported);
      case 'thinking':
        return [
          {
            type: 'reasoning',
            text: unsupported.text(block.thinking, `${at}.thinking`) ?? '',
            signature: unsupported.text(block.signature, `${at}.signature`),
            encrypted: null,
          },
        ];
      case 'redacted_thinking':
        return [
          {
            type: 'reasoning',
            text: '',
            signature: null,
            encrypted: unsupported.text(block.data, `${at}.data`) ?? '',
          },
        ];
      case 'tool_use':
        unsupported.unknown(block, `${at}.`, TOOL_USE, HINTS);
        return [
          {
            type: 'tool_call',
            id: unsupported.text(block.id, `${at}.id`) ?? '',
            name: unsupported.text(block.name, `${at}.name`) ?? '',
            argumentsJson: JSON.stringify(block.input ?? {}),
          },
        ];
      default:
        unsupported.add(`${at}.type`);
        return [];
    }
  });
  return { role: 'assistant', parts };
}

// `caller` is set only for calls by programs, which are not served.
const TOOL_USE = new Set(['type', 'id', 'name', 'input', 'caller']);

function readTool(tool: Record<string, unknown>, path: string, unsupported: UnsupportedFields): FunctionTool {
  if (typeof tool.type === 'string' && tool.type !== 'custom') unsupported.add(`${path}type`);
  unsupported.unknown(tool, path, TOOL, HINTS);
  return {
    name: textOf(tool.name),
    description: unsupported.text(tool.description, `${path}description`),
    parameters: tool.input_schema ?? null,
    strict: unsupported.boolean(tool.strict, `${path}strict`),
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

function readToolChoice(choice: Record<string, unknown>, unsupported: UnsupportedFields): ToolChoice | null {
  unsupported.unknown(choice, 'tool_choice.', CHOICE);
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { type: choice.type };
    case 'any':
      return { type: 'required' };
    case 'tool':
      if (textOf(choice.name) === '') unsupported.add('tool_choice.name');
      return { type: 'tool', name: textOf(choice.name) };
    case undefined:
      return null;
    default:
      unsupported.add('tool_choice.type');
      return null;
  }
}

const CHOICE = new Set(['type', 'name', 'disable_parallel_tool_use']);

function readReasoning(
  body: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): Reasoning | null {
  const output = unsupported.record(body.output_config, 'output_config');
  unsupported.unknown(output, 'output_config.', OUTPUT_CONFIG);
  const effort = unsupported.text(output.effort, 'output_config.effort');
  const thinking = isRecord(body.thinking) ? body.thinking : null;
  if (thinking === null) return effort === null ? null : { enabled: true, effort, budgetTokens: null };
  unsupported.unknown(thinking, 'thinking.', THINKING);
  if (!THINKING_TYPES.has(textOf(thinking.type))) unsupported.add('thinking.type');
  return {
    enabled: thinking.type !== 'disabled',
    effort,
    budgetTokens: unsupported.number(thinking.budget_tokens, 'thinking.budget_tokens'),
  };
}

// `display` does not change the reasoning itself.
const THINKING = new Set(['type', 'budget_tokens', 'display']);
const THINKING_TYPES = new Set(['enabled', 'adaptive', 'disabled']);

const OUTPUT_CONFIG = new Set(['effort', 'format']);

function readFormat(format: unknown, unsupported: UnsupportedFields): AnswerFormat | null {
  if (format === undefined || format === null) return null;
  if (!isRecord(format) || format.type !== 'json_schema') {
    unsupported.add('output_config.format');
    return null;
  }
  unsupported.unknown(format, 'output_config.format.', FORMAT);
  const schema = format.schema ?? {};
  return { type: 'json_schema', name: 'answer', description: null, schema, strict: true };
}

const FORMAT = new Set(['type', 'schema']);
