import { parseJson } from '#core/parse-json.ts';
import { standsAt } from '../json/stands-at.ts';

type Event = Readonly<Record<string, unknown>>;
/** Names of members and places in lists. */
type Path = readonly (string | number)[];

/** A member whose value is another one in each piece. */
export interface Changing {
  path: Path;
  needle: Buffer;
}

/** The member at a path. Its name stands at the end of the path. */
export const changingAt = (...path: Path): Changing => ({ path, needle: Buffer.from(`"${path.at(-1)}":`) });

/** The bytes before such a member's value. */
interface Hole {
  path: Path;
  before: Buffer;
}

/**
 * The bytes of a piece of a stream around what differs from piece to piece: its text, its number, and padding that hides how long the
 * text is. To read a piece by the bytes of an earlier one takes little more than half of the time that it takes to parse it.
 */
export class PieceFrame {
  readonly #event: Event;
  readonly #holes: readonly Hole[];
  readonly #behind: Buffer;

  private constructor(event: Event, holes: readonly Hole[], behind: Buffer) {
    this.#event = event;
    this.#holes = holes;
    this.#behind = behind;
  }

  /**
   * Returns the frame of a piece; `null`: pieces like this one must be parsed.
   *
   * @param event The piece, parsed.
   */
  static of(data: Buffer, event: Event, changing: readonly Changing[]): PieceFrame | null {
    const values: { path: Path; from: number; to: number }[] = [];
    for (const { path, needle } of changing) {
      const parsed = valueIn(event, path);
      if (typeof parsed !== 'string' && typeof parsed !== 'number') continue;
      const at = data.indexOf(needle);
      if (at < 0 || data.indexOf(needle, at + 1) >= 0) return null;
      const from = at + needle.length + (data[at + needle.length] === BLANK ? 1 : 0);
      const value = valueAt(data, from);
      if (value === null || value.value !== parsed) return null;
      values.push({ path, from, to: value.endsAt });
    }
    values.sort((a, b) => a.from - b.from);
    // Copies: a part would keep the whole chunk of the socket in memory.
    const part = (from: number, to: number): Buffer => Buffer.from(data.subarray(from, to));
    const holes = values.map(({ path, from }, place) => ({
      path,
      before: part(values[place - 1]?.to ?? 0, from),
    }));
    const behind = part(values.at(-1)?.to ?? 0, data.length);
    // A name may be spelled with escapes.
    const isPlain = [...holes.map(({ before }) => before), behind].every(
      (bytes) => !bytes.includes(BACKSLASH),
    );
    return isPlain && holes.length > 0 ? new PieceFrame(event, holes, behind) : null;
  }

  /** Returns what parsing would; `null`: the event differs in more. */
  read(data: Buffer): Record<string, unknown> | null {
    const event: Record<string, unknown> = { ...this.#event };
    let at = 0;
    for (const { path, before } of this.#holes) {
      if (!standsAt(data, at, before)) return null;
      const value = valueAt(data, at + before.length);
      if (value === null) return null;
      setIn(event, path, 0, value.value);
      at = value.endsAt;
    }
    return at + this.#behind.length === data.length && standsAt(data, at, this.#behind) ? event : null;
  }
}

/** Reads most pieces of one stream by the bytes of an earlier one. */
export class PieceFrames {
  readonly #changing: readonly Changing[];
  readonly #tries = new FrameTries();
  #frame: PieceFrame | null = null;

  /** @param changing Made once for all streams of a format. */
  constructor(changing: readonly Changing[]) {
    this.#changing = changing;
  }

  /** Returns what parsing would; `null`: the event must be parsed. */
  read(data: Buffer): Record<string, unknown> | null {
    const event = this.#frame?.read(data) ?? null;
    if (event !== null) this.#tries.found();
    return event;
  }

  /** Notes a piece that was parsed. True: others may be read by its bytes now. */
  note(data: Buffer, event: Event): boolean {
    if (!this.#tries.mayTry()) return false;
    this.#frame = PieceFrame.of(data, event, this.#changing);
    return this.#frame !== null;
  }
}

const TRIES = 32;

/** A stream whose events never fit would be searched for a frame in vain for each of them. */
export class FrameTries {
  /** Events that were parsed since one was read by its frame. */
  #parsed = 0;

  found(): void {
    this.#parsed = 0;
  }

  mayTry(): boolean {
    return this.#parsed++ < TRIES || this.#parsed % TRIES === 0;
  }
}

type Members = Record<string | number, unknown>;

const innerOf = (value: unknown): Members | null =>
  typeof value === 'object' && value !== null ? (value as Members) : null;

function valueIn(event: Event, path: Path): unknown {
  let value: unknown = event;
  for (const name of path) value = innerOf(value)?.[name];
  return value;
}

/** Sets a member in an object that is new, and in copies of those inside it. */
function setIn(holder: Members, path: Path, at: number, value: unknown): void {
  const name = path[at] ?? '';
  if (at === path.length - 1) {
    holder[name] = value;
    return;
  }
  const known = holder[name];
  const inner = Array.isArray(known) ? [...known] : { ...innerOf(known) };
  holder[name] = inner;
  setIn(inner as Members, path, at + 1, value);
}

const BLANK = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const NINE = 0x39;
/** A fraction or an exponent begins with one of these. */
const NUMBER_GOES_ON: ReadonlySet<number | undefined> = new Set(Buffer.from('.eE'));
/** A number of so many digits is exact in a float. */
const EXACT_DIGITS = 15;

interface Value {
  value: string | number;
  endsAt: number;
}

/** A text or a whole number. `null`: something else stands there. */
const valueAt = (data: Buffer, at: number): Value | null =>
  data[at] === QUOTE ? textAt(data, at + 1) : numberAt(data, at);

function textAt(data: Buffer, from: number): Value | null {
  let isPlain = true;
  for (let at = from; at < data.length; at++) {
    const byte = data[at] ?? 0;
    if (byte === QUOTE) {
      const value = isPlain
        ? data.toString('utf8', from, at)
        : parseJson(data.toString('utf8', from - 1, at + 1));
      return typeof value === 'string' ? { value, endsAt: at + 1 } : null;
    }
    // No control character may stand in a text.
    if (byte < BLANK) return null;
    if (byte !== BACKSLASH) continue;
    isPlain = false;
    at++;
  }
  return null;
}

function numberAt(data: Buffer, from: number): Value | null {
  let value = 0;
  let at = from;
  for (; isDigit(data[at]); at++) value = value * 10 + (data[at] ?? ZERO) - ZERO;
  const digits = at - from;
  const isWritten = digits > 0 && digits <= EXACT_DIGITS && (digits === 1 || data[from] !== ZERO);
  return isWritten && !NUMBER_GOES_ON.has(data[at]) ? { value, endsAt: at } : null;
}

const isDigit = (byte = 0): boolean => byte >= ZERO && byte <= NINE;
