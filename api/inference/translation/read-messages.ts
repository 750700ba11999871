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
import { booleanOf, numberOf, recordOf, records, strings, textOf, textOrNull } from './values.ts';

/** Of a messages body that passed its schema and policy. */
export function readMessages(body: Readonly<Record<string, unknown>>, gaps: Gaps): Conversation {
  gaps.unknown(body, '', HINTS, READ, OURS);
  const system = readTexts(body.system, 'system', gaps);
  const turns: Turn[] = [];
  for (const [index, message] of records(body.messages).entries()) {
    const path = `messages[${index}].`;
    gaps.unknown(message, path, MESSAGE, HINTS);
    const blocks = blocksOf(message.content);
    if (message.role === 'assistant') turns.push(readAssistant(blocks, `${path}content`, gaps));
    else if (message.role === 'system') {
      if (turns.length > 0) gaps.add(`${path}role`);
      system.push(...readTexts(message.content, `${path}content`, gaps));
    } else turns.push(...readUser(blocks, `${path}content`, gaps));
  }
  const choice = recordOf(body.tool_choice);
  return {
    system,
    turns,
    tools: records(body.tools).map((tool, index) => readTool(tool, `tools[${index}].`, gaps)),
    toolChoice: readToolChoice(choice),
    parallelToolCalls: choice.disable_parallel_tool_use === true ? false : null,
    temperature: numberOf(body.temperature),
    topP: numberOf(body.top_p),
    topK: numberOf(body.top_k),
    stop: strings(body.stop_sequences),
    reasoning: readReasoning(body, gaps),
    answerFormat: readFormat(recordOf(body.output_config).format, gaps),
  };
}

const READ = new Set([
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

const blocksOf = (content: unknown): Record<string, unknown>[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : records(content);

function readTexts(content: unknown, path: string, gaps: Gaps): TextPart[] {
  if (content === undefined || content === null) return [];
  return readParts(blocksOf(content), path, gaps).flatMap((part) => {
    if (part.type === 'text') return [part];
    gaps.add(path);
    return [];
  });
}

/** Results of tools stand in a user's message; in every other format each is one of its own, before the user's words. */
function readUser(blocks: readonly Record<string, unknown>[], path: string, gaps: Gaps): Turn[] {
  const turns: Turn[] = [];
  const rest: Record<string, unknown>[] = [];
  for (const [index, block] of blocks.entries()) {
    if (block.type !== 'tool_result') {
      rest.push(block);
      continue;
    }
    const at = `${path}[${index}].`;
    gaps.unknown(block, at, TOOL_RESULT, HINTS);
    turns.push({
      role: 'tool',
      callId: textOf(block.tool_use_id),
      parts: readParts(blocksOf(block.content), `${at}content`, gaps),
      failed: block.is_error === true,
    });
  }
  const parts = readParts(rest, path, gaps);
  if (parts.length > 0 || turns.length === 0) turns.push({ role: 'user', parts });
  return turns;
}

const TOOL_RESULT = new Set(['type', 'tool_use_id', 'content', 'is_error']);

function readParts(blocks: readonly Record<string, unknown>[], path: string, gaps: Gaps): UserPart[] {
  return blocks.flatMap((block, index): UserPart[] => {
    const at = `${path}[${index}].`;
    switch (block.type) {
      case 'text':
        return block.text === '' ? [] : [{ type: 'text', text: textOf(block.text) }];
      case 'image':
        return [{ type: 'image', url: textOf(recordOf(block.source).url), detail: null }];
      case 'document':
        return readDocument(block, at, gaps);
      default:
        gaps.add(`${at}type`);
        return [];
    }
  });
}

function readDocument(block: Record<string, unknown>, at: string, gaps: Gaps): UserPart[] {
  gaps.unknown(block, at, DOCUMENT, HINTS);
  // Without citations, which no other format has, a document of text is text.
  if (recordOf(block.citations).enabled === true) gaps.add(`${at}citations`);
  const source = recordOf(block.source);
  switch (source.type) {
    case 'url':
      return [{ type: 'file', url: textOf(source.url), filename: textOrNull(block.title) }];
    case 'text':
      return [{ type: 'text', text: textOf(source.data) }];
    case 'content':
      return readParts(blocksOf(source.content), `${at}source.content`, gaps);
    default:
      gaps.add(`${at}source.type`);
      return [];
  }
}

const DOCUMENT = new Set(['type', 'source', 'title', 'context', 'citations']);

function readAssistant(blocks: readonly Record<string, unknown>[], path: string, gaps: Gaps): Turn {
  const parts = blocks.flatMap((block, index): AssistantPart[] => {
    switch (block.type) {
      case 'text':
        return block.text === '' ? [] : [{ type: 'text', text: textOf(block.text) }];
      case 'thinking':
        return [
          {
            type: 'reasoning',
            text: textOf(block.thinking),
            signature: textOrNull(block.signature),
            encrypted: null,
          },
        ];
      case 'redacted_thinking':
        return [{ type: 'reasoning', text: '', signature: null, encrypted: textOf(block.data) }];
      case 'tool_use':
        return [
          {
            type: 'tool_call',
            id: textOf(block.id),
            name: textOf(block.name),
            argumentsJson: JSON.stringify(block.input ?? {}),
          },
        ];
      default:
        gaps.add(`${path}[${index}].type`);
        return [];
    }
  });
  return { role: 'assistant', parts };
}

function readTool(tool: Record<string, unknown>, path: string, gaps: Gaps): FunctionTool {
  if (typeof tool.type === 'string' && tool.type !== 'custom') gaps.add(`${path}type`);
  gaps.unknown(tool, path, TOOL, HINTS);
  return {
    name: textOf(tool.name),
    description: textOrNull(tool.description),
    parameters: tool.input_schema ?? null,
    strict: booleanOf(tool.strict),
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
  'defer_loading',
]);

function readToolChoice(choice: Record<string, unknown>): ToolChoice | null {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { type: choice.type };
    case 'any':
      return { type: 'required' };
    case 'tool':
      return { type: 'tool', name: textOf(choice.name) };
    default:
      return null;
  }
}

function readReasoning(body: Readonly<Record<string, unknown>>, gaps: Gaps): Reasoning | null {
  const output = recordOf(body.output_config);
  gaps.unknown(output, 'output_config.', OUTPUT_CONFIG);
  const thinking = isRecord(body.thinking) ? body.thinking : null;
  if (thinking === null && output.effort === undefined) return null;
  return {
    enabled: thinking?.type !== 'disabled',
    effort: textOrNull(output.effort),
    budgetTokens: numberOf(thinking?.budget_tokens),
  };
}

const OUTPUT_CONFIG = new Set(['effort', 'format']);

function readFormat(format: unknown, gaps: Gaps): AnswerFormat | null {
  if (!isRecord(format)) return null;
  if (format.type === 'json_schema') {
    return { type: 'json_schema', name: 'answer', schema: format.schema ?? {}, strict: true };
  }
  gaps.add('output_config.format');
  return null;
}
