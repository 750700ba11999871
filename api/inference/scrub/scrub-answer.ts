import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import type { JsonObject } from '../json/json-object.ts';
import { parseRecord } from '../json/parse-record.ts';
import { AnswerWords } from './answer-words.ts';
import { mayTellHidden } from './hidden-forms.ts';
import { withoutHiddenMembers } from './hidden-members.ts';
import { REMOVED } from './scrub-traces.ts';
import { type Hidden, repeatsHidden } from './scrub-words.ts';

/**
 * A good answer, or one event of it, in which an item tells an error, such as a search that failed in the middle. Its words pass the
 * scrubber like those of every other error. An answer without one is the same buffer.
 */
function scrubErrorsIn(record: Buffer, words: AnswerWords): Buffer {
  if (!mayTellError(record)) return record;
  const value = parseRecord(record);
  return value !== null && scrubMembers(value, false, words) ? Buffer.from(JSON.stringify(value)) : record;
}

/** The same for whole events of one stream, each of which has one line of data. */
export const scrubErrorsInEvents = (events: Buffer, words: AnswerWords): Buffer =>
  mayTellError(events) ? inEachEvent(events, (data) => scrubErrorsIn(data, words)) : events;

/** A good answer without anything that it tells of its provider beside its content: in errors, and in other members. */
export const scrubAnswer = (answer: Buffer, hidden: Hidden): Buffer =>
  withoutHiddenMembers(scrubErrorsIn(answer, new AnswerWords(hidden)), hidden);

/** The same for whole events of one stream, each of which has one line of data. */
export function scrubEvents(events: Buffer, words: AnswerWords): Buffer {
  const { hidden } = words;
  const scrubbed = scrubErrorsInEvents(events, words);
  if (!mayTellHidden(scrubbed, hidden)) return scrubbed;
  return inEachEvent(scrubbed, (data) => withoutHiddenMembers(data, hidden));
}

function inEachEvent(events: Buffer, change: (data: Buffer) => Buffer): Buffer {
  const lines = events
    .toString('utf8')
    .split('\n')
    .map((line) => (line.startsWith(DATA) ? DATA + change(Buffer.from(line.slice(DATA.length))) : line));
  return Buffer.from(lines.join('\n'));
}

const DATA = 'data: ';

/** Most records that have the word say that there is no error. */
function mayTellError(record: Buffer): boolean {
  for (let at = nextErrorName(record, 0); at < record.length; at = nextErrorName(record, at + 1)) {
    if (!NO_ERROR.test(record.toString('latin1', at, at + NAME_CHARS_MAX + 12))) return true;
  }
  return false;
}

const NO_ERROR = /^\w{0,40}"\s{0,3}:\s{0,3}null/;

/**
 * Finds the next name with the word, such as `"last_error"`, `"Errors"` or `"error_message"`; the length where there is none.
 * Every event of a stream is searched, so the first letter is left out: one search finds it small and large.
 */
export function nextErrorName(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(WORD, from); at >= 0; at = bytes.indexOf(WORD, at + 1)) {
    let endsAt = at + WORD.length;
    while (endsAt - at < NAME_CHARS_MAX && isNameByte(bytes[endsAt])) endsAt++;
    if (bytes[endsAt] === QUOTE) return at;
  }
  return bytes.length;
}

const WORD = Buffer.from('rror');
const NAME_CHARS_MAX = 40;
const QUOTE = 0x22;
const isNameByte = (byte = 0): boolean =>
  (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a) || byte === 0x5f;

/** @returns Whether anything was changed. */
function scrubMembers(value: unknown, isError: boolean, words: AnswerWords): boolean {
  if (Array.isArray(value)) {
    let isChanged = false;
    for (const [at, each] of value.entries()) {
      if (isError && typeof each === 'string') {
        value[at] = shownText(each, words);
        isChanged ||= value[at] !== each;
      } else isChanged = scrubMembers(each, isError, words) || isChanged;
    }
    return isChanged;
  }
  if (!isRecord(value) || JSON.isRawJSON(value)) return false;
  const tells = isError || (typeof value.type === 'string' && value.type.endsWith('error'));
  let isChanged = false;
  for (const [name, each] of Object.entries(value)) {
    if (!tells && CALLERS_OWN.has(name)) continue;
    const isErrorMember = tells || ERROR_NAME.test(name);
    if (isErrorMember && typeof each === 'string') {
      value[name] = shownText(each, words);
      isChanged ||= value[name] !== each;
    } else isChanged = scrubMembers(each, isErrorMember, words) || isChanged;
  }
  return isChanged;
}

const ERROR_NAME = /error/i;

/** What the caller sent, or what the model wrote for the caller's own code. */
const CALLERS_OWN: ReadonlySet<string> = new Set([
  'arguments',
  'input',
  'input_schema',
  'instructions',
  'metadata',
  'parameters',
  'parsed',
  'schema',
  'text',
  'tools',
]);

/** Codes are names and stay as they are, because clients branch on them. */
function shownText(text: string, words: AnswerWords): string {
  if (PLAIN_CODE.test(text)) return text;
  const shown = words.scrub(text);
  return shown === undefined ? REMOVED : (shown ?? 'The provider gave no details.');
}

const PLAIN_CODE = /^[a-z_]{0,60}$/;

/** What a caller sees in the place of a member of an answer's frame; `null`: nothing. */
export type FrameChange = readonly [name: string, value: string | null];

/**
 * The frame of an answer passes as the provider wrote it, a router's `provider` and a server's `system_fingerprint` included: clients of
 * routers require the first. A member that repeats the operator's key or address does not pass, nor does the file that a server runs the
 * model from.
 *
 * @param ownId Takes the place of such an id.
 */
export function frameChanges(frame: JsonObject, hidden: Hidden, ownId: string): FrameChange[] {
  const changes: FrameChange[] = [];
  // A name may stand twice, and clients differ in which one they read.
  for (const { key, valueStartsAt, endsAt } of frame.members) {
    if (!FRAME_TEXTS.has(key)) continue;
    const json = frame.bytes.toString('utf8', valueStartsAt, endsAt);
    if (tellsInFrame(key, parseJson(json) ?? json, hidden))
      changes.push([key, shownMember(key, hidden, ownId)]);
  }
  return changes;
}

function shownMember(name: string, { publicModel }: Hidden, ownId: string): string | null {
  if (name === 'model') return JSON.stringify(publicModel);
  return name === 'id' || name === 'response_id' ? JSON.stringify(ownId) : null;
}

function tellsInFrame(name: string, value: unknown, { provider }: Hidden): boolean {
  if (value === null) return false;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return (name === 'model' && MODEL_FILE.test(text)) || repeatsHidden(text, provider);
}

/**
 * Tells for each event of one stream whether its frame may pass. Most events repeat the frame of the one before, so only a value that
 * is new is looked at.
 */
export class FrameCheck {
  readonly #hidden: Hidden;
  readonly #mayNameModel: boolean;
  readonly #checked = new Map<string, unknown>();

  /** @param mayNameModel The provider's name of the model passes: it is replaced elsewhere. */
  constructor(hidden: Hidden, mayNameModel: boolean) {
    this.#hidden = hidden;
    this.#mayNameModel = mayNameModel || hidden.upstreamModel === hidden.publicModel;
  }

  mayPass(frame: Readonly<Record<string, unknown>>): boolean {
    for (const name of FRAME_TEXTS) {
      const value = frame[name];
      if (value === undefined || value === this.#checked.get(name)) continue;
      const isModelOf = name === 'model' && !this.#mayNameModel && value === this.#hidden.upstreamModel;
      if (isModelOf || tellsInFrame(name, value, this.#hidden)) return false;
      this.#checked.set(name, value);
    }
    return true;
  }
}

const FRAME_TEXTS: ReadonlySet<string> = new Set([
  'id',
  'response_id',
  'object',
  'model',
  'provider',
  'service_tier',
  'system_fingerprint',
]);
const MODEL_FILE = /^(?:[/~.]|[a-z]:[\\/]|[a-z\d]{2,10}:\/\/)|\.(?:gguf|safetensors|bin)$/i;
