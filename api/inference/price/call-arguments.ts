import { isRecord } from '#core/is-record.ts';
import { COMPARED_CALLS_CHARS_MAX } from '#core/limits.ts';
import { parseJson } from '#core/parse-json.ts';
import { parseExact } from '../json/exact-json.ts';
import { answerBounds, scanJsonObject } from '../json/json-object.ts';
import { JsonScan } from '../json/json-scan.ts';

/** How much text the calls of one answer may keep for comparison, in characters. */
export interface ComparedText {
  charsLeft: number;
}

export const newComparedText = (): ComparedText => ({ charsLeft: COMPARED_CALLS_CHARS_MAX });

/**
 * The arguments of one streamed call without what its server says twice. Some servers send all of the text so far in every piece
 * (github.com/NousResearch/hermes-agent/pull/35718), some send the whole text again behind its pieces, and some begin with `{}` before
 * the real arguments come. A piece is compared only if it is as long as the text before it, so long streams take linear time.
 */
export class CallArguments {
  readonly #compared: ComparedText;
  readonly #scan = new JsonScan();
  #isBegun = false;
  /** All that was shown; `null`: it is too long to be compared. */
  #shown: string | null = '';
  /** The object that was shown, once it is whole. */
  #whole: string | null = null;
  /** How many characters of the whole object have been said again. */
  #repeatedChars = 0;
  #waiting: WaitingPiece | null = null;
  /** The server has sent all of the text so far at least once. */
  #isCumulative = false;

  constructor(compared: ComparedText) {
    this.#compared = compared;
  }

  /** Whether a piece waits for the next one, which tells what it is. */
  get isWaiting(): boolean {
    return this.#waiting !== null;
  }

  /** Whether the object is whole: nothing that comes later belongs to it. */
  get isWhole(): boolean {
    return this.#waiting === null ? this.#scan.isWhole : this.#waiting.isWhole;
  }

  /** The part of the text that waits, as it is shown if nothing more comes. */
  get rest(): string {
    const waiting = this.#waiting;
    if (waiting === null) return '';
    const { kind, json, isWhole } = waiting;
    if (kind === 'placeholder') return json;
    const shown = this.#shown ?? '';
    return !isWhole && isWholeObject(shown + json) ? json : json.slice(shown.length);
  }

  /**
   * Returns the part of a piece that is shown now.
   *
   * @param beginsCall The piece has the name of its call, so an empty object may stand for arguments that still come.
   */
  add(json: string, beginsCall: boolean): string {
    if (json === '') return '';
    if (this.#waiting !== null) return this.#addToWaiting(this.#waiting, json);
    if (!this.#isBegun) return this.#first(json, beginsCall);
    const shown = this.#shown;
    if (shown === null) return this.#show(json);
    if (this.#scan.isWhole) return this.#behindWhole(json);
    if (!isAllAgain(json, shown)) return this.#show(json);
    if (this.#isCumulative || !this.#mayHoldObject(shown)) {
      this.#isCumulative = true;
      return this.#show(json.slice(shown.length));
    }
    // An object in the object may begin in the same way, and a server that sends all of the text so far sends more each time.
    if (json.length === shown.length) return this.#show(json);
    this.#waiting = { kind: 'all_again', json, isWhole: isWholeObject(json) };
    return '';
  }

  /** Whether a piece behind the first one would be shown as it is. */
  passes(json: string): boolean {
    if (json === '') return true;
    if (this.#waiting !== null) return false;
    if (!this.#isBegun) return !isNoArguments(json);
    const shown = this.#shown;
    return shown === null || (!this.#scan.isWhole && !isAllAgain(json, shown));
  }

  /** Counts a piece that is shown as it is. */
  pass(json: string): void {
    this.#show(json);
  }

  /** Takes the part that waits, because nothing more comes. */
  end(): string {
    const { rest } = this;
    this.#waiting = null;
    return this.#show(rest);
  }

  /** Whether a piece that looks like the beginning of another call has these arguments again, or the real ones. */
  repeats(json: string): boolean {
    const waiting = this.#waiting;
    if (waiting !== null)
      return waiting.kind === 'placeholder' ? isObject(json) : json.trim() === waiting.json.trim();
    return this.#scan.isWhole && this.#whole !== null && isSameObject(json, this.#whole);
  }

  /** Whether a piece begins with all of the text so far. */
  isSaidAgainIn(json: string): boolean {
    return this.#shown !== null && isAllAgain(json, this.#shown);
  }

  #first(json: string, beginsCall: boolean): string {
    if (isNoArguments(json)) return '';
    if (!beginsCall || !isEmptyObject(json)) return this.#show(json);
    this.#waiting = { kind: 'placeholder', json, isWhole: true };
    return '';
  }

  #addToWaiting({ kind, json }: WaitingPiece, next: string): string {
    if (kind === 'placeholder') {
      if (next.trim() === '' || isNoArguments(next) || isEmptyObject(next)) return '';
      this.#waiting = null;
      return this.#show(isObject(next) ? next : json + next);
    }
    this.#waiting = null;
    if (next.startsWith(json)) {
      this.#isCumulative = true;
      return this.add(next, false);
    }
    return this.#show(json) + this.add(next, false);
  }

  /** Nothing but white space belongs behind the object, so all that says it again is dropped. */
  #behindWhole(json: string): string {
    const whole = this.#whole;
    if (whole === null) return this.#show(json);
    const from = this.#repeatedChars;
    const piece = from === 0 ? json.trimStart() : json;
    if (piece !== '' && whole.startsWith(piece, from)) {
      this.#repeatedChars = (from + piece.length) % whole.length;
      return '';
    }
    const last = piece.trimEnd();
    this.#repeatedChars = 0;
    if (last.length === whole.length - from && whole.endsWith(last)) return '';
    if (from === 0) return isSameObject(json, whole) ? '' : this.#show(json);
    return this.#show(whole.slice(0, from) + json);
  }

  /** Whether a value may begin behind the text so far, such as an object. */
  #mayHoldObject(shown: string): boolean {
    return !this.#scan.isInText && BEFORE_VALUE.has(shown.trimEnd().at(-1) ?? '');
  }

  #show(json: string): string {
    if (json === '') return '';
    this.#isBegun = true;
    const wasWhole = this.#scan.isWhole;
    this.#scan.add(json);
    if (this.#shown !== null) {
      this.#compared.charsLeft -= json.length;
      this.#shown = this.#compared.charsLeft < 0 ? null : this.#shown + json;
    }
    if (!this.#scan.isWhole) this.#whole = null;
    else if (!wasWhole) this.#whole = this.#shown?.trim() ?? null;
    return json;
  }
}

interface WaitingPiece {
  /** Whether an empty object stands for arguments that still come, or the piece begins with all of the text so far. */
  kind: 'placeholder' | 'all_again';
  json: string;
  /** The piece is a whole object by itself. */
  isWhole: boolean;
}

const BEFORE_VALUE: ReadonlySet<string> = new Set([':', ',', '[']);

/** Ways of models and servers to write that a call has no arguments. */
const NO_ARGUMENTS: ReadonlySet<string> = new Set(['', 'null', 'None', '[]', '""']);
const SHORT_CHARS = 16;

/** Whether a text says that there are no arguments, as Groq's `null` does (github.com/langchain-ai/langchain/issues/33896). */
export const isNoArguments = (json: string): boolean =>
  json.length <= SHORT_CHARS && NO_ARGUMENTS.has(json.trim());

/** The arguments of a call as JSON text. Some servers write the object itself. */
export const argumentsIn = (given: unknown): string =>
  isRecord(given) || Array.isArray(given) ? JSON.stringify(given) : textOf(given);

/** The same as an object that every client can parse, of a call that is whole. */
export function wholeArguments(given: unknown): string {
  const json = argumentsIn(given);
  return isNoArguments(json) ? '{}' : json;
}

export const isEmptyObject = (json: string): boolean =>
  json.length <= SHORT_CHARS && /^\s*\{\s*\}\s*$/.test(json);

const isObject = (json: string): boolean => json.trimStart().startsWith('{');

const isAllAgain = (json: string, shown: string): boolean =>
  json.length >= shown.length && json.startsWith(shown) && isObject(shown);

function isWholeObject(json: string): boolean {
  const scan = new JsonScan();
  scan.add(json);
  return scan.isWhole;
}

/**
 * Whether two texts say the same object: a server may print it again with other white space or escapes, or as a JSON text
 * (github.com/BerriAI/litellm/issues/20480).
 */
function isSameObject(json: string, whole: string): boolean {
  if (json.trim() === whole) return true;
  // No text is printed six times as long, so short pieces are never compared with a long object.
  if (json.length * ESCAPE_CHARS < whole.length) return false;
  const object = json.trimStart().startsWith('"') ? textOf(parseJson(json)) : json;
  const printed = isObject(object) ? printedObject(object) : null;
  return printed !== null && printed === printedObject(whole);
}

/** Characters of an escape such as `\u00e9`. */
const ESCAPE_CHARS = 6;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** `null`: the text is no object, or nests deeper than answers may. */
function printedObject(json: string): string | null {
  if (typeof scanJsonObject(Buffer.from(json), answerBounds) === 'string') return null;
  try {
    return JSON.stringify(parseExact(json));
  } catch {
    return null;
  }
}
