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
import { readSignedReasoning } from '../formats/signed-reasoning.ts';
import { HINTS, OURS, typeName, UnsupportedFields } from '../formats/unsupported-fields.ts';
import { numberOf, recordOf, records, textOf } from '../formats/values.ts';
import { cacheOf, markLast } from './cache-marks.ts';
import { customArguments } from './custom-tools.ts';
import { type CallsByItem, isOwnCall, readOwnCall, readOwnOutput } from './own-calls.ts';
import { readToolList, readTools, type ToolReading } from './read-responses-tools.ts';
import { callerTool, callerToolsIn, namespaceOf, ToolNaming } from './tool-names.ts';
import { readSearchCall, readSearchOutput, SEARCH_CALL, SEARCH_OUTPUT } from './tool-search.ts';
import { verbosityAt } from './tool-words.ts';
import { forEachTurn } from './turns-at-once.ts';

/** Of a responses body that passed its schema and policy. */
export function readResponses(
  body: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): Work<Conversation> {
  unsupported.unknown(body, '', READ, HINTS);
  const system: TextPart[] =
    textOf(body.instructions) === '' ? [] : [{ type: 'text', text: textOf(body.instructions) }];
  const items =
    typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : records(body.input);
  const naming = new ToolNaming([body, ...items].flatMap(({ tools }) => callerToolsIn(tools)));
  const reading: Reading = {
    system,
    turns: [],
    tools: [],
    searches: new Set(),
    callsByItem: new Map(),
    naming,
    unsupported,
  };
  return forEachTurn(
    items,
    (item, index) => readItem(item, `input[${index}].`, reading),
    () => ({ system, turns: reading.turns, ...readSettings(body, reading) }),
  );
}

/** Everything but what is said. */
function readSettings(
  body: Readonly<Record<string, unknown>>,
  reading: Reading,
): Omit<Conversation, 'system' | 'turns'> {
  const { naming, unsupported } = reading;
  const text = unsupported.record(body.text, 'text');
  unsupported.unknown(text, 'text.', TEXT);
  nameIncluded(body.include, unsupported);
  return {
    ...readTools(body, reading),
    toolNames: naming.shown,
    parallelToolCalls: unsupported.boolean(body.parallel_tool_calls, 'parallel_tool_calls'),
    temperature: numberOf(body.temperature),
    topP: unsupported.number(body.top_p, 'top_p'),
    topK: unsupported.number(body.top_k, 'top_k'),
    stop: [],
    reasoning: readReasoning(body.reasoning, unsupported),
    answerFormat: readFormat(text.format, unsupported),
    verbosity: verbosityAt(unsupported.text(text.verbosity, 'text.verbosity'), 'text.verbosity'),
  };
}

const READ = new Set([
  ...OURS,
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
  'include',
]);
const TEXT = new Set(['format', 'verbosity']);

/** Signed reasoning is always shown, and a translated call has no tools of the provider's own. */
function nameIncluded(include: unknown, unsupported: UnsupportedFields): void {
  for (const [index, name] of unsupported.texts(include, 'include').entries()) {
    if (name !== 'reasoning.encrypted_content' && !/_call(_output)?\./.test(name))
      unsupported.leaveOut(`include[${index}]`);
  }
}

interface Reading extends ToolReading {
  system: TextPart[];
  turns: Turn[];
  /** The ids of the calls of searches for tools. */
  searches: Set<string>;
  callsByItem: CallsByItem;
}

function readItem(item: Record<string, unknown>, path: string, reading: Reading): void {
  const { turns, unsupported } = reading;
  switch (item.type) {
    case undefined:
    case null:
    case 'message':
      readMessage(item, path, reading);
      return;
    case 'reasoning':
      answerOf(turns).push(...readReasoningItem(item));
      return;
    case 'function_call':
    case 'custom_tool_call':
      answerOf(turns).push(readCall(item, path, reading));
      return;
    case 'function_call_output':
    case 'custom_tool_call_output':
      unsupported.unknown(item, path, CALL_OUTPUT, HINTS);
      turns.push({
        role: 'tool',
        callId: unsupported.text(item.call_id, `${path}call_id`) ?? '',
        parts: readParts(item.output, `${path}output`, unsupported),
        failed: item.status === 'incomplete',
        ...cacheOf(item),
      });
      return;
    case SEARCH_CALL: {
      const calls = readSearchCall(item, reading.naming);
      for (const { id } of calls) reading.searches.add(id);
      if (calls.length > 0) answerOf(turns).push(...calls);
      return;
    }
    case SEARCH_OUTPUT: {
      const tools = readToolList(item.tools, `${path}tools`, reading);
      reading.tools.push(...tools);
      // Clients that shorten a conversation keep the tools and drop the call. Other formats refuse a result without its call.
      if (reading.searches.has(textOf(item.call_id))) turns.push(readSearchOutput(item, tools));
      return;
    }
    case 'item_reference':
      unsupported.add(`${path}type`, 'an item that only a provider has stored');
      return;
    case 'compaction':
    case 'context_compaction':
      readCompaction(item, path, reading);
      return;
    default:
      if (isOwnCall(item)) answerOf(turns).push(readOwnCall(item, reading.naming, reading.callsByItem));
      turns.push(
        ...readOwnOutput(item, reading.callsByItem, (output) =>
          readParts(output, `${path}output`, unsupported),
        ),
      );
      // The text of an earlier answer tells what a provider ran by itself for it.
      reading.tools.push(...readToolList(item.tools, `${path}tools`, reading));
  }
}

function readCall(
  item: Record<string, unknown>,
  path: string,
  { naming, unsupported }: Reading,
): AssistantPart {
  const isCustom = item.type === 'custom_tool_call';
  const name = unsupported.text(item.name, `${path}name`) ?? '';
  return {
    type: 'tool_call',
    id: unsupported.text(item.call_id, `${path}call_id`) ?? '',
    name: naming.nameOf({ ...callerTool(name, namespaceOf(item.namespace)), isCustom }),
    argumentsJson: isCustom ? customArguments(textOf(item.input)) : textOf(item.arguments),
    ...cacheOf(item),
  };
}

/** A summary of what was said before. One without any content is left from an attempt that failed, and says nothing. */
function readCompaction(item: Record<string, unknown>, path: string, { turns, unsupported }: Reading): void {
  const texts = [item.content, item.summary]
    .flatMap((said) => (typeof said === 'string' ? [said] : records(said).map(({ text }) => textOf(text))))
    .filter((text) => text !== '');
  if (texts.length > 0) turns.push({ role: 'user', parts: texts.map((text) => ({ type: 'text', text })) });
  else if (textOf(item.encrypted_content) !== '')
    unsupported.add(`${path}encrypted_content`, 'a compaction that only its issuer can read');
}

const CALL_OUTPUT = new Set(['type', 'id', 'call_id', 'output', 'status', 'name']);

function readMessage(
  item: Record<string, unknown>,
  path: string,
  { system, turns, unsupported }: Reading,
): void {
  const isHistory = item.role === 'assistant';
  const named = isHistory ? UnsupportedFields.ofHistory() : unsupported;
  named.unknown(item, path, MESSAGE, HINTS);
  const parts = markLast(readParts(item.content, `${path}content`, named), cacheOf(item));
  const texts = (): TextPart[] => {
    if (parts.some((part) => part.type !== 'text'))
      named.add(`${path}content`, 'an image or file in a message of this role');
    return parts.filter((part) => part.type === 'text');
  };
  switch (item.role) {
    case 'assistant':
      answerOf(turns).push(...texts());
      return;
    case 'system':
    case 'developer':
      if (turns.length === 0) system.push(...texts());
      else if (parts.length > 0) turns.push({ role: 'system', parts: texts(), at: `${path}role` });
      return;
    case 'user':
      turns.push({ role: 'user', parts });
      return;
    default:
      unsupported.add(`${path}role`, `a message of the role ${typeName(item.role)}`);
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

function readReasoningItem(item: Record<string, unknown>): AssistantPart[] {
  const texts = records(item.content).length > 0 ? item.content : item.summary;
  const text = records(texts)
    .map((part) => textOf(part.text))
    .join('');
  const kept = readSignedReasoning(textOf(item.encrypted_content));
  if (text === '' && kept.signature === null && kept.encrypted === null && kept.callSignature === undefined)
    return [];
  return [{ type: 'reasoning', text, ...kept }];
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
          : [{ type: 'text', text: unsupported.text(part.text, `${at}.text`) ?? '', ...cacheOf(part) }];
      case 'refusal':
        unsupported.unknown(part, `${at}.`, REFUSAL_PART, HINTS);
        return [{ type: 'text', text: unsupported.text(part.refusal, `${at}.refusal`) ?? '' }];
      case 'input_image': {
        unsupported.unknown(part, `${at}.`, IMAGE_PART, HINTS);
        const url = isRecord(part.image_url) ? part.image_url.url : part.image_url;
        return [
          {
            type: 'image',
            url: textOf(url),
            detail: unsupported.text(part.detail, `${at}.detail`),
            at,
            ...cacheOf(part),
          },
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
            ...cacheOf(part),
          },
        ];
      default:
        unsupported.add(`${at}.type`, `a part of the type ${typeName(part.type)}`);
        return [];
    }
  });
}

// What an earlier answer had beside its text is for people to read.
const TEXT_PART = new Set(['type', 'text', 'annotations', 'logprobs', 'parsed']);
const REFUSAL_PART = new Set(['type', 'refusal']);
const IMAGE_PART = new Set(['type', 'image_url', 'detail']);
const FILE_PART = new Set(['type', 'file_url', 'filename', 'detail']);

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
    unsupported.leaveOut('text.format');
    return null;
  }
  return {
    type,
    at: 'text.format',
    name: unsupported.text(name, 'text.format.name') || 'answer',
    description: unsupported.text(description, 'text.format.description'),
    schema: schema ?? {},
    strict: unsupported.boolean(strict, 'text.format.strict'),
  };
}

const FORMAT = new Set(['type', 'name', 'description', 'schema', 'strict']);
