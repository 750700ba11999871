import { isDone, isJson } from '../formats/stream-text.ts';

/** Tells an event that lacks only its blank line from a part of one, which no caller may see, where a stream broke off. */
export function isWholeEvent(tail: Buffer): boolean {
  const events = readEvents(tail);
  return events.length > 0 && events.every(isWhole);
}

function isWhole({ data }: EventText): boolean {
  const text = trimBlanks(data);
  return isJson(text) || isDone(text);
}

/** The events of some lines. They are one, unless a server ends each event by one line break alone: then each line has a whole one. */
function readEvents(lines: Buffer): EventText[] {
  const event = readLines(lines);
  if (event === null) return [];
  const firstAt = isDataLine(lines, 0) ? 0 : lines.indexOf(NEXT_DATA) + 1;
  if (lines.indexOf(NEXT_DATA, firstAt) < 0) return [event];
  const ofLines = lines
    .toString('utf8')
    .split('\n')
    .flatMap((line) => readLines(Buffer.from(line)) ?? []);
  return ofLines.length > 1 && !isWhole(event) && ofLines.every(isWhole) ? ofLines : [event];
}

/** The events of the lines from one place to another, up to a blank line. */
export function eventsAt(bytes: Buffer, at: number, endsAt: number): readonly EventText[] {
  const named = readNamed(bytes, at, endsAt);
  return named === null ? readEvents(bytes.subarray(at, endsAt)) : [named];
}

export interface EventText {
  data: Buffer;
  name: string;
}

export const isDataLine = (bytes: Buffer, at: number): boolean =>
  bytes[at] === 0x64 &&
  bytes[at + 1] === 0x61 &&
  bytes[at + 2] === 0x74 &&
  bytes[at + 3] === 0x61 &&
  bytes[at + 4] === COLON;

/**
 * An event of several lines. Comments (which name the provider), ids and retry times are left out: none belongs to a
 * format; and a name that is none, which could be lines of its own.
 */
export function readLines(lines: Buffer): EventText | null {
  let name = '';
  const data: string[] = [];
  for (const line of lines.toString('utf8').split('\n')) {
    if (line.startsWith('data:')) data.push(line.slice(DATA_FIELD_BYTES));
    else if (line.startsWith('event:')) name = line.slice(EVENT_FIELD_BYTES).trim();
  }
  if (data.length === 0) return null;
  return { data: Buffer.from(data.join(' ')), name: EVENT_NAME.test(name) ? name : '' };
}

/** The usual event, a line with its name and one with its data, without making lines of it. `null`: it is another. */
function readNamed(bytes: Buffer, at: number, endsAt: number): EventText | null {
  if (bytes.compare(EVENT, 0, EVENT.length, at, Math.min(endsAt, at + EVENT.length)) !== 0) return null;
  const nameEndsAt = bytes.indexOf(LF, at);
  const dataAt = nameEndsAt + 1;
  if (nameEndsAt > endsAt || nameEndsAt - at > EVENT_NAME_LINE_BYTES_MAX) return null;
  if (!isDataLine(bytes, dataAt)) return null;
  const lineEndsAt = bytes.indexOf(LF, dataAt);
  if (lineEndsAt !== endsAt) return null;
  const name = bytes.toString('latin1', at + EVENT.length, nameEndsAt).trim();
  return {
    data: bytes.subarray(dataAt + DATA_FIELD_BYTES, lineEndsAt),
    name: EVENT_NAME.test(name) ? name : '',
  };
}

const NEXT_DATA = Buffer.from('\ndata:');
const EVENT = Buffer.from('event:');
const EVENT_NAME = /^[\w.:-]{1,100}$/;
export const EVENT_NAME_LINE_BYTES_MAX = 120;
const EVENT_FIELD_BYTES = 6;

export function trimBlanks(bytes: Buffer): Buffer {
  let from = 0;
  let to = bytes.length;
  while (isBlank(bytes[from])) from++;
  while (to > from && isBlank(bytes[to - 1])) to--;
  return from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to);
}

const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09;

const LF = 0x0a;
const COLON = 0x3a;
export const DATA_FIELD_BYTES = 5;
