import type { FormatName } from '#core/catalog/catalog.ts';
import type { Dialect } from '#core/catalog/dialect.ts';
import { isRecord } from '#core/is-record.ts';
import type { JsonMember, JsonObject, MemberChanges } from '../json/json-object.ts';
import { memberText } from '../json/json-object.ts';
import type { MediaCount } from '../linked-images/linked-media.ts';
import { findStrayLink } from '../policy/member-policy.ts';
import { nameUnsupportedPlugins } from './name-unsupported-plugins.ts';
import { CHAT_REASONING } from './reasoning-words.ts';
import { HINTS, OURS, saysNothing, type UnsupportedField, UnsupportedFields } from './unsupported-fields.ts';

export interface AskedBody {
  format: FormatName;
  /** As it would be sent, but for what the gateway writes. */
  body: JsonObject;
  /** Parsed, in the caller's own format. `null`: translated, and nothing is left in it that has no words there. */
  value: Readonly<Record<string, unknown>> | null;
  media: MediaCount;
  /** The server is no router. */
  plain: boolean;
}

export interface DialectFit {
  /** The reason not to ask a server of this dialect; `null`: there is none. */
  refused: UnsupportedField | null;
  /** The names of the fields that it is not sent, as the caller wrote them. */
  leftOut: readonly string[];
}

/** What a server of this dialect cannot be sent of a body: the fields that are left out, and the reason not to ask it at all. */
export function fitToDialect(dialect: Dialect, asked: AskedBody): DialectFit {
  const { format, body, value, media, plain } = asked;
  const unsupported = UnsupportedFields.ofRequest();
  if (dialect.images === 'inline' && media.firstByLinkAt !== null)
    unsupported.add(media.firstByLinkAt, 'a file by its link');
  // The server would follow it from inside the operator's network.
  const stray = dialect.images === 'inline' && value !== null ? findStrayLink(format, value) : null;
  if (stray !== null) unsupported.add(stray, 'a link where none is read');
  if (plain && value !== null) {
    nameUnsupportedPlugins(value, unsupported);
    nameUnsupportedOrder(value.provider, unsupported);
    if (format === 'chat') nameUnsupportedReasoning(value, unsupported);
  }
  if (!takesAll(dialect)) {
    for (const member of body.members) {
      if (isSent(dialect, asked, member)) continue;
      // The price of all answers was held, and the caller waits for them.
      if (member.key === 'n') unsupported.add('n', 'more than one answer');
      else unsupported.leaveOut(member.key);
    }
    if (leavesOutFormat(dialect, body)) unsupported.leaveOut(ANSWER_FORMAT);
    if (dialect.refusedFields.has(MESSAGE_NAME)) nameMessages(value, unsupported);
  }
  return { refused: unsupported.first, leftOut: unsupported.leftOut };
}

/** A hint, or a field that asks for what happens anyway, is missed by nobody. */
const isSent = (dialect: Dialect, { format, body }: AskedBody, member: JsonMember): boolean =>
  isTaken(dialect, format, member.key) || HINTS.has(member.key) || asksNothing(body, member);

/** Leaves out of a body what a server of this dialect does not take. */
export function leaveOutUntaken(
  dialect: Dialect,
  format: FormatName,
  body: JsonObject,
  changes: MemberChanges,
): void {
  if (takesAll(dialect)) return;
  for (const { key } of body.members) if (!isTaken(dialect, format, key)) changes.set(key, null);
  if (leavesOutFormat(dialect, body)) changes.set(ANSWER_FORMAT, null);
  if (dialect.refusedFields.has(MESSAGE_NAME)) leaveOutNames(body, changes);
}

const takesAll = ({ fields, refusedFields }: Dialect): boolean => fields === null && refusedFields.size === 0;

const isTaken = ({ fields, refusedFields }: Dialect, format: FormatName, key: string): boolean =>
  OURS.has(key) || CAPS.has(key) || (!refusedFields.has(key) && (fields === null || fields[format].has(key)));

const CAPS: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens', 'max_output_tokens']);

/** Read where it lies, because a body may have 20,000 such members. What is longer asks for something. */
function asksNothing({ bytes }: JsonObject, { key, valueStartsAt, endsAt }: JsonMember): boolean {
  if (endsAt - valueStartsAt > NOTHING_CHARS_MAX) return false;
  const value: unknown = JSON.parse(bytes.toString('utf8', valueStartsAt, endsAt));
  return value === null || saysNothing(key, value);
}

/** The length of the longest value that asks for what happens anyway, with room for blanks in it. */
const NOTHING_CHARS_MAX = 64;

/** A plain server knows the effort alone, and its answer is shown as it came, with its reasoning. */
function nameUnsupportedReasoning(
  value: Readonly<Record<string, unknown>>,
  unsupported: UnsupportedFields,
): void {
  const given = unsupported.record(value.reasoning, 'reasoning');
  unsupported.unknown(given, 'reasoning.', CHAT_REASONING);
  const effort = value.reasoning_effort ?? given.effort;
  // Not every server knows `none`, so the gateway does not write it for a caller.
  if ((given.enabled ?? true) !== true && effort !== 'none') unsupported.leaveOut('reasoning.enabled');
  if ((given.exclude ?? false) !== false) unsupported.leaveOut('reasoning.exclude');
}

/** Names of a router's providers say nothing to any other server. */
function nameUnsupportedOrder(provider: unknown, unsupported: UnsupportedFields): void {
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

function nameMessages(value: AskedBody['value'], unsupported: UnsupportedFields): void {
  const messages = Array.isArray(value?.messages) ? value.messages : [];
  for (const [index, message] of messages.entries())
    if (isNamed(message)) unsupported.leaveOut(`messages[${index}].name`);
}

function leaveOutNames(body: JsonObject, changes: MemberChanges): void {
  const text = memberText(body, 'messages');
  const messages: unknown = text?.includes('"name"') === true ? JSON.parse(text) : null;
  if (!Array.isArray(messages) || !messages.some(isNamed)) return;
  changes.set('messages', JSON.stringify(messages.map(withoutName)));
}

function withoutName(message: unknown): unknown {
  if (!isNamed(message)) return message;
  const { name: _, ...rest } = message;
  return rest;
}
