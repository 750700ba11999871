import { ERROR_BODY_BYTES } from '#core/limits.ts';
import { parseJson } from '#core/parse-json.ts';
import {
  answerBounds,
  type JsonObject,
  type MemberChanges,
  memberBytes,
  memberText,
  scanJsonObject,
} from '../json/json-object.ts';
import type { ReadEvent } from './call-format.ts';

/** Without its leading quote the search is many times faster. */
export const USAGE_NEEDLE = Buffer.from('usage"');
/** The end of the name under which Amazon Bedrock counts. */
export const METRICS_NEEDLE = Buffer.from('Metrics"');
export const ERROR_NEEDLE = Buffer.from('error"');
/** What every event that may pass unread has: a record without it is no part of an answer. */
export const CHOICES_NEEDLE = Buffer.from('choices"');
export const DELTA_NEEDLE = Buffer.from('delta"');

export const dataEvent = (data: Buffer): Buffer => Buffer.concat([DATA, data, EVENT_END]);

/** Of the formats whose events have names: clients tell them apart by this line alone. */
export const namedEvent = (name: string, data: Buffer): Buffer =>
  name === '' ? dataEvent(data) : Buffer.concat([Buffer.from(`event: ${name}\ndata: `), data, EVENT_END]);

/** The same of a text that was just made: one copy less. */
export const dataText = (json: string): Buffer => Buffer.from(`data: ${json}\n\n`);
export const namedText = (name: string, json: string): Buffer =>
  Buffer.from(`event: ${name}\ndata: ${json}\n\n`);

/** An event whose data names it too. */
export const typedEvent = (type: string, members: object): Buffer =>
  namedText(type, JSON.stringify({ type, ...members }));

const DATA = Buffer.from('data: ');
const EVENT_END = Buffer.from('\n\n');

/** One JSON object, by its first and last byte: what passes unread is looked at no closer. */
export const looksLikeObject = (data: Buffer): boolean =>
  data[0] === OPEN_BRACE && data[data.length - 1] === CLOSE_BRACE;

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const OPEN_BRACKET = 0x5b;

export const isDone = (data: Buffer): boolean =>
  data[0] === OPEN_BRACKET && data.toString('latin1').trim() === '[DONE]';

/** Brackets without end would take JSON.parse a second: what is long has to be an object as deep as others. */
export const isJson = (bytes: Buffer): boolean =>
  (bytes.length <= ERROR_BODY_BYTES || typeof scanJsonObject(bytes, answerBounds) !== 'string') &&
  parseJson(bytes.toString('utf8')) !== undefined;

/** A chunk of a chat that has choices, and neither usage nor an error. */
export function isPlainChunk(data: Buffer): boolean {
  const choicesAt = data.indexOf(CHOICES_NEEDLE);
  return (
    choicesAt >= 0 &&
    !isNothingAt(data, choicesAt + CHOICES_NEEDLE.length) &&
    data.indexOf(USAGE_NEEDLE) < 0 &&
    data.indexOf(ERROR_NEEDLE) < 0 &&
    data.indexOf(METRICS_NEEDLE) < 0
  );
}

/** Whether `null` or an empty list stands behind a name. */
function isNothingAt(data: Buffer, nameEndsAt: number): boolean {
  const from = behindBlanks(data, nameEndsAt);
  return (
    data[from] === LETTER_N ||
    (data[from] === OPEN_BRACKET && data[behindBlanks(data, from + 1)] === CLOSE_BRACKET)
  );
}

function behindBlanks(data: Buffer, from: number): number {
  let at = from;
  while (data[at] === COLON || data[at] === BLANK) at++;
  return at;
}

const CLOSE_BRACKET = 0x5d;
const BLANK = 0x20;
const COLON = 0x3a;
const LETTER_N = 0x6e;

/** `null`: it is missing, or null itself. */
export function presentMember(object: JsonObject, key: string): Buffer | null {
  const bytes = memberBytes(object, key);
  return bytes === undefined || bytes.equals(NULL) ? null : bytes;
}

/** Sets the members that an object lacks. */
export function setMissing(
  object: JsonObject,
  members: Readonly<Record<string, unknown>>,
  changes: MemberChanges,
): void {
  for (const [name, value] of Object.entries(members))
    if (presentMember(object, name) === null) changes.set(name, JSON.stringify(value));
}

const NULL = Buffer.from('null');

/** Clients tell events apart by the line alone, so one that lacks it gets it; and what is no JSON ends their reading. */
export function passNamed(type: string, eventName: string, data: Buffer): ReadEvent {
  if (!isJson(data)) return { kind: 'malformed' };
  return eventName === '' ? { kind: 'changed', events: namedEvent(type, data) } : { kind: 'plain' };
}

/** Of a named event; empty where it is none. */
export function typeOf(object: JsonObject): string {
  const name = /^"([\w.]{1,100})"$/.exec(memberText(object, 'type') ?? '')?.[1];
  return name ?? '';
}

/** Reads the id, as JSON text, of an answer's first event or of the member that holds the answer; empty: there is none. */
export function idIn(firstEvent: Buffer, holder: string | null): string {
  const event = scanJsonObject(firstEvent, answerBounds);
  if (typeof event === 'string') return '';
  const answer = holder === null ? event : objectIn(event, holder);
  return answer === null ? '' : (memberText(answer, 'id') ?? '');
}

export function objectIn(object: JsonObject, key: string): JsonObject | null {
  const bytes = memberBytes(object, key);
  const inner = bytes === undefined ? 'not_an_object' : scanJsonObject(bytes, answerBounds);
  return typeof inner === 'string' ? null : inner;
}
