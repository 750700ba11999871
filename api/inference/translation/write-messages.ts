import type {
  AskedModel,
  AssistantPart,
  Conversation,
  TextPart,
  ToolChoice,
  Turn,
  UserPart,
} from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import { JSON_KEYS_MAX, JSON_VALUES_MAX } from '#core/limits.ts';
import { isSteps, type Steps, type Work } from '#core/steps.ts';
import { messagesCallId } from '../formats/call-id-rules.ts';
import { readInput } from '../formats/tool-input.ts';
import type { UnsupportedFields } from '../formats/unsupported-fields.ts';
import type { NumberMarks } from '../json/number-marks.ts';
import { type ArgumentNames, givenArguments, givenNames } from './argument-names.ts';
import { writeCache } from './cache-marks.ts';
import { type ClaudeLimits, claudeLimits } from './claude-limits.ts';
import { writeSampling } from './claude-sampling.ts';
import { type WrittenSchemas, writeSchemas } from './claude-schemas.ts';
import { isAsked } from './order-results.ts';
import { refuseLoneChoice } from './tool-words.ts';
import { TURNS_AT_ONCE } from './turns-at-once.ts';
import { cannotForce, isOn, isSentBack, turnsFor, writeEffort, writeThinking } from './write-thinking.ts';

/** The body for a provider that speaks the messages format, but for what the gateway writes into every body. */
export function writeMessages(
  conversation: Conversation,
  asked: AskedModel,
  unsupported: UnsupportedFields,
  marks: NumberMarks,
): Work<WrittenMessages> {
  const limits = claudeLimits(asked.upstreamModel);
  const thinking = writeThinking(conversation, asked, limits);
  const thinks = isOn(thinking);
  if (conversation.verbosity !== null) unsupported.leaveOut(conversation.verbosity.at);
  refuseLoneChoice(conversation, unsupported);
  const { system, turns } = withUser(conversation, turnsFor(conversation, limits, thinking));
  const schemas = writeSchemas(conversation, limits, unsupported, marks);
  const say = ({ argumentNames }: WrittenSchemas): Work<Message[]> =>
    writeTurns(turns, roomOf(argumentNames, marks), unsupported);
  const write = (
    { tools, format, instruction, argumentNames }: WrittenSchemas,
    messages: Message[],
  ): WrittenMessages => {
    const goesOn = limits?.continuesAnswers === true && !thinks && format === undefined;
    const body = {
      ...writeCache(conversation),
      system: writeSystem(system, instruction),
      messages: withLastWords(messages, conversation, limits, goesOn),
      max_tokens: asked.outputTokensCap,
      tools,
      tool_choice: tools === undefined ? undefined : writeToolChoice(conversation, limits, unsupported),
      ...writeSampling(conversation, limits, thinks, unsupported),
      stop_sequences: writeStop(conversation, unsupported),
      thinking,
      output_config: writeOutputConfig(writeEffort(conversation, asked, limits), format),
    };
    return { body, argumentNames };
  };
  if (!isSteps(schemas)) {
    const messages = say(schemas);
    if (!isSteps(messages)) return write(schemas, messages);
  }
  return writeInSteps(schemas, say, write);
}

function* writeInSteps(
  schemas: Work<WrittenSchemas>,
  say: (schemas: WrittenSchemas) => Work<Message[]>,
  write: (schemas: WrittenSchemas, messages: Message[]) => WrittenMessages,
): Steps<WrittenMessages> {
  const written = isSteps(schemas) ? yield* schemas : schemas;
  const messages = say(written);
  return write(written, isSteps(messages) ? yield* messages : messages);
}

export interface WrittenMessages {
  body: object;
  /** Arguments that have other names in the body. */
  argumentNames: ArgumentNames;
}

/**
 * The format wants the user to speak first. Instructions alone are what the user says, and an answer at the beginning, such as a
 * greeting, gets a word before it.
 */
function withUser(
  { system }: Pick<Conversation, 'system'>,
  turns: readonly Turn[],
): { system: readonly TextPart[]; turns: readonly Turn[] } {
  if (turns.length === 0 && system.some(saysSomething))
    return { system: [], turns: [{ role: 'user', parts: system }] };
  const firstAnswer = turns.findIndex(({ role }) => role === 'assistant');
  const isFirst = turns
    .slice(0, firstAnswer + 1)
    .every(({ role, parts }) => role === 'assistant' || (role !== 'tool' && !parts.some(saysSomething)));
  if (firstAnswer < 0 || !isFirst || !turns[firstAnswer]?.parts.some(saysSomething)) return { system, turns };
  return { system, turns: [{ role: 'user', parts: [{ type: 'text', text: BEGIN }] }, ...turns] };
}

const BEGIN = 'Begin.';

/** The format refuses a sequence that is nothing but white space. */
function writeStop({ stop }: Conversation, unsupported: UnsupportedFields): readonly string[] | undefined {
  const sequences = stop.filter((sequence) => /\S/.test(sequence));
  if (sequences.length < stop.length) unsupported.leaveOut('stop');
  return sequences.length === 0 ? undefined : sequences;
}

function writeSystem(system: readonly TextPart[], instruction: string | null): unknown {
  const parts = instruction === null ? system : [...system, { type: 'text' as const, text: instruction }];
  if (parts.length === 0) return undefined;
  if (parts.every(({ cache }) => cache === undefined)) return parts.map(({ text }) => text).join('\n\n');
  return parts.filter(saysSomething).map(writeText);
}

interface Message {
  role: 'user' | 'assistant';
  content: object[];
}

/** The results of all calls of one answer have to stand in the one message after it, before the user's own words. */
function writeTurns(turns: readonly Turn[], room: Room, unsupported: UnsupportedFields): Work<Message[]> {
  const said: Said = { messages: [], isSilent: false };
  const isShort = turns.length <= TURNS_AT_ONCE && turns.every(isAsked);
  if (!isShort) return writeTurnsInSteps(turns, said, room, unsupported);
  for (const turn of turns) addTurn(turn, said, room, unsupported);
  return endTurns(said, unsupported);
}

interface Said {
  messages: Message[];
  /** The user has said nothing since the last message. */
  isSilent: boolean;
}

/** The JSON in the arguments of calls may be as large as the body. */
function* writeTurnsInSteps(
  turns: readonly Turn[],
  said: Said,
  room: Room,
  unsupported: UnsupportedFields,
): Steps<Message[]> {
  for (const [index, turn] of turns.entries()) {
    if (room.readChars >= READ_AT_ONCE || index % TURNS_AT_ONCE === TURNS_AT_ONCE - 1) {
      room.readChars = 0;
      yield 'write';
    }
    addTurn(turn, said, room, unsupported);
  }
  return endTurns(said, unsupported);
}

function addTurn(turn: Turn, said: Said, room: Room, unsupported: UnsupportedFields): void {
  const role = turn.role === 'assistant' ? 'assistant' : 'user';
  const content = writeTurn(turn, room, unsupported);
  const last = said.messages.at(-1);
  if (content.length === 0) {
    if (turn.role === 'user') said.isSilent = true;
    return;
  }
  // The provider takes no message that says nothing. Left out between two answers, it would make one of them.
  if (said.isSilent && last?.role === 'assistant' && role === 'assistant') refuseSilence(unsupported);
  said.isSilent = false;
  if (last?.role === role) last.content.push(...content);
  else said.messages.push({ role, content });
}

function endTurns({ messages, isSilent }: Said, unsupported: UnsupportedFields): Message[] {
  // Left out at the end, it would have the answer before it go on.
  if (isSilent && messages.at(-1)?.role !== 'user') refuseSilence(unsupported);
  if (messages.length === 0) unsupported.add('messages', 'a conversation without a message of the user');
  return messages;
}

const refuseSilence = (unsupported: UnsupportedFields): void =>
  unsupported.add('content', 'a message that says nothing');

/**
 * A choice of tools that the model cannot be held to is asked of it in words. Where it continues no answer, thinks
 * first, or is held to a schema, it is told to go on.
 *
 * @param goesOn Whether it continues an answer.
 */
function withLastWords(
  messages: Message[],
  conversation: Conversation,
  limits: ClaudeLimits | null,
  goesOn: boolean,
): Message[] {
  const last = messages.at(-1);
  if (last === undefined || limits === null) return messages;
  const words: object[] = [];
  if (last.role === 'assistant') {
    if (goesOn) trimEnd(last);
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
      return [
        {
          type: 'text',
          text: systemText(turn.parts),
          ...writeCache(turn.parts.findLast(({ cache }) => cache !== undefined) ?? {}),
        },
      ];
    case 'user':
      return named(turn.parts.filter(saysSomething), turn.name).map((part) => writePart(part, unsupported));
    case 'assistant':
      return turn.parts.filter(saysSomething).flatMap((part) => writeAssistantPart(part, room, unsupported));
    case 'tool':
      return [
        {
          type: 'tool_result',
          tool_use_id: messagesCallId(turn.callId),
          content: turn.parts.filter(saysSomething).map((part) => writePart(part, unsupported)),
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

const writeText = (part: TextPart): object => ({ type: 'text', text: part.text, ...writeCache(part) });

function writePart(part: UserPart, unsupported: UnsupportedFields): object {
  switch (part.type) {
    case 'text':
      return writeText(part);
    case 'image':
      // The model chooses by the size of the image how much of it is read.
      if (part.detail !== null && part.detail !== 'auto') unsupported.leaveOut(detailOf(part.at));
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

/** The name of the field; a chat has it beside the link. */
const detailOf = (at: string): string => `${at}${at.startsWith('messages') ? '.image_url' : ''}.detail`;

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
          input: givenArguments(
            writeInput(part.argumentsJson, room, unsupported),
            room.givenNames.get(part.name),
          ),
          ...writeCache(part),
        },
      ];
    case 'reasoning':
      if (!isSentBack(part)) return [];
      return part.encrypted !== null
        ? [{ type: 'redacted_thinking', data: part.encrypted }]
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
  /** The names that arguments of earlier calls have at the provider. */
  givenNames: ArgumentNames;
}

const roomOf = (argumentNames: ArgumentNames, marks: NumberMarks): Room => ({
  ...{ keys: JSON_KEYS_MAX, values: JSON_VALUES_MAX, readChars: 0 },
  ...{ marks, givenNames: givenNames(argumentNames) },
});

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
const writeOutputConfig = (
  effort: string | undefined,
  format: WrittenSchemas['format'],
): object | undefined => (effort === undefined && format === undefined ? undefined : { effort, format });
