import type { FormatName } from '#core/catalog/catalog.ts';
import type { Dialect } from '#core/catalog/dialect.ts';
import { isRecord } from '#core/is-record.ts';
import { type JsonMember, type JsonObject, type MemberChanges, memberText } from '../json/json-object.ts';
import type { MediaCount } from '../linked-images/linked-media.ts';
import { findStrayLink } from '../policy/member-policy.ts';
import { hasSchema, SCHEMA_WORDS_TOKENS, tellSchema } from './answer-schema.ts';
import { editMember, sentBytes } from './edit-member.ts';
import { fitCalls } from './fit-calls.ts';
import { cacheMarksIn, fitAnswers, withoutCacheMarks } from './fit-history.ts';
import { bytesAdded, fitTurns } from './fit-turns.ts';
import { narrowsTools, narrowTools } from './function-tools.ts';
import { nameUnsupportedPlugins } from './name-unsupported-plugins.ts';
import { type ParameterFit, writePlainParameters } from './open-parameters.ts';
import {
  asksReasoning,
  asksRest,
  CHAT_REASONING,
  isForced,
  nameReasoning,
  takenEffort,
} from './reasoning-words.ts';
import {
  HANDLED,
  HINTS,
  maySayNothing,
  OURS,
  saysNothing,
  type UnsupportedField,
  UnsupportedFields,
} from './unsupported-fields.ts';
import { recordOf, textOrNull } from './values.ts';

export interface AskedBody {
  format: FormatName;
  /** As it would be sent, but for what the gateway writes. */
  body: JsonObject;
  /** Parsed, in the caller's own format. `null`: translated, and nothing is left in it that has no words there. */
  value: Readonly<Record<string, unknown>> | null;
  media: MediaCount;
  /** The server is no router. */
  plain: boolean;
  /** How the parameters of functions are changed; `null`: they are sent as they are, or are translated. */
  parameters: ParameterFit | null;
}

export interface DialectFit {
  /** The reason not to ask a server of this dialect; `null`: there is none. */
  refused: UnsupportedField | null;
  /** The names of the fields that it is not sent, as the caller wrote them. */
  leftOut: readonly string[];
  /** The same of hints, which change no answer. */
  hints: readonly string[];
  /** Messages, tools or the format of the answer are not as it takes them (`fitChat`). */
  editsChat: boolean;
  /** By how much the prompt is longer than the caller's, at most, through words that the gateway adds. */
  addedTokens: number;
}

/** Finds what a server of this dialect cannot be sent of a body: the fields that are left out, and the reason not to ask it at all. */
export function fitToDialect(dialect: Dialect, asked: AskedBody): DialectFit {
  const { format, body, value, media, plain, parameters } = asked;
  const unsupported = UnsupportedFields.ofRequest();
  const chat = format === 'chat' && value !== null ? fitParsedChat(dialect, value) : null;
  for (const place of parameters?.unheld ?? []) unsupported.leaveOut(place);
  if (dialect.images === 'inline' && media.firstByLinkAt !== null)
    unsupported.add(media.firstByLinkAt, 'a file by its link');
  // The server would follow it from inside the operator's network. What it is not sent of earlier answers leads nowhere.
  const { input, system, messages } = value ?? {};
  const sent = value === null ? null : { input, system, messages: chat === null ? messages : chat.answers };
  const stray = dialect.images === 'inline' && sent !== null ? findStrayLink(format, sent) : null;
  if (stray !== null) unsupported.add(stray, 'a link where none is read');
  if (plain && value !== null) {
    nameUnsupportedPlugins(value, unsupported);
    nameUnsupportedOrder(value.provider, unsupported);
    nameUnsupportedReasoning(format, value, dialect, unsupported);
    if (chat?.tellsSchema === true) unsupported.leaveOut(`${ANSWER_FORMAT}.json_schema`);
  }
  if (value !== null) nameHints(value, { format, plain, dialect }, unsupported);
  if (!takesAll(dialect)) {
    for (const member of body.members) {
      if (isSent(dialect, asked, member)) continue;
      // The price of all answers was held, and the caller waits for them.
      if (member.key === 'n') unsupported.add('n', 'more than one answer');
      else if (!HINTS.has(member.key)) unsupported.leaveOut(member.key);
      else if (!HANDLED.has(member.key)) unsupported.leaveOutHint(member.key);
    }
    if (leavesOutFormat(dialect, body)) unsupported.leaveOut(ANSWER_FORMAT);
    if (dialect.refusedFields.has(MESSAGE_NAME)) nameMessages(value, unsupported);
  }
  const { first: refused, leftOut, hints } = unsupported;
  return {
    refused,
    leftOut,
    hints,
    editsChat: chat !== null && (chat.isEdited || parameters?.isEdited === true),
    addedTokens: (chat?.addedTokens ?? 0) + (parameters?.addedTokens ?? 0),
  };
}

/** A field that asks for what happens anyway is missed by nobody. */
const isSent = (dialect: Dialect, { format, body }: AskedBody, member: JsonMember): boolean =>
  isTaken(dialect, format, member.key) || asksNothing(body, member);

/** Hints that are left out whichever fields the server takes. */
function nameHints(
  value: Readonly<Record<string, unknown>>,
  { format, plain, dialect }: Pick<AskedBody, 'format' | 'plain'> & { dialect: Dialect },
  unsupported: UnsupportedFields,
): void {
  for (const name of NEVER_SENT) if ((value[name] ?? null) !== null) unsupported.leaveOutHint(name);
  if (plain && (value.session_id ?? null) !== null) unsupported.leaveOutHint('session_id');
  if (format === 'messages') {
    if (plain && (value.user ?? null) !== null) unsupported.leaveOutHint('user');
    // No more of it is sent than the tag for whom the call is.
    const names = Object.keys(recordOf(value.metadata)).filter((name) => name !== 'user_id');
    for (const name of names.slice(0, NAMED_MAX)) unsupported.leaveOutHint(`metadata.${name}`);
  }
  if (format !== 'chat' || dialect.answerMembers === null) return;
  if ((value[CACHE_MARK] ?? null) !== null) unsupported.leaveOutHint(CACHE_MARK);
  for (const member of MARKED)
    for (const place of cacheMarksIn(value[member], member)) unsupported.leaveOutHint(place);
}

/** A header has room for few. */
const NAMED_MAX = 100;
const NEVER_SENT = ['client_metadata', 'trace', 'thread'];
const CACHE_MARK = 'cache_control';
const MARKED = ['messages', 'tools'] as const;

const fitMarks = (list: unknown, dialect: Dialect): unknown =>
  dialect.answerMembers === null ? list : withoutCacheMarks(list);

interface ParsedFit {
  /** The messages at their places, without the members of earlier answers that the server does not take. */
  answers: unknown;
  isEdited: boolean;
  tellsSchema: boolean;
  addedTokens: number;
}

/** Finds out whether, and by how much, `fitChat` changes a chat. */
function fitParsedChat(dialect: Dialect, value: Readonly<Record<string, unknown>>): ParsedFit {
  const { messages, tools } = value;
  const given = Array.isArray(messages) ? messages : [];
  const calls = fitCalls(given, dialect);
  const answers = fitAnswers(calls.messages, dialect);
  const fitted = fitTurns(answers, dialect);
  const tellsSchema = !dialect.takesSchemas && hasSchema(value[ANSWER_FORMAT]);
  const isSame = fitted === given && fitMarks(given, dialect) === given && fitMarks(tools, dialect) === tools;
  return {
    answers,
    isEdited: !isSame || tellsSchema || narrowsTools(dialect, value.tool_choice),
    tellsSchema,
    addedTokens:
      calls.addedBytes + bytesAdded(answers, fitted, dialect) + (tellsSchema ? SCHEMA_WORDS_TOKENS : 0),
  };
}

/** Writes messages, tools and the format of the answer as a server of this dialect takes them. */
export function fitChat(dialect: Dialect, body: JsonObject, changes: MemberChanges): void {
  if (!dialect.takesSchemas) tellSchema(body, changes);
  narrowTools(dialect, body, changes);
  if (!dialect.takesSchemaChoices) writePlainParameters(body, changes);
  const fitMessages = (list: unknown): unknown =>
    Array.isArray(list)
      ? fitMarks(fitTurns(fitAnswers(fitCalls(list, dialect).messages, dialect), dialect), dialect)
      : list;
  editMember(body, 'messages', fitMessages, changes);
  editMember(body, 'tools', (list) => fitMarks(list, dialect), changes);
}

/** Leaves out of a body what a server of this dialect does not take. */
export function leaveOutUntaken(
  dialect: Dialect,
  format: FormatName,
  body: JsonObject,
  changes: MemberChanges,
): void {
  if (format === 'chat' && dialect.answerMembers !== null) changes.set(CACHE_MARK, null);
  if (takesAll(dialect)) return;
  for (const { key } of body.members) if (!isTaken(dialect, format, key)) changes.set(key, null);
  if (leavesOutFormat(dialect, body)) changes.set(ANSWER_FORMAT, null);
  if (dialect.refusedFields.has(MESSAGE_NAME)) leaveOutNames(body, changes);
}

const takesAll = ({ fields, refusedFields, refusedChatFields }: Dialect): boolean =>
  fields === null && refusedFields.size === 0 && refusedChatFields.size === 0;

const isTaken = (dialect: Dialect, format: FormatName, key: string): boolean =>
  OURS.has(key) || CAPS.has(key) || (!isRefused(dialect, format, key) && isListed(dialect, format, key));

const isRefused = ({ refusedFields, refusedChatFields }: Dialect, format: FormatName, key: string): boolean =>
  refusedFields.has(key) || (format === 'chat' && refusedChatFields.has(key));

const isListed = ({ fields }: Dialect, format: FormatName, key: string): boolean =>
  fields === null || fields[format].has(key);

const CAPS: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens', 'max_output_tokens']);

/** Read where it lies, because a body may have thousands of such members. What is longer asks for something. */
function asksNothing({ bytes }: JsonObject, { key, valueStartsAt, endsAt }: JsonMember): boolean {
  if (bytes[valueStartsAt] === NULL_BEGINS) return true;
  if (!maySayNothing(key) || endsAt - valueStartsAt > NOTHING_CHARS_MAX) return false;
  return saysNothing(key, JSON.parse(bytes.toString('utf8', valueStartsAt, endsAt)));
}

/** No other value of JSON begins with this letter. */
const NULL_BEGINS = 0x6e;
/** The length of the longest value that asks for what happens anyway, with room for blanks in it. */
const NOTHING_CHARS_MAX = 64;

/** A plain server of the chat format knows the effort alone, and its answer is shown as it came, with its reasoning. */
function nameUnsupportedReasoning(
  format: FormatName,
  value: Readonly<Record<string, unknown>>,
  { efforts, restsByThinking }: Dialect,
  unsupported: UnsupportedFields,
): void {
  if (format === 'messages') return;
  if (restsByThinking && isForced(value.tool_choice) && asksReasoning(value))
    nameReasoning(value, unsupported);
  const given =
    format === 'chat' ? unsupported.record(value.reasoning, 'reasoning') : recordOf(value.reasoning);
  const named = format === 'chat' ? textOrNull(value.reasoning_effort) : null;
  const inside = textOrNull(given.effort);
  const isLost = (effort: string): boolean =>
    takenEffort(effort, efforts) === undefined && !(format === 'chat' && restsByThinking);
  if (named !== null && isLost(named)) unsupported.leaveOut('reasoning_effort');
  if (inside !== null && (named === null ? isLost(inside) : inside !== named))
    unsupported.leaveOut('reasoning.effort');
  if (format !== 'chat') return;
  unsupported.unknown(given, 'reasoning.', CHAT_REASONING);
  // Not every server knows `none`, so the gateway does not write it for a caller.
  const rests = (named ?? inside) === 'none' || (restsByThinking && asksRest(named, given));
  if ((given.enabled ?? true) !== true && !rests) unsupported.leaveOut('reasoning.enabled');
  if ((given.exclude ?? false) !== false) unsupported.leaveOut('reasoning.exclude');
}

/** Names of a router's providers say nothing to any other server. */
export function nameUnsupportedOrder(provider: unknown, unsupported: UnsupportedFields): void {
  if (isRecord(provider) && Array.isArray(provider.order) && provider.order.length > 0)
    unsupported.leaveOut('provider.order');
}

const ANSWER_FORMAT = 'response_format';
const ANSWER_FORMATS: ReadonlySet<unknown> = new Set(['text', 'json_object', 'json_schema']);

/** A pattern or a grammar can hold up a server that the operator runs for all callers. */
function leavesOutFormat({ knownAnswerFormatsOnly }: Dialect, body: JsonObject): boolean {
  const text = knownAnswerFormatsOnly ? memberText(body, ANSWER_FORMAT) : undefined;
  const format: unknown = text === undefined ? null : JSON.parse(text);
  return isRecord(format) && (format.type ?? null) !== null && !ANSWER_FORMATS.has(format.type);
}

const MESSAGE_NAME = 'messages[].name';

const isNamed = (message: unknown): message is Record<string, unknown> =>
  isRecord(message) && (message.name ?? null) !== null;

/** The name in an earlier answer is what its vendor calls its model, and asks for nothing. */
function nameMessages(value: AskedBody['value'], unsupported: UnsupportedFields): void {
  const messages = Array.isArray(value?.messages) ? value.messages : [];
  for (const [index, message] of messages.entries())
    if (isNamed(message) && message.role !== 'assistant') unsupported.leaveOut(`messages[${index}].name`);
}

function leaveOutNames(body: JsonObject, changes: MemberChanges): void {
  if (sentBytes(body, 'messages', changes)?.includes(NAME) !== true) return;
  editMember(
    body,
    'messages',
    (messages) => (Array.isArray(messages) && messages.some(isNamed) ? messages.map(withoutName) : messages),
    changes,
  );
}

const NAME = Buffer.from('"name"');

function withoutName(message: unknown): unknown {
  if (!isNamed(message)) return message;
  const { name: _, ...rest } = message;
  return rest;
}
