import { isAscii } from 'node:buffer';
import { isRecord } from '#core/is-record.ts';
import { ANSWER_DEPTH_MAX } from '#core/limits.ts';
import { parseJson } from '#core/parse-json.ts';
import { isSteps, runAtOnce, type Steps, type Work } from '#core/steps.ts';
import { skipSpace } from './json-bytes.ts';
import { scanObject } from './object-scan.ts';
import { PARSED_AT_ONCE, parseInSteps } from './parse-in-steps.ts';

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
  /** In the whole text, by commas and opening brackets. */
  valueCount: number;
  /** Of any number in the whole text. */
  hasExponent: boolean;
  /** The first key, at any depth, that is a plain name but was written with escapes, as `"t\u006fols"`. */
  disguisedKey: string | null;
  /** Some key, at any depth, has a large letter, an escape or a character beyond ASCII: it may fold to another name. */
  hasFoldableKey: boolean;
}

export interface JsonMember {
  key: string;
  /** From the key's opening quote. */
  startsAt: number;
  valueStartsAt: number;
  /** Just behind the value. */
  endsAt: number;
}

export type ScanFailure = 'not_an_object' | 'too_deep' | 'too_many_keys' | 'too_many_values';

/** In the whole text. Values are counted by their commas and opening brackets. */
export interface JsonBounds {
  keysMax: number;
  valuesMax: number;
  /** As deep as a caller's body, where nothing is said. */
  depthMax?: number;
}

const UNBOUNDED: JsonBounds = {
  keysMax: Number.POSITIVE_INFINITY,
  valuesMax: Number.POSITIVE_INFINITY,
};

/** Of what a provider answers, whole or in an event. */
export const answerBounds: JsonBounds = { ...UNBOUNDED, depthMax: ANSWER_DEPTH_MAX };
/** To be scanned alone: what is so deep, nobody can parse or print. */
export const anyDepth: JsonBounds = { ...UNBOUNDED, depthMax: Number.POSITIVE_INFINITY };

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;

/**
 * Never reads past its bounds and ends on any input, but its ranges mean something only where the bytes are valid
 * JSON: parse the text too. Depth, keys and values are bounded before anything is built from them; keys and values only
 * in what callers send, because an honest answer with log probabilities holds tens of thousands.
 */
export function scanJsonObject(bytes: Buffer, bounds = UNBOUNDED): JsonObject | ScanFailure {
  return runAtOnce(scanObject(bytes, bytes.toString('latin1'), bounds));
}

/** The same for a text that may be large. */
export const scanJsonObjectInSteps = (bytes: Buffer): Work<JsonObject | ScanFailure> =>
  scanObject(bytes, bytes.toString('latin1'), UNBOUNDED);

/** Scanned and parsed: in ASCII, as most texts are, one string serves both. Not UTF-8 is for the caller to see. */
export function readJsonObject(
  bytes: Buffer,
  bounds = UNBOUNDED,
): { object: JsonObject; value: Record<string, unknown> } | ScanFailure | 'not_json' {
  const latin1 = bytes.toString('latin1');
  // The scan first: JSON.parse takes a tenth of a second to build the values that four megabytes can name.
  const object = runAtOnce(scanObject(bytes, latin1, bounds));
  return typeof object === 'string' ? whyNot(bytes, object) : parseScanned(bytes, latin1, object);
}

/** The same in turns of the event loop for the scan and the parse. It yields the name of the one that is done. */
export function* readJsonObjectInSteps(
  bytes: Buffer,
  bounds: JsonBounds,
): Steps<ReturnType<typeof readJsonObject>> {
  const latin1 = bytes.toString('latin1');
  yield 'decode';
  const scan = scanObject(bytes, latin1, bounds);
  const object = isSteps(scan) ? yield* scan : scan;
  if (typeof object === 'string') return whyNot(bytes, object);
  yield 'scan';
  if (object.keyCount + object.valueCount <= PARSED_AT_ONCE) return parseScanned(bytes, latin1, object);
  const value = yield* parseInSteps(bytes, latin1);
  if (value === undefined) return 'not_json';
  return isRecord(value) ? { object, value } : 'not_an_object';
}

const whyNot = (bytes: Buffer, failure: ScanFailure): ScanFailure | 'not_json' =>
  failure === 'not_an_object' && isNoJson(bytes) ? 'not_json' : failure;

function parseScanned(
  bytes: Buffer,
  latin1: string,
  object: JsonObject,
): { object: JsonObject; value: Record<string, unknown> } | 'not_an_object' | 'not_json' {
  const value = parseJson(isAscii(bytes) ? latin1 : bytes.toString('utf8'));
  if (value === undefined) return 'not_json';
  return isRecord(value) ? { object, value } : 'not_an_object';
}

/**
 * Of what is no object, and only as far as it is worth the time: JSON.parse takes seconds for brackets of some
 * megabytes.
 */
const isNoJson = (bytes: Buffer): boolean =>
  bytes[skipSpace(bytes, 0)] === OPEN_BRACE ||
  (bytes.length <= TOLD_APART_BYTES && parseJson(bytes.toString('utf8')) === undefined);

const TOLD_APART_BYTES = 64 * 1024;

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

/**
 * JSON text to put in a member's place; `null` drops the member. Keys the object lacks are added at its end. Most objects have two or
 * three changes, which a list holds for less than a `Map`.
 */
export class MemberChanges {
  readonly keys: string[] = [];
  readonly values: (string | Buffer | null)[] = [];
  /** How values of members are changed on top of that, in the order of the rules (`edit-member.ts`). */
  edits: Map<string, ((value: unknown) => unknown)[]> | null = null;
  /** The place of each key in a long list: a body may have 60,000 keys that its server is not sent. */
  #places: Map<string, number> | null = null;

  constructor(changes: readonly (readonly [key: string, value: string | Buffer | null])[] = []) {
    for (const [key, value] of changes) this.set(key, value);
  }

  set(key: string, value: string | Buffer | null): void {
    const place = this.placeOf(key);
    if (place >= 0) this.values[place] = value;
    else {
      this.#places?.set(key, this.keys.length);
      this.keys.push(key);
      this.values.push(value);
    }
  }

  /** `undefined`: the key is not changed. */
  get(key: string): string | Buffer | null | undefined {
    const place = this.placeOf(key);
    return place < 0 ? undefined : (this.values[place] ?? null);
  }

  /** @param change What to write for a value. The same value: nothing is changed; `undefined`: the member is left out. */
  edit(key: string, change: (value: unknown) => unknown): void {
    this.edits ??= new Map();
    const before = this.edits.get(key);
    if (before === undefined) this.edits.set(key, [change]);
    else before.push(change);
  }

  /** The changes of another list win. */
  add({ keys, values, edits }: MemberChanges): void {
    for (const [place, key] of keys.entries()) this.set(key, values[place] ?? null);
    for (const [key, changes] of edits ?? []) for (const change of changes) this.edit(key, change);
  }

  /** The index of a key; -1 if it is not in the list. */
  placeOf(key: string): number {
    if (this.keys.length < LONG_LIST) return this.keys.indexOf(key);
    this.#places ??= new Map(this.keys.map((each, place) => [each, place]));
    return this.#places.get(key) ?? -1;
  }
}

const LONG_LIST = 64;

/**
 * The same object with some members replaced, dropped or added; runs of untouched members are copied as sent. The
 * keys of `changes` are written as they are: names of ours, which need no escapes.
 */
export function rebuildJsonObject(object: JsonObject, changes: MemberChanges): Buffer {
  const { bytes, members } = object;
  const { keys, values } = changes;
  const out = Buffer.allocUnsafe(bytes.length + bytesOfChangesMax(changes));
  const seen: boolean[] = keys.map(() => false);
  let at = out.writeUInt8(OPEN_BRACE, 0);
  let runStartsAt = -1;
  let runEndsAt = -1;
  for (const member of members) {
    const place = changes.placeOf(member.key);
    if (place < 0) {
      if (runStartsAt < 0) runStartsAt = member.startsAt;
      runEndsAt = member.endsAt;
      continue;
    }
    if (runStartsAt >= 0) at = copyRun(out, at, bytes, runStartsAt, runEndsAt);
    runStartsAt = -1;
    const change = values[place] ?? null;
    // Of a key that stands twice one reader takes the first, another the last: with a change, one is left.
    if (change !== null && seen[place] === false) at = writeMember(out, at, member.key, change);
    seen[place] = true;
  }
  if (runStartsAt >= 0) at = copyRun(out, at, bytes, runStartsAt, runEndsAt);

  for (let place = 0; place < keys.length; place++) {
    const key = keys[place] ?? '';
    const change = values[place] ?? null;
    if (change !== null && seen[place] === false) at = writeMember(out, at, key, change);
  }
  out[at] = CLOSE_BRACE;
  return out.subarray(0, at + 1);
}

/** Quotes, colon and comma of a member. */
const FRAME_BYTES = 4;
const UTF8_BYTES_PER_CHAR_MAX = 3;

function bytesOfChangesMax({ keys, values }: MemberChanges): number {
  let bytes = 2;
  for (let place = 0; place < keys.length; place++) {
    const chars = (keys[place]?.length ?? 0) + (values[place]?.length ?? 0);
    bytes += chars * UTF8_BYTES_PER_CHAR_MAX + FRAME_BYTES;
  }
  return bytes;
}

function copyRun(out: Buffer, at: number, bytes: Buffer, startsAt: number, endsAt: number): number {
  const from = separate(out, at);
  return from + bytes.copy(out, from, startsAt, endsAt);
}

function writeMember(out: Buffer, at: number, key: string, change: string | Buffer): number {
  const from = separate(out, at);
  if (typeof change === 'string') return from + out.write(`"${key}":${change}`, from);
  const valueFrom = from + out.write(`"${key}":`, from);
  return valueFrom + change.copy(out, valueFrom);
}

function separate(out: Buffer, at: number): number {
  if (at === 1) return at;
  out[at] = COMMA;
  return at + 1;
}
