import { isAscii } from 'node:buffer';
import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import { endOfString, skipPlain, skipSpace, trimSpace } from './json-bytes.ts';

/*
 * V8 takes a quarter of a microsecond for each short text that it has not seen before, and as much for each new key, so 400,000
 * values can hold the event loop for a tenth of a second. A text of many values is therefore cut behind commas, and each piece is
 * parsed in a turn of its own: the lists and objects that are open at a cut are closed behind the piece, opened again before the
 * next one, and put together by `JoinedPieces`.
 */

/** Keys and values that are parsed in one turn of the event loop. */
export const PARSED_AT_ONCE = 10_000;
/** Bytes that are looked at for a place to cut in one turn. */
const LOOKED_AT_ONCE_BYTES = 1024 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A list or an object that the scan has entered and not left. */
interface Container {
  isList: boolean;
  /** The scan reads the value of the key between these two places. In a list they mean nothing. */
  keyAt: number;
  keyEndsAt: number;
}

/** A container that is open where a piece ends. */
interface CutContainer {
  isList: boolean;
  /** The JSON text of the key whose value the piece ends in. */
  key: string;
}

/**
 * @param latin1 The bytes as a string with a character for each.
 * @param atOnce Keys and values of a step.
 * @returns What `JSON.parse` returns; `undefined`: it is no JSON. A key that stands twice in an object may lose values of both.
 */
export function* parseInSteps(
  bytes: Buffer,
  latin1 = bytes.toString('latin1'),
  atOnce = PARSED_AT_ONCE,
): Generator<string, unknown> {
  const isPlain = isAscii(bytes);
  const slice = (from: number, until: number): string =>
    isPlain ? latin1.slice(from, until) : bytes.toString('utf8', from, until);
  const cut = ({ isList, keyAt, keyEndsAt }: Container): CutContainer => ({
    isList,
    key: slice(keyAt, keyEndsAt),
  });
  const open: Container[] = [];
  const pieces = new JoinedPieces();
  let pieceAt = 0;
  let count = 0;
  let stringAt = 0;
  let stringEndsAt = 0;
  let pauseAt = LOOKED_AT_ONCE_BYTES;
  for (let at = 0; at < bytes.length; at++) {
    at = skipPlain(bytes, at, pauseAt);
    if (at >= pauseAt) {
      yield 'look at a piece';
      pauseAt = at + LOOKED_AT_ONCE_BYTES;
    }
    switch (bytes[at]) {
      case QUOTE:
        stringAt = at;
        at = endOfString(bytes, latin1, at);
        stringEndsAt = at + 1;
        break;
      case COLON: {
        const object = open.at(-1);
        if (object === undefined) return undefined;
        object.keyAt = stringAt;
        object.keyEndsAt = stringEndsAt;
        break;
      }
      case OPEN_BRACE:
      case OPEN_BRACKET:
        open.push({ isList: bytes[at] === OPEN_BRACKET, keyAt: 0, keyEndsAt: 0 });
        count++;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        open.pop();
        break;
      case COMMA:
        if (++count < atOnce) break;
        // No piece shows that nothing stands on one side of the comma.
        if (
          open.length === 0 ||
          isBegin(bytes[trimSpace(bytes, at) - 1]) ||
          isEnd(bytes[skipSpace(bytes, at + 1)])
        )
          return undefined;
        if (!pieces.add(slice(pieceAt, at), open.map(cut))) return undefined;
        pieceAt = at + 1;
        count = 0;
        yield 'parse a piece';
    }
  }
  return pieces.add(slice(pieceAt, bytes.length), []) ? pieces.value : undefined;
}

class JoinedPieces {
  value: unknown;
  /** The last piece left these open, the outermost first. */
  #open: readonly CutContainer[] = [];
  #hasBegun = false;

  /** @returns Whether the piece is JSON between what was open before it and what is open behind it. */
  add(piece: string, open: readonly CutContainer[]): boolean {
    const before = this.#open.map(({ isList, key }, level) => {
      const isInnermost = level === this.#open.length - 1;
      if (isList) return '[';
      return isInnermost ? '{' : `{${key}:`;
    });
    const behind = open.toReversed().map(({ isList }) => (isList ? ']' : '}'));
    const parsed = parseJson(before.join('') + piece + behind.join(''));
    if (parsed === undefined) return false;
    if (this.#hasBegun) this.#join(parsed);
    else this.value = parsed;
    this.#hasBegun = true;
    this.#open = open;
    return true;
  }

  #join(parsed: unknown): void {
    let into = this.value;
    let from = parsed;
    for (const [level, { key, isList }] of this.#open.entries()) {
      const child = level === this.#open.length - 1 ? null : isList ? '0' : keyOf(key);
      if (Array.isArray(into) && Array.isArray(from)) {
        const last = into.at(-1);
        for (let index = child === null ? 0 : 1; index < from.length; index++) into.push(from[index]);
        into = last;
        from = from[0];
      } else if (isRecord(into) && isRecord(from)) {
        for (const [name, value] of Object.entries(from)) if (name !== child) setOwn(into, name, value);
        if (child === null || !Object.hasOwn(into, child)) return;
        into = into[child];
        from = from[child];
      } else return;
    }
  }
}

const keyOf = (text: string): string => String(parseJson(text));

/** An assignment would take `__proto__` for something else. */
function setOwn(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, writable: true, configurable: true });
}

const isBegin = (code: number | undefined): boolean =>
  code === OPEN_BRACE || code === OPEN_BRACKET || code === COMMA;
const isEnd = (code: number | undefined): boolean => code === CLOSE_BRACE || code === CLOSE_BRACKET;
