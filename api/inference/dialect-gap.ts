import type { FormatName } from '#core/catalog/catalog.ts';
import type { Dialect } from '#core/catalog/dialects.ts';
import { isRecord } from '#core/is-record.ts';
import { type JsonObject, type MemberChanges, memberText } from './json-object.ts';
import type { MediaCount } from './linked-media.ts';
import { type Gap, HINTS, OURS, saysNothing } from './translation/gaps.ts';

export interface AskedBody {
  format: FormatName;
  /** As it would be sent, but for what the gateway writes. */
  body: JsonObject;
  /** Parsed, in the caller's own format. `null`: translated, and nothing is left in it that has no words there. */
  value: Readonly<Record<string, unknown>> | null;
  media: MediaCount;
}

/**
 * What of a body a server of this dialect cannot be sent, by its name; `null`: nothing. It is not asked at all then: what
 * is left out in silence is missed by whoever sent it.
 */
export function findDialectGap(dialect: Dialect, { format, body, value, media }: AskedBody): Gap | null {
  if (dialect.images === 'inline' && media.firstAt !== null) {
    return { param: media.firstAt, words: 'a picture or file by its link' };
  }
  if (takesAll(dialect)) return null;
  const gap = body.members.find(
    ({ key }) => !isTaken(dialect, format, key) && !HINTS.has(key) && !asksNothing(body, key),
  );
  if (gap !== undefined) return { param: gap.key, words: null };
  return dialect.refusedFields.has(MESSAGE_NAME) ? findNamedMessage(value) : null;
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

function asksNothing(body: JsonObject, key: string): boolean {
  const value: unknown = JSON.parse(memberText(body, key) ?? 'null');
  return value === null || saysNothing(key, value);
}

const CAPS: ReadonlySet<string> = new Set(['max_tokens', 'max_completion_tokens', 'max_output_tokens']);

const MESSAGE_NAME = 'messages[].name';

function findNamedMessage(value: AskedBody['value']): Gap | null {
  const messages = Array.isArray(value?.messages) ? value.messages : [];
  const index = messages.findIndex((message) => isRecord(message) && (message.name ?? null) !== null);
  return index < 0 ? null : { param: `messages[${index}].name`, words: null };
}
