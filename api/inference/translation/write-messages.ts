import type {
  AnswerFormat,
  AskedModel,
  AssistantPart,
  Conversation,
  FunctionTool,
  TextPart,
  ToolChoice,
  Turn,
  UserPart,
} from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import { JSON_KEYS_MAX, JSON_VALUES_MAX } from '#core/limits.ts';
import { isOwnReasoning } from '../../providers/signed-reasoning.ts';
import { messagesCallId } from '../formats/call-id-rules.ts';
import { readInput } from '../formats/tool-input.ts';
import type { UnsupportedFields } from '../formats/unsupported-fields.ts';
import type { NumberMarks } from '../json/number-marks.ts';
import { writeCache } from './cache-marks.ts';
import { type ClaudeLimits, claudeLimits } from './claude-limits.ts';
import { writeSampling } from './claude-sampling.ts';
import { structuredSchema } from './structured-schema.ts';
import { objectSchema, refuseLoneChoice } from './tool-words.ts';
import { cannotForce, isOn, turnsFor, writeEffort, writeThinking } from './write-thinking.ts';

/**
 * The body for a provider that speaks the messages format, but for what the gateway writes into every body. It yields the names of
 * its steps, because the JSON in the arguments of calls may be as large as the body.
 */
export function* writeMessages(
  conversation: Conversation,
  asked: AskedModel,
  unsupported: UnsupportedFields,
  marks: NumberMarks,
): Generator<string, object> {
  const { tools, verbosity } = conversation;
  const limits = claudeLimits(asked.upstreamModel);
  const thinking = writeThinking(conversation, asked, limits);
  const thinks = isOn(thinking);
  if (verbosity !== null) unsupported.leaveOut(verbosity.at);
  refuseLoneChoice(conversation, unsupported);
  return {
    ...writeCache(conversation),
    system: writeSystem(conversation),
    messages: withLastWords(
      yield* writeTurns(turnsFor(conversation, limits, thinking), marks, unsupported),
      conversation,
      limits,
      thinks,
    ),
    max_tokens: asked.outputTokensCap,
    tools: tools.length === 0 ? undefined : tools.map((tool) => writeTool(tool, marks)),
    tool_choice: tools.length === 0 ? undefined : writeToolChoice(conversation, limits, unsupported),
    ...writeSampling(conversation, limits, thinks, unsupported),
    stop_sequences: writeStop(conversation, unsupported),
    thinking,
    output_config: writeOutputConfig(conversation, asked, limits, marks),
  };
}

/** The format refuses a sequence that is nothing but white space. */
function writeStop({ stop }: Conversation, unsupported: UnsupportedFields): readonly string[] | undefined {
  const sequences = stop.filter((sequence) => /\S/.test(sequence));
  if (sequences.length < stop.length) unsupported.leaveOut('stop');
  return sequences.length === 0 ? undefined : sequences;
}

/** The format has no other word for an answer that is any JSON object. */
const JSON_INSTRUCTION = 'Answer with one JSON object, without a word before or behind it.';

function writeSystem({ system, answerFormat }: Conversation): unknown {
  const parts =
    answerFormat?.type === 'json_object'
      ? [...system, { type: 'text' as const, text: JSON_INSTRUCTION }]
      : system;
  if (parts.length === 0) return undefined;
  if (parts.every(({ cache }) => cache === undefined)) return parts.map(({ text }) => text).join('\n\n');
  return parts.filter(saysSomething).map(writePart);
}

/** The format has no other place for what an answer is meant for. */
const described = ({ description, schema }: Extract<AnswerFormat, { type: 'json_schema' }>): unknown =>
  description !== null && isRecord(schema) ? { description, ...schema } : schema;

interface Message {
  role: 'user' | 'assistant';
  content: object[];
}

/** The results of all calls of one answer have to stand in the one message after it, before the user's own words. */
function* writeTurns(
  turns: readonly Turn[],
  marks: NumberMarks,
  unsupported: UnsupportedFields,
): Generator<string, Message[]> {
  const room: Room = { keys: JSON_KEYS_MAX, values: JSON_VALUES_MAX, readChars: 0, marks };
  const messages: Message[] = [];
  for (const turn of turns) {
    const role = turn.role === 'assistant' ? 'assistant' : 'user';
    if (room.readChars >= READ_AT_ONCE) {
      room.readChars = 0;
      yield 'write';
    }
    const content = writeTurn(turn, room, unsupported);
    if (content.length === 0) {
      // The provider takes none; left out, it would make another conversation of it.
      if (turn.role === 'user') unsupported.add('content', 'a message that says nothing');
      continue;
    }
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content });
  }
  if (messages.length === 0) unsupported.add('messages', 'a conversation without a message of the user');
  return messages;
}

/**
 * A choice of tools that the model cannot be held to is asked of it in words. Where it continues no answer, or thinks first, it is
 * told to go on.
 */
function withLastWords(
  messages: Message[],
  conversation: Conversation,
  limits: ClaudeLimits | null,
  thinks: boolean,
): Message[] {
  const last = messages.at(-1);
  if (last === undefined || limits === null) return messages;
  const words: object[] = [];
  if (last.role === 'assistant') {
    if (limits.continuesAnswers && !thinks) trimEnd(last);
    else words.push({ type: 'text', text: CONTINUE });
  }
  if (conversation.tools.length > 0 && cannotForce(conversation, limits))
    words.push({ type: 'text', text: `<system>\n${callWords(conversation.toolChoice)}\n</system>` });
  if (words.length === 0) return messages;
  if (last.role === 'user') last.content.push(...words);
  else messages.push({ role: 'user', content: words });
  return messages;
}

const CONTINUE = 'Continue.';

const callWords = (choice: ToolChoice | null): string =>
  choice?.type === 'tool' ? `Call the tool \`${choice.name}\` now.` : 'Call one of the tools now.';

/** The provider refuses an answer to continue that ends with white space. */
function trimEnd({ content }: Message): void {
  const last = content.at(-1);
  if (isRecord(last) && typeof last.text === 'string') last.text = last.text.trimEnd();
}

/** Characters of arguments that are read in one turn of the event loop. */
const READ_AT_ONCE = 1024 * 1024;

function writeTurn(turn: Turn, room: Room, unsupported: UnsupportedFields): object[] {
  switch (turn.role) {
    case 'system':
      // In its own place, and in the only words for it that every model of the format takes.
      return [{ type: 'text', text: systemText(turn.parts) }];
    case 'user':
      return named(turn.parts.filter(saysSomething), turn.name).map(writePart);
    case 'assistant':
      return turn.parts.filter(saysSomething).flatMap((part) => writeAssistantPart(part, room, unsupported));
    case 'tool':
      return [
        {
          type: 'tool_result',
          tool_use_id: messagesCallId(turn.callId),
          content: turn.parts.filter(saysSomething).map(writePart),
          is_error: turn.failed ? true : undefined,
          ...writeCache(turn),
        },
      ];
  }
}

const systemText = (parts: readonly TextPart[]): string =>
  `<system>\n${parts.map(({ text }) => text).join('\n\n')}\n</system>`;

/** The format has no place for the name of the one of several users who speaks. */
function named(parts: readonly UserPart[], name: string | undefined): readonly UserPart[] {
  const [first, ...rest] = parts;
  if (name === undefined || first === undefined) return parts;
  return first.type === 'text'
    ? [{ ...first, text: `${name}: ${first.text}` }, ...rest]
    : [{ type: 'text', text: `${name}:` }, ...parts];
}

/** The provider refuses text that is nothing but white space, as some models write it before a call. */
const saysSomething = (part: UserPart | AssistantPart): boolean =>
  part.type !== 'text' || /\S/.test(part.text);

function writePart(part: UserPart): object {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...writeCache(part) };
    case 'image':
      return { type: 'image', source: { type: 'url', url: part.url }, ...writeCache(part) };
    case 'file':
      return {
        type: 'document',
        source: { type: 'url', url: part.url },
        title: part.filename ?? undefined,
        ...writeCache(part),
      };
  }
}

function writeAssistantPart(part: AssistantPart, room: Room, unsupported: UnsupportedFields): object[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text, ...writeCache(part) }];
    case 'tool_call':
      return [
        {
          type: 'tool_use',
          id: messagesCallId(part.id),
          name: part.name,
          input: writeInput(part.argumentsJson, room, unsupported),
          ...writeCache(part),
        },
      ];
    case 'reasoning':
      if (part.issuer !== undefined && !isOwnReasoning(part.issuer.format)) return [];
      if (part.encrypted !== null) return [{ type: 'redacted_thinking', data: part.encrypted }];
      // The provider refuses reasoning that it has not signed.
      return part.signature === null || part.signature === ''
        ? []
        : [{ type: 'thinking', thinking: part.text, signature: part.signature }];
  }
}

/** What may still be read of the JSON inside of texts: the bounds of a body are those of all that is parsed of it. */
interface Room {
  keys: number;
  values: number;
  /** Since the last step. */
  readChars: number;
  marks: NumberMarks;
}

function writeInput(
  json: string,
  room: Room,
  unsupported: UnsupportedFields,
): Readonly<Record<string, unknown>> {
  room.readChars += json.length;
  const read = readInput(json, { keysMax: room.keys, valuesMax: room.values }, room.marks);
  if (read === 'too_many') {
    unsupported.add(
      'arguments',
      `more than ${JSON_KEYS_MAX} keys or ${JSON_VALUES_MAX} values that tools were called with`,
    );
    return {};
  }
  room.keys -= read.keyCount;
  room.values -= read.valueCount;
  return read.input;
}

function writeTool(tool: FunctionTool, marks: NumberMarks): object {
  const { name, description, parameters, strict } = tool;
  const schema = objectSchema(parameters);
  return {
    name,
    description: description ?? undefined,
    input_schema: strict === true ? structuredSchema(schema, marks) : schema,
    strict: strict === true ? true : undefined,
    ...writeCache(tool),
  };
}

const TYPES = { auto: 'auto', none: 'none', required: 'any', tool: 'tool' } as const;

function writeToolChoice(
  conversation: Conversation,
  limits: ClaudeLimits | null,
  unsupported: UnsupportedFields,
): object | undefined {
  const { toolChoice, parallelToolCalls } = conversation;
  const isLost = cannotForce(conversation, limits);
  if (isLost) unsupported.leaveOut('tool_choice');
  const given = isLost ? null : toolChoice;
  const choice: ToolChoice | null = given ?? (parallelToolCalls === false ? { type: 'auto' } : null);
  if (choice === null) return undefined;
  return {
    type: TYPES[choice.type],
    name: choice.type === 'tool' ? choice.name : undefined,
    disable_parallel_tool_use: parallelToolCalls === false && choice.type !== 'none' ? true : undefined,
  };
}

/** How hard the model thinks, and the shape of its answer. */
function writeOutputConfig(
  conversation: Conversation,
  asked: AskedModel,
  limits: ClaudeLimits | null,
  marks: NumberMarks,
): object | undefined {
  const { answerFormat } = conversation;
  const effort = writeEffort(conversation, asked, limits);
  const format =
    answerFormat?.type === 'json_schema'
      ? { type: 'json_schema', schema: structuredSchema(described(answerFormat), marks) }
      : undefined;
  return effort === undefined && format === undefined ? undefined : { effort, format };
}
