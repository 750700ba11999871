import { JSON_DEPTH_MAX } from '#core/limits.ts';
import type { Steps, Work } from '#core/steps.ts';
import { endOfString, skipPlain, skipSpace, trimSpace } from './json-bytes.ts';
import type { JsonBounds, JsonMember, JsonObject, ScanFailure } from './json-object.ts';
import { decodeKey, disguisedName, lettersOfKey } from './key-spelling.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const LARGE_E = 0x45;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SMALL_E = 0x65;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Finds the members of an object; those of a long text in steps, because a scan takes four times as long before V8 has made it fast.
 *
 * @param text Has a character for each byte, so that its places are places in the bytes: a string is searched twice as fast as a buffer,
 * but read a character at a time only where all strings are of one kind, and V8 has several.
 */
export function scanObject(bytes: Buffer, text: string, bounds: JsonBounds): Work<JsonObject | ScanFailure> {
  const openedAt = skipSpace(bytes, 0);
  if (bytes[openedAt] !== OPEN_BRACE) return 'not_an_object';
  const scan = new ObjectScan(bytes, text, bounds, openedAt);
  return bytes.length <= SCANNED_AT_ONCE_BYTES
    ? (scan.readTo(bytes.length) ?? 'not_an_object')
    : scanPieces(scan, bytes.length);
}

const SCANNED_AT_ONCE_BYTES = 1024 * 1024;

function* scanPieces(scan: ObjectScan, end: number): Steps<JsonObject | ScanFailure> {
  for (let until = SCANNED_AT_ONCE_BYTES; until < end; until += SCANNED_AT_ONCE_BYTES) {
    const found = scan.readTo(until);
    if (found !== null) return found;
    yield 'scan a piece';
  }
  return scan.readTo(end) ?? 'not_an_object';
}

/** Reads an object from its beginning, each time as far as it is told to. */
class ObjectScan {
  readonly #bytes: Buffer;
  readonly #text: string;
  readonly #bounds: JsonBounds;
  readonly #members: JsonMember[] = [];
  /** The object's own member whose value is being read. */
  #member: JsonMember | null = null;
  /** The byte that is read next. */
  #at: number;
  #depth = 1;
  #keyCount = 0;
  #valueCount = 0;
  #hasExponent = false;
  #disguisedKey: string | null = null;
  #hasFoldableKey = false;
  #stringStartsAt = -1;
  #stringEndsAt = -1;

  constructor(bytes: Buffer, text: string, bounds: JsonBounds, openedAt: number) {
    this.#bytes = bytes;
    this.#text = text;
    this.#bounds = bounds;
    this.#at = openedAt + 1;
  }

  /** Reads up to a place, and the string to its end that reaches over it. `null`: the object has not ended there. */
  readTo(until: number): JsonObject | ScanFailure | null {
    const bytes = this.#bytes;
    const { valuesMax, depthMax = JSON_DEPTH_MAX } = this.#bounds;
    for (let at = this.#at; ; at++) {
      at = skipPlain(bytes, at, until);
      if (at >= until) {
        this.#at = at;
        return null;
      }
      switch (bytes[at]) {
        case QUOTE:
          this.#stringStartsAt = at;
          at = endOfString(bytes, this.#text, at);
          this.#stringEndsAt = at + 1;
          break;
        case COLON: {
          const failure = this.#readKey(at);
          if (failure !== null) return failure;
          break;
        }
        case COMMA:
          if (++this.#valueCount > valuesMax) return 'too_many_values';
          if (this.#depth === 1) this.#endMember(at);
          break;
        case SMALL_E:
        case LARGE_E:
          // The letter of `true` and `false` stands behind another.
          if (isDigit(bytes[at - 1])) this.#hasExponent = true;
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          if (++this.#depth > depthMax) return 'too_deep';
          if (++this.#valueCount > valuesMax) return 'too_many_values';
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          if (--this.#depth > 0) break;
          this.#endMember(at);
          return this.#object();
      }
    }
  }

  #readKey(colonAt: number): ScanFailure | null {
    const bytes = this.#bytes;
    const startsAt = this.#stringStartsAt;
    const endsAt = this.#stringEndsAt;
    // Each key is read once: else a long one before many colons, which is no JSON, would be read for each of them.
    if (startsAt < 0) return 'not_an_object';
    if (++this.#keyCount > this.#bounds.keysMax) return 'too_many_keys';
    const letters = lettersOfKey(bytes, startsAt + 1, endsAt - 1);
    if (letters !== 'small') this.#hasFoldableKey = true;
    if (letters === 'other') this.#disguisedKey ??= disguisedName(bytes, startsAt, endsAt);
    if (this.#depth === 1) {
      const key =
        letters === 'other'
          ? decodeKey(bytes.toString('utf8', startsAt, endsAt))
          : plainKey(bytes, this.#text, startsAt + 1, endsAt - 1);
      this.#member = { key, startsAt, valueStartsAt: skipSpace(bytes, colonAt + 1), endsAt: -1 };
    }
    this.#stringStartsAt = -1;
    return null;
  }

  /** @param at Behind its value, and the blanks behind that. */
  #endMember(at: number): void {
    const member = this.#member;
    if (member === null) return;
    member.endsAt = trimSpace(this.#bytes, at);
    this.#members.push(member);
    this.#member = null;
  }

  #object(): JsonObject {
    return {
      bytes: this.#bytes,
      members: this.#members,
      keyCount: this.#keyCount,
      valueCount: this.#valueCount,
      hasExponent: this.#hasExponent,
      disguisedKey: this.#disguisedKey,
      hasFoldableKey: this.#hasFoldableKey,
    };
  }
}

/** A longer slice would refer to the whole text, and keep it in memory for as long as the call lives. */
const SLICE_COPIED_CHARS_MAX = 12;

const plainKey = (bytes: Buffer, text: string, startsAt: number, endsAt: number): string =>
  endsAt - startsAt <= SLICE_COPIED_CHARS_MAX
    ? text.slice(startsAt, endsAt)
    : bytes.toString('latin1', startsAt, endsAt);

const isDigit = (code: number | undefined): boolean => code !== undefined && code >= 0x30 && code <= 0x39;
