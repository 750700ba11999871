import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import { parseTexts } from '../json/parse-record.ts';
import { AnswerText, addItem, addResponses, addResponsesEvent, keyOf } from './answer-text.ts';

/** How much text the events of a stream have brought so far. */
export interface TextCount {
  /** Every event that passes or is kept, as it came. */
  addEvent(data: Buffer): void;
  readonly bytes: number;
}

/**
 * Counts the text of a stream whose events pass without being read. Parsing each event would cost more than passing it, and the
 * events of one stream differ in little but their text: an event that has the same bytes before and behind one text as an event that
 * was parsed has no other text, so its length alone is counted. Every other event is parsed.
 */
export class EventTextCount implements TextCount {
  readonly #text = new AnswerText();
  readonly #addValue: (text: AnswerText, event: Record<string, unknown>) => void;
  readonly #textKeys: readonly Buffer[];
  #frame: Frame | null = null;
  /** Events that were parsed since one was counted by its frame. */
  #parsed = 0;

  constructor(
    textKeys: readonly string[],
    addValue: (text: AnswerText, event: Record<string, unknown>) => void,
  ) {
    this.#textKeys = textKeys.flatMap((key) => [Buffer.from(`"${key}":"`), Buffer.from(`"${key}": "`)]);
    this.#addValue = addValue;
  }

  get bytes(): number {
    return this.#text.bytes;
  }

  addEvent(data: Buffer): void {
    if (this.#frame !== null && this.#addByFrame(data, this.#frame)) {
      this.#parsed = 0;
      return;
    }
    const value = parseTexts(data);
    if (value === null) return;
    const before = this.#text.textBytes;
    this.#addValue(this.#text, value);
    const added = this.#text.textBytes - before;
    // A stream whose events never fit would be searched in vain for each of them.
    if (added > 0 && (this.#parsed++ < TRIES || this.#parsed % TRIES === 0))
      this.#frame = this.#frameOf(data, added);
  }

  #addByFrame(data: Buffer, { before, behind }: Frame): boolean {
    const textEndsAt = data.length - behind.length;
    if (textEndsAt < before.length) return false;
    if (data.compare(before, 0, before.length, 0, before.length) !== 0) return false;
    if (data.compare(behind, 0, behind.length, textEndsAt) !== 0) return false;
    const bytes = unescapedBytes(data, before.length, textEndsAt);
    if (bytes === null) return false;
    this.#text.addBytes(bytes);
    return true;
  }

  /** `null`: the text that was counted does not stand in one place, so another event may have more of it elsewhere. */
  #frameOf(data: Buffer, added: number): Frame | null {
    for (const key of this.#textKeys) {
      const at = data.indexOf(key);
      if (at < 0 || data.indexOf(key, at + key.length) >= 0) continue;
      const from = at + key.length;
      const to = stringEndsAt(data, from);
      if (to < 0 || unescapedBytes(data, from, to) !== added) continue;
      // Copies: a part would keep the whole chunk of the socket in memory.
      return { before: Buffer.from(data.subarray(0, from)), behind: Buffer.from(data.subarray(to)) };
    }
    return null;
  }
}

interface Frame {
  before: Buffer;
  behind: Buffer;
}

const TRIES = 32;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

function stringEndsAt(data: Buffer, from: number): number {
  for (let at = from; at < data.length; at++) {
    if (data[at] === QUOTE) return at;
    if (data[at] === BACKSLASH) at++;
  }
  return -1;
}

/** The UTF-8 bytes of the text between two quotes; `null`: a quote stands in it, so it ends before. */
function unescapedBytes(data: Buffer, from: number, to: number): number | null {
  let isPlain = true;
  for (let at = from; at < to; at++) {
    if (data[at] === QUOTE) return null;
    if (data[at] !== BACKSLASH) continue;
    isPlain = false;
    at++;
  }
  if (isPlain) return to - from;
  const text = parseJson(`"${data.toString('utf8', from, to)}"`);
  return typeof text === 'string' ? Buffer.byteLength(text) : null;
}

/**
 * A stream of responses says everything three times: in pieces, in whole items and in its last event. Servers leave one or two of
 * them out, so the greatest count is the text.
 */
export class ResponsesTextCount implements TextCount {
  readonly #pieces = new AnswerText();
  readonly #items = new AnswerText();
  #outputBytes = 0;

  get bytes(): number {
    return Math.max(this.#pieces.bytes, this.#items.bytes, this.#outputBytes);
  }

  addEvent(data: Buffer): void {
    const event = parseTexts(data);
    if (event === null) return;
    if (event.type === 'response.output_item.done' && isRecord(event.item)) {
      addItem(this.#items, keyOf(event.output_index, 0), event.item);
    } else addResponsesEvent(this.#pieces, event);
  }

  /** The items of the last event. */
  addOutput(output: unknown): void {
    const text = new AnswerText();
    addResponses(text, output);
    this.#outputBytes = text.bytes;
  }
}

/** Counts for readers that know the pieces of their stream themselves. */
export const countedBy = (bytes: () => number): TextCount => ({
  addEvent() {},
  get bytes() {
    return bytes();
  },
});
