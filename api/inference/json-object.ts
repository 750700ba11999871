import { JSON_DEPTH_MAX } from '#core/limits.ts';

/**
 * The byte ranges of a JSON object's own members, so that a few values can be replaced while every other byte
 * passes as it was sent: parsing and printing again would change numbers (`12345678901234567890`, `1.0`) and
 * cost twice as much.
 */
export interface JsonObject {
  bytes: Buffer;
  members: readonly JsonMember[];
  /** Keys in the whole text, at any depth, repeated ones counted each time. */
  keyCount: number;
  /** The first key, at any depth, that is a plain name but was written with escapes, as `"t\u006fols"`. */
  disguisedKey: string | null;
}

export interface JsonMember {
  key: string;
  /** From the key's opening quote. */
  startsAt: number;
  valueStartsAt: number;
  /** Just behind the value. */
  endsAt: number;
}

export type ScanFailure = 'not_an_object' | 'too_deep' | 'too_many_keys';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;

/**
 * Never reads past its bounds and ends on any input, but its ranges mean something only where the bytes are valid
 * JSON: parse the text too. Depth and keys are bounded before anything is built from them; `keysMax` only for what
 * callers send, because an honest answer with log probabilities holds tens of thousands.
 */
export function scanJsonObject(bytes: Buffer, keysMax = Number.POSITIVE_INFINITY): JsonObject | ScanFailure {
  const end = bytes.length;
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return 'not_an_object';
  at++;

  const members: JsonMember[] = [];
  let depth = 1;
  let keyCount = 0;
  let stringStartsAt = -1;
  let stringEndsAt = -1;
  let disguisedKey: string | null = null;
  let key = '';
  let keyStartsAt = -1;
  let valueStartsAt = -1;

  const endMember = (endsAt: number) => {
    if (valueStartsAt < 0) return;
    members.push({ key, startsAt: keyStartsAt, valueStartsAt, endsAt: trimSpace(bytes, endsAt) });
    valueStartsAt = -1;
  };

  for (; at < end; at++) {
    switch (bytes[at]) {
      case QUOTE:
        stringStartsAt = at;
        at = endOfString(bytes, at);
        stringEndsAt = at + 1;
        break;
      case COLON:
        keyCount++;
        if (keyCount > keysMax) return 'too_many_keys';
        if (disguisedKey === null && isEscaped(bytes, stringStartsAt, stringEndsAt)) {
          const name = readKey(bytes, stringStartsAt, stringEndsAt);
          if (PLAIN_NAME.test(name)) disguisedKey = name;
        }
        if (depth === 1) {
          key = readKey(bytes, stringStartsAt, stringEndsAt);
          keyStartsAt = stringStartsAt;
          valueStartsAt = skipSpace(bytes, at + 1);
        }
        break;
      case COMMA:
        if (depth === 1) endMember(at);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        depth++;
        if (depth > JSON_DEPTH_MAX) return 'too_deep';
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth--;
        if (depth === 0) {
          endMember(at);
          return { bytes, members, keyCount, disguisedKey };
        }
        break;
    }
  }
  return 'not_an_object';
}

/** A member's value as it was sent. */
export function memberText(object: JsonObject, key: string): string | undefined {
  const member = findMember(object, key);
  return member && object.bytes.toString('utf8', member.valueStartsAt, member.endsAt);
}

export function memberBytes(object: JsonObject, key: string): Buffer | undefined {
  const member = findMember(object, key);
  return member && object.bytes.subarray(member.valueStartsAt, member.endsAt);
}

function findMember(object: JsonObject, key: string): JsonMember | undefined {
  for (const member of object.members) if (member.key === key) return member;
  return undefined;
}

/** JSON text to put in a member's place; `null` drops the member. Keys the object lacks are added at its end. */
export type MemberChanges = ReadonlyMap<string, string | null>;

/** The same object with some members replaced, dropped or added; runs of untouched members are copied as sent. */
export function rebuildJsonObject(object: JsonObject, changes: MemberChanges): Buffer {
  const { bytes, members } = object;
  const parts: Buffer[] = [];
  let runStartsAt = -1;
  let runEndsAt = -1;
  let separator = OPEN;

  const endRun = () => {
    if (runStartsAt < 0) return;
    parts.push(separator, bytes.subarray(runStartsAt, runEndsAt));
    separator = NEXT;
    runStartsAt = -1;
  };

  for (const member of members) {
    const change = changes.get(member.key);
    if (change === undefined) {
      if (runStartsAt < 0) runStartsAt = member.startsAt;
      runEndsAt = member.endsAt;
      continue;
    }
    endRun();
    if (change === null) continue;
    parts.push(separator, Buffer.from(`${JSON.stringify(member.key)}:${change}`));
    separator = NEXT;
  }
  endRun();

  for (const [key, change] of changes) {
    if (change === null || findMember(object, key) !== undefined) continue;
    parts.push(separator, Buffer.from(`${JSON.stringify(key)}:${change}`));
    separator = NEXT;
  }
  if (separator === OPEN) parts.push(OPEN);
  parts.push(CLOSE);
  return Buffer.concat(parts);
}

const OPEN = Buffer.from('{');
const NEXT = Buffer.from(',');
const CLOSE = Buffer.from('}');

/**
 * Keys in a parsed value, at any depth. Where the text holds more of them than the value, a key was repeated: one
 * reader may take the first, another the last, so the price could be read from one and the work done by the other.
 */
export function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += countKeys(item);
    return count;
  }
  for (const item of Object.values(value)) {
    count++;
    if (typeof item === 'object') count += countKeys(item);
  }
  return count;
}

function readKey(bytes: Buffer, startsAt: number, endsAt: number): string {
  const raw = bytes.toString('latin1', startsAt + 1, endsAt - 1);
  // `"mod\u0065l"` is the key `model`; a provider would read it so.
  return PLAIN_KEY.test(raw) ? raw : decodeKey(bytes.toString('utf8', startsAt, endsAt));
}

const PLAIN_KEY = /^[\x20-\x5b\x5d-\x7e]*$/;
const PLAIN_NAME = /^[\w.-]+$/;

function isEscaped(bytes: Buffer, startsAt: number, endsAt: number): boolean {
  for (let at = startsAt + 1; at < endsAt; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

function decodeKey(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

/** The index of the closing quote, or the last index where there is none. */
function endOfString(bytes: Buffer, openedAt: number): number {
  let at = openedAt;
  for (;;) {
    at = bytes.indexOf(QUOTE, at + 1);
    if (at < 0) return bytes.length - 1;
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
}

const isSpace = (byte: number | undefined) =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at++;
  return at;
}

function trimSpace(bytes: Buffer, end: number): number {
  let at = end;
  while (isSpace(bytes[at - 1])) at--;
  return at;
}
