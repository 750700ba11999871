import type {
  AnswerFormat,
  AssistantPart,
  Conversation,
  Reasoning,
  TextPart,
  Turn,
  UserPart,
} from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import type { Work } from '#core/steps.ts';
import { BILLING_LINE, withoutBillingLine } from '../../providers/billing-line.ts';
import { readCallSignature } from '../formats/call-signature.ts';
import { readIssuer } from '../formats/signed-reasoning.ts';
import { HINTS, OURS, typeName, UnsupportedFields } from '../formats/unsupported-fields.ts';
import { numberOf, recordOf, records, textOf } from '../formats/values.ts';
import { cacheOf } from './cache-marks.ts';
import { messagesTools, readMessagesChoice, readMessagesTools } from './read-messages-tools.ts';
import { isStrictSchema } from './strict-schema.ts';
import { callerTool, callerToolsIn, ToolNaming } from './tool-names.ts';
import { forEachTurn } from './turns-at-once.ts';

/** Reads a messages body that passed its schema and policy. */
export function readMessages(
  body: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): Work<Conversation> {
  unsupported.unknown(body, '', READ, HINTS);
  const tools = messagesTools(body);
  const naming = new ToolNaming(callerToolsIn(tools.map(({ tool }) => tool)));
  const system = readTexts(body.system, 'system', unsupported);
  const reading: Reading = { system, turns: [], naming, unsupported };
  return forEachTurn(
    records(body.messages),
    (message, index) => readMessage(message, `messages[${index}].`, reading),
    () => ({ system, turns: reading.turns, ...readSettings(body, tools, naming, unsupported) }),
  );
}

/** Everything but what is said. */
function readSettings(
  body: Readonly<Record<string, unknown>>,
  tools: ReturnType<typeof messagesTools>,
  naming: ToolNaming,
  unsupported: UnsupportedFields,
): Omit<Conversation, 'system' | 'turns'> {
  const choice = unsupported.record(body.tool_choice, 'tool_choice');
  const one = unsupported.boolean(choice.disable_parallel_tool_use, 'tool_choice.disable_parallel_tool_use');
  return {
    tools: readMessagesTools(tools, naming, unsupported),
    toolNames: naming.shown,
    toolChoice: readMessagesChoice(choice, naming, unsupported),
    parallelToolCalls: one === true ? false : null,
    temperature: numberOf(body.temperature),
    topP: unsupported.number(body.top_p, 'top_p'),
    topK: unsupported.number(body.top_k, 'top_k'),
    stop: unsupported.texts(body.stop_sequences, 'stop_sequences'),
    reasoning: readReasoning(body, unsupported),
    answerFormat: readWantedFormat(body, unsupported),
    verbosity: null,
  };
}

const READ = new Set([
  ...OURS,
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
  'output_format',
]);
const MESSAGE = new Set(['role', 'content']);

interface Reading {
  system: TextPart[];
  turns: Turn[];
  naming: ToolNaming;
  unsupported: UnsupportedFields;
}

function readMessage(message: Record<string, unknown>, path: string, reading: Reading): void {
  const { system, turns, unsupported } = reading;
  const at = `${path}content`;
  if (message.role === 'assistant') {
    readAnswer(blocksOf(message.content, at, unsupported), at, reading);
    return;
  }
  unsupported.unknown(message, path, MESSAGE, HINTS);
  if (message.role === 'system') {
    const parts = readTexts(message.content, at, unsupported);
    if (turns.length === 0) system.push(...parts);
    else if (parts.length > 0) turns.push({ role: 'system', parts, at: `${path}role` });
  } else turns.push(...readUser(blocksOf(message.content, at, unsupported), at, unsupported));
}

/** An earlier answer. Its provider forgets all that was said before the newest summary in it, and reads the summary instead. */
function readAnswer(
  blocks: readonly Record<string, unknown>[],
  path: string,
  { turns, naming, unsupported }: Reading,
): void {
  for (const [index, { type, content, encrypted_content }] of blocks.entries()) {
    if (type === 'compaction' && !isSummary(content) && textOf(encrypted_content) !== '')
      unsupported.add(`${path}[${index}].encrypted_content`, 'a compaction that only its issuer can read');
  }
  const summaryAt = blocks.findLastIndex(({ type, content }) => type === 'compaction' && isSummary(content));
  const summary = blocks[summaryAt];
  if (summary !== undefined) {
    const text = textsIn(summary.content).join('');
    turns.splice(0, turns.length, { role: 'user', parts: [{ type: 'text', text, ...cacheOf(summary) }] });
  }
  const rest = blocks.slice(summaryAt + 1);
  if (summary === undefined || rest.length > 0) turns.push(readAssistant(rest, path, naming));
}

const textsIn = (content: unknown): string[] =>
  typeof content === 'string' ? [content] : records(content).map(({ text }) => textOf(text));

/** A summary that failed has no content, and its provider takes no notice of it. */
const isSummary = (content: unknown): boolean => textsIn(content).some((text) => text !== '');

const blocksOf = (
  content: unknown,
  path: string,
  unsupported: UnsupportedFields,
): Record<string, unknown>[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : unsupported.records(content, path);

function readTexts(content: unknown, path: string, unsupported: UnsupportedFields): TextPart[] {
  return readParts(content, path, unsupported).flatMap((part) => {
    if (part.type !== 'text') {
      unsupported.add(path, 'an image or file in a message of this role');
      return [];
    }
    const text = withoutBillingLine(part.text);
    if (text === part.text) return [part];
    unsupported.leaveOutHint(BILLING_LINE);
    return text === '' ? [] : [{ ...part, text }];
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
      ...cacheOf(block),
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
      return [
        { type: 'image', url: textOf(recordOf(block.source).url), detail: null, at, ...cacheOf(block) },
      ];
    case 'document':
      return readDocument(block, at, unsupported);
    case 'search_result':
      return readSearchResult(block, at, unsupported);
    case 'tool_reference':
      // All tools are sent in full, so the name says which of them the search for tools has found.
      return [{ type: 'text', text: `Tool: ${textOf(block.tool_name)}` }];
    // Their tools are read with those of the body.
    case 'tool_addition':
      return [];
    // Other formats have one list for the whole conversation.
    case 'tool_removal':
      unsupported.leaveOut(at);
      return [];
    default:
      unsupported.add(`${at}.type`, `a block of the type ${typeName(block.type)}`);
      return [];
  }
}

const IMAGE = new Set(['type', 'source']);
const LINK = new Set(['type', 'url']);

function readText(block: Record<string, unknown>, at: string, unsupported: UnsupportedFields): TextPart[] {
  unsupported.unknown(block, `${at}.`, TEXT, HINTS);
  const text = unsupported.text(block.text, `${at}.text`) ?? '';
  return text === '' ? [] : [{ type: 'text', text, ...cacheOf(block) }];
}

/** A result of the caller's own search, whose source stands before its text. */
function readSearchResult(
  block: Record<string, unknown>,
  at: string,
  unsupported: UnsupportedFields,
): UserPart[] {
  unsupported.unknown(block, `${at}.`, SEARCH_RESULT, HINTS);
  const heading = [textOf(block.title), textOf(block.source)].filter((text) => text !== '').join('\n');
  return [{ type: 'text', text: heading }, ...readParts(block.content, `${at}.content`, unsupported)];
}

const SEARCH_RESULT = new Set(['type', 'source', 'title', 'content', 'citations']);

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
    unsupported.leaveOut(`${at}.citations`);
  const source = recordOf(block.source);
  unsupported.unknown(source, `${at}.source.`, SOURCE);
  const title = unsupported.text(block.title, `${at}.title`);
  const context = unsupported.text(block.context, `${at}.context`);
  const heading = [title, context].flatMap((text): TextPart[] => (text ? [{ type: 'text', text }] : []));
  switch (source.type) {
    case 'url':
      return [{ type: 'file', url: textOf(source.url), filename: title, at, ...cacheOf(block) }];
    case 'text':
      return [...heading, { type: 'text', text: unsupported.text(source.data, `${at}.source.data`) ?? '' }];
    case 'content':
      return [...heading, ...readParts(source.content, `${at}.source.content`, unsupported)];
    default:
      unsupported.add(`${at}.source.type`, `a document whose source is ${typeName(source.type)}`);
      return [];
  }
}

const SOURCE = new Set(['type', 'url', 'media_type', 'data', 'content']);
const DOCUMENT = new Set(['type', 'source', 'title', 'context', 'citations']);
const CITATIONS = new Set(['enabled']);

/** Clients print an earlier answer back with members of their own, of which none is named. */
function readAssistant(blocks: readonly Record<string, unknown>[], path: string, naming: ToolNaming): Turn {
  const history = UnsupportedFields.ofHistory();
  const parts = blocks.flatMap((block, index): AssistantPart[] => {
    switch (block.type) {
      case 'text':
        return readText(block, `${path}[${index}]`, history);
      case 'thinking':
        return [readThinking(textOf(block.thinking), textOf(block.signature))];
      case 'redacted_thinking':
        return [readRedacted(textOf(block.data))];
      case 'tool_use':
        return [
          {
            type: 'tool_call',
            id: textOf(block.id),
            name: naming.nameOf(callerTool(textOf(block.name))),
            argumentsJson: JSON.stringify(block.input ?? {}),
            ...cacheOf(block),
          },
        ];
      default:
        // The answer's text tells what the provider ran by itself.
        return [];
    }
  });
  return { role: 'assistant', parts };
}

function readThinking(text: string, signature: string): AssistantPart {
  const { kept, ...issued } = readIssuer(signature);
  return { type: 'reasoning', text, signature: kept === '' ? null : kept, encrypted: null, ...issued };
}

function readRedacted(data: string): AssistantPart {
  const callSignature = readCallSignature(data);
  const part = { type: 'reasoning' as const, text: '', signature: null };
  const { kept, ...issued } = readIssuer(data);
  return callSignature === null
    ? { ...part, encrypted: kept, ...issued }
    : { ...part, encrypted: null, callSignature };
}

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
  if (!THINKING_TYPES.has(textOf(thinking.type))) unsupported.leaveOut('thinking.type');
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

/** The older place of the format gives way to the newer one. */
function readWantedFormat(
  { output_config: config, output_format: older }: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): AnswerFormat | null {
  const format = recordOf(config).format ?? null;
  if (format === null) return readFormat(older, unsupported);
  if ((older ?? null) !== null) unsupported.leaveOut('output_format');
  return readFormat(format, unsupported);
}

function readFormat(format: unknown, unsupported: UnsupportedFields): AnswerFormat | null {
  if (format === undefined || format === null) return null;
  if (!isRecord(format) || format.type !== 'json_schema') {
    unsupported.leaveOut('output_config.format');
    return null;
  }
  unsupported.unknown(format, 'output_config.format.', FORMAT);
  const schema = format.schema ?? {};
  return {
    type: 'json_schema',
    at: 'output_config.format',
    name: 'answer',
    description: null,
    schema,
    strict: isStrictSchema(schema) ? true : null,
  };
}

const FORMAT = new Set(['type', 'schema']);
