import type { FormatName } from '#core/catalog/catalog.ts';
import type { Dialect } from '#core/catalog/dialect.ts';
import { isRecord } from '#core/is-record.ts';
import type { JsonMember, JsonObject, MemberChanges } from '../json/json-object.ts';
import type { MediaCount } from '../linked-images/linked-media.ts';
import { findStrayLink } from '../policy/member-policy.ts';
import { addUnsupportedPlugins } from './add-unsupported-plugins.ts';
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

/**
 * The first field of a body that a server of this dialect cannot be sent; `null`: there is none. With such a field the server is
 * not asked at all, because a caller would miss a field that was left out in silence.
 */
export function findUnsupportedByDialect(
  dialect: Dialect,
  { format, body, value, media, plain }: AskedBody,
): UnsupportedField | null {
  if (dialect.images === 'inline' && media.firstByLinkAt !== null) {
    return { param: media.firstByLinkAt, words: 'a file by its link' };
  }
  // The server would follow it from inside the operator's network.
  const stray = dialect.images === 'inline' && value !== null ? findStrayLink(format, value) : null;
  if (stray !== null) return { param: stray, words: 'a link where none is read' };
  if (plain && value !== null) {
    const unsupported =
      findUnsupportedRouterField(value) ?? (format === 'chat' ? findUnsupportedReasoning(value) : null);
    if (unsupported !== null) return unsupported;
  }
  if (takesAll(dialect)) return null;
  if (dialect.knownAnswerFormatsOnly && value !== null) {
    const unsupported = findUnknownFormat(value);
    if (unsupported !== null) return unsupported;
  }
  const unsupported = body.members.find(
    (member) => !isTaken(dialect, format, member.key) && !HINTS.has(member.key) && !asksNothing(body, member),
  );
  if (unsupported !== undefined) return { param: unsupported.key, words: null };
  return dialect.refusedFields.has(MESSAGE_NAME) ? findNamedMessage(value) : null;
}

function findUnsupportedRouterField(value: Readonly<Record<string, unknown>>): UnsupportedField | null {
  const unsupported = new UnsupportedFields();
  addUnsupportedPlugins(value, unsupported);
  return unsupported.first;
}

/** Hints, and fields that ask for what happens anyway: a server that does not take them gets none. */
export function leaveOutUntaken(
  dialect: Dialect,
  format: FormatName,
  body: JsonObject,
  changes: MemberChanges,
): void {
  if (takesAll(dialect)) return;
  for (const { key } of body.members) if (!isTaken(dialect, format, key)) changes.set(key, null);
}

const takesAll = ({ fields, refusedFields }: Dialect): boolean => fields === null && refusedFields.size === 0;

const isTaken = ({ fields, refusedFields }: Dialect, format: FormatName, key: string): boolean =>
  OURS.has(key) || CAPS.has(key) || (!refusedFields.has(key) && (fields === null || fields[format].has(key)));

/** Read where it lies, because a body may have 20,000 such members. What is longer asks for something. */
function asksNothing({ bytes }: JsonObject, { key, valueStartsAt, endsAt }: JsonMember): boolean {
  if (endsAt - valueStartsAt > NOTHING_CHARS_MAX) return false;
  const value: unknown = JSON.parse(bytes.toString('utf8', valueStartsAt, endsAt));
  return value === null || saysNothing(key, value);
}

/** The length of the longest value that asks for what happens anyway, with room for blanks in it. */
const NOTHING_CHARS_MAX = 64;

/** A plain server knows the effort alone, and its answer is shown as it came, with its reasoning. */
function findUnsupportedReasoning(value: Readonly<Record<string, unknown>>): UnsupportedField | null {
  const unsupported = new UnsupportedFields();
  const given = unsupported.record(value.reasoning, 'reasoning');
  unsupported.unknown(given, 'reasoning.', CHAT_REASONING);
  const effort = value.reasoning_effort ?? given.effort;
  // Not every server knows `none`, so the gateway does not write it for a caller.
  if ((given.enabled ?? true) !== true && effort !== 'none') unsupported.add('reasoning.enabled');
  if ((given.exclude ?? false) !== false) unsupported.add('reasoning.exclude');
  return unsupported.first;
}

function findUnknownFormat({
  response_format: format,
}: Readonly<Record<string, unknown>>): UnsupportedField | null {
  const isKnown = !isRecord(format) || (format.type ?? null) === null || ANSWER_FORMATS.has(format.type);
  return isKnown ? null : { param: 'response_format.type', words: null };
}

const ANSWER_FORMATS: ReadonlySet<unknown> = new Set(['text', 'json_object', 'json_schema']);

const CAPS: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens', 'max_output_tokens']);

const MESSAGE_NAME = 'messages[].name';

function findNamedMessage(value: AskedBody['value']): UnsupportedField | null {
  const messages = Array.isArray(value?.messages) ? value.messages : [];
  const index = messages.findIndex((message) => isRecord(message) && (message.name ?? null) !== null);
  return index < 0 ? null : { param: `messages[${index}].name`, words: null };
}
