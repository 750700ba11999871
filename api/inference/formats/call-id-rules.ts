import { createHash } from 'node:crypto';
import type { CallIdRule } from '#core/catalog/dialect.ts';
import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { editMember, sentBytes } from './edit-member.ts';
import { mapRecords } from './values.ts';

/*
 * The ids of tool calls, as one server takes them. Another server has chosen them, and the caller sends them back. The same id is always
 * written in the same way, so that a result stays with its call and a provider's cache of the conversation stays good. No id grows
 * by more bytes than the quotes and braces around a call have, which the bound of a prompt counts as well.
 */

/** @param rule `null`: the server takes every id. */
export function fitCallId(id: string, rule: CallIdRule | null): string {
  if (rule === null || isTaken(id, rule)) return id;
  const bytes = createHash('sha256').update(id).digest().subarray(0, Math.min(rule.charsMax, HASH_CHARS));
  return [...bytes].map((byte) => LETTERS[byte % LETTERS.length]).join('');
}

const isTaken = (id: string, { charsMin, charsMax, isAlphanumeric }: CallIdRule): boolean =>
  id.length >= charsMin && id.length <= charsMax && (!isAlphanumeric || /^[a-zA-Z0-9]*$/.test(id));

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const HASH_CHARS = 24;

/** An id in the letters that servers of the messages format take. Two ids may differ in the other letters alone. */
export function messagesCallId(id: string): string {
  if (/^[\w-]+$/.test(id)) return id;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, MESSAGES_HASH_CHARS);
  return `${id.replaceAll(/[^\w-]/g, '_')}_${hash}`;
}

const MESSAGES_HASH_CHARS = 8;

/**
 * Writes the ids of earlier calls in a messages body in the letters of the format. A caller may have been shown others by a chat server.
 *
 * @param upstreamModel Kimi gives ids such as `functions.get:0` in every format and reads the tool's name in them, so it keeps them.
 */
export function fitMessagesCallIds(body: JsonObject, upstreamModel: string, changes: MemberChanges): void {
  const bytes = sentBytes(body, 'messages', changes);
  if (bytes === null || /kimi/i.test(upstreamModel) || !hasId(bytes, RESULT_ID, isForeign)) return;
  editMember(body, 'messages', (messages) => mapIfList(messages, fitMessage), changes);
}

const fitMessage = (message: Item): Item => {
  const content = mapIfList(message.content, fitBlock);
  return content === message.content ? message : { ...message, content };
};

function fitBlock(block: Item): Item {
  if (block.type === 'tool_use') return withId(block, 'id', messagesCallId);
  return block.type === 'tool_result' ? withId(block, 'tool_use_id', messagesCallId) : block;
}

/** Writes the ids of earlier calls in a responses body as the server takes them. */
export function fitResponsesCallIds(body: JsonObject, rule: CallIdRule | null, changes: MemberChanges): void {
  const bytes = rule === null ? null : sentBytes(body, 'input', changes);
  if (rule === null || bytes === null || !hasId(bytes, CALL_ID, (id) => !isTaken(id, rule))) return;
  const fitItem = (item: Item): Item => withId(item, 'call_id', (id) => fitCallId(id, rule));
  editMember(body, 'input', (input) => mapIfList(input, fitItem), changes);
}

type Item = Readonly<Record<string, unknown>>;

const mapIfList = (value: unknown, map: (each: Item) => Item): unknown =>
  Array.isArray(value) ? mapRecords(value, map) : value;

function withId(item: Item, member: string, fitted: (id: string) => string): Item {
  const id = item[member];
  if (typeof id !== 'string') return item;
  const written = fitted(id);
  return written === id ? item : { ...item, [member]: written };
}

/** Each call is refused without its result, so the ids of results tell of all calls. */
const RESULT_ID = Buffer.from('"tool_use_id"');
const CALL_ID = Buffer.from('"call_id"');

const isForeign = (id: string): boolean => messagesCallId(id) !== id;

/** Whether one of the texts behind this name is such an id. Only then is a body parsed, because most bodies pass as sent. */
function hasId(bytes: Buffer, name: Buffer, isSuch: (printed: string) => boolean): boolean {
  for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + name.length)) {
    const opensAt = bytes.indexOf(QUOTE, at + name.length);
    const closesAt = bytes.indexOf(QUOTE, opensAt + 1);
    if (opensAt >= 0 && closesAt >= 0 && isSuch(bytes.toString('latin1', opensAt + 1, closesAt))) return true;
  }
  return false;
}

const QUOTE = 0x22;
