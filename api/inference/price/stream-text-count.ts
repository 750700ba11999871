import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import { parseTexts } from '../json/parse-record.ts';
import { standsAt } from '../json/stands-at.ts';
import { AnswerText, addItem, addResponses, addResponsesEvent, keyOf } from './answer-text.ts';
import { changingAt, FrameTries, PieceFrames } from './piece-frame.ts';
import { shownTextIn } from './shown-text.ts';
import { mayHoldImage } from './written-bytes.ts';

/** The bytes that stand before a text under one of these names. */
export const needlesOf = (names: readonly string[]): readonly Buffer[] =>
  names.flatMap((name) => [Buffer.from(`"${name}":"`), Buffer.from(`"${name}": "`)]);

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
export class EventTextCount<Note = never> implements TextCount {
  readonly #text = new AnswerText();
  readonly #addValue: (text: AnswerText, event: Record<string, unknown>) => void;
  readonly #textNeedles: readonly Buffer[];
  #frame: Frame<Note> | null = null;
  #seen: SeenEvent<Note> | null = null;
  readonly #tries = new FrameTries();

  /** @param textNeedles Made once for all streams of a format. */
  constructor(
    textNeedles: readonly Buffer[],
    addValue: (text: AnswerText, event: Record<string, unknown>) => void,
  ) {
    this.#textNeedles = textNeedles;
    this.#addValue = addValue;
  }

  get bytes(): number {
    return this.#text.bytes;
  }

  /** Looks at an event before it is counted. It is parsed once for both. */
  see(data: Buffer): SeenEvent<Note> {
    if (this.#seen?.data === data) return this.#seen;
    const frame = this.#frame;
    const textBytes = frame === null ? null : textBytesIn(data, frame);
    this.#seen =
      frame === null || textBytes === null
        ? { data, value: parseTexts(data), frame: null, textBytes: 0, note: null }
        : { data, value: null, frame, textBytes, note: frame.note };
    return this.#seen;
  }

  /** Notes what was found out about an event, for itself and for those that differ from it in their text alone. */
  note(seen: SeenEvent<Note>, note: Note): void {
    seen.note = note;
    if (seen.frame !== null) seen.frame.note = note;
  }

  addEvent(data: Buffer): void {
    const { value, frame, textBytes, note } = this.see(data);
    this.#seen = null;
    if (frame !== null) {
      this.#text.addBytes(textBytes);
      this.#tries.found();
      return;
    }
    if (value === null) return;
    const { textBytes: before, comparedPieces } = this.#text;
    this.#addValue(this.#text, value);
    const added = this.#text.textBytes - before;
    if (this.#text.comparedPieces !== comparedPieces) return;
    if (added > 0 && this.#tries.mayTry()) {
      const pieces = this.split(data, added);
      const isFrame = pieces !== null && this.#countsAlone(pieces);
      this.#frame = isFrame ? { ...pieces, firstTextBytes: added, note } : null;
    }
  }

  /** Whether any other text between the same bytes counts by its length: the event may have its text in another member as well. */
  #countsAlone({ before, behind }: SplitEvent): boolean {
    const event = parseTexts(Buffer.concat([before, PROBE, behind]));
    if (event === null) return false;
    const text = new AnswerText();
    this.#addValue(text, event);
    return text.bytes === PROBE.length;
  }

  /**
   * Splits an event at its text. `null`: its text does not stand in one place, so another event may have more of it elsewhere.
   *
   * @param textBytes The bytes of its text.
   */
  split(data: Buffer, textBytes: number): SplitEvent | null {
    for (const key of this.#textNeedles) {
      const at = data.indexOf(key);
      if (at < 0 || data.indexOf(key, at + key.length) >= 0) continue;
      const from = at + key.length;
      const to = stringEndsAt(data, from);
      if (to < 0 || unescapedBytes(data, from, to) !== textBytes) continue;
      // Copies: a part would keep the whole chunk of the socket in memory.
      return { before: Buffer.from(data.subarray(0, from)), behind: Buffer.from(data.subarray(to)) };
    }
    return null;
  }
}

/** The bytes before and behind the one text of an event. */
export interface SplitEvent {
  before: Buffer;
  behind: Buffer;
}

interface Frame<Note> extends SplitEvent {
  /** The text of the event from which the frame was taken. */
  firstTextBytes: number;
  note: Note | null;
}

export interface SeenEvent<Note> {
  data: Buffer;
  /** `null`: it has a known frame, or cannot be read. */
  value: Record<string, unknown> | null;
  /** `null`: it differs from the events before it in more than its text. */
  frame: Frame<Note> | null;
  /** The text of an event that has a known frame. */
  textBytes: number;
  /** `null`: nothing was noted about such an event. */
  note: Note | null;
}

/** `null`: the event does not have this frame. */
function textBytesIn(data: Buffer, { before, behind }: SplitEvent): number | null {
  const textEndsAt = data.length - behind.length;
  if (textEndsAt < before.length) return null;
  if (!standsAt(data, textEndsAt, behind) || !standsAt(data, 0, before)) return null;
  if (mayHoldImage(data, textEndsAt - before.length)) return null;
  return unescapedBytes(data, before.length, textEndsAt);
}

/** A text that no event has elsewhere. */
const PROBE = Buffer.from('a text that only a probe has');
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
 * A stream of responses says everything several times: in pieces, in whole texts, parts and items, and in its last event. Servers leave
 * some of them out, so the greatest count is the text.
 */
export class ResponsesTextCount implements TextCount {
  readonly #pieces = new AnswerText();
  readonly #texts = new AnswerText();
  readonly #begunParts = new AnswerText();
  readonly #parts = new AnswerText();
  readonly #begunItems = new AnswerText();
  readonly #items = new AnswerText();
  #begunBytes = 0;
  #outputBytes = 0;
  #seen: Buffer | null = null;
  #seenEvent: Record<string, unknown> | null = null;
  readonly #frames = new PieceFrames(CHANGING_IN_PIECES);
  /** Whether a piece with the frame passed as it came. */
  #isPassed = false;
  /** Whether the event that is looked at has the frame. */
  #isFramed = false;

  get bytes(): number {
    const counts = [this.#pieces, this.#texts, this.#begunParts, this.#parts, this.#begunItems, this.#items];
    return Math.max(this.#begunBytes, this.#outputBytes, ...counts.map(({ bytes }) => bytes));
  }

  /** Looks at an event before it is counted. It is parsed once for both. */
  see(data: Buffer): Record<string, unknown> | null {
    if (this.#seen === data) return this.#seenEvent;
    this.#seen = data;
    this.#seenEvent = this.#frames.read(data);
    this.#isFramed = this.#seenEvent !== null;
    if (!this.#isFramed) this.#parse(data);
    return this.#seenEvent;
  }

  #parse(data: Buffer): void {
    const event = parseTexts(data);
    this.#seenEvent = event;
    if (typeof event?.delta !== 'string') return;
    this.#isFramed = this.#frames.note(data, event);
    this.#isPassed = false;
  }

  /** Whether an event that is looked at differs in its text and its number alone from a piece that passed. */
  isKnown(data: Buffer): boolean {
    this.see(data);
    return this.#isFramed && this.#isPassed;
  }

  /** Notes that the event that is looked at passes as it came. */
  notePassed(): void {
    if (this.#isFramed) this.#isPassed = true;
  }

  addEvent(data: Buffer): void {
    const event = this.see(data);
    this.#seen = null;
    this.#seenEvent = null;
    if (event === null) return;
    const { type, item, part, response } = event;
    // Some servers have text in the response as it begins.
    if (isRecord(response)) this.#begunBytes = Math.max(this.#begunBytes, bytesOf(response));
    const key = keyOf(event.output_index, 0);
    if (type === 'response.output_item.done' && isRecord(item)) addItem(this.#items, key, item);
    else addResponsesEvent(this.#pieces, event);
    if (type === 'response.output_item.added' && isRecord(item)) addItem(this.#begunItems, key, item);
    if (typeof type !== 'string') return;
    // A part may begin with its text.
    if (type.endsWith('.added') && isRecord(part)) this.#begunParts.add(shownTextIn(part));
    if (!type.endsWith('.done')) return;
    if (isRecord(part)) this.#parts.add(shownTextIn(part));
    else for (const name of WHOLE_TEXTS) this.#texts.add(event[name]);
  }

  /** The items of the last event, and their text together, which some servers write alone. */
  addOutput(output: unknown, outputText: unknown): void {
    this.#outputBytes = bytesOf({ output, output_text: outputText });
  }
}

function bytesOf(response: Readonly<Record<string, unknown>>): number {
  const text = new AnswerText();
  addResponses(text, response);
  return text.bytes;
}

const CHANGING_IN_PIECES = [changingAt('delta'), changingAt('sequence_number'), changingAt('obfuscation')];
const WHOLE_TEXTS = [
  ...['text', 'refusal', 'transcript'],
  ...['arguments', 'input', 'code', 'diff', 'command'],
] as const;

/** Counts for readers that know the pieces of their stream themselves. */
export const countedBy = (bytes: () => number): TextCount => ({
  addEvent() {},
  get bytes() {
    return bytes();
  },
});
