import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import { textOf } from '../formats/values.ts';
import type { AnswerSource } from './answer-source.ts';
import { ChangedPieces } from './changed-pieces.ts';

/*
 * Claude refuses a call for one tool that has an argument of a name beyond `^[a-zA-Z0-9_.-]{1,64}$`, such as `$filter` or `filter[id]`
 * (ComposioHQ/composio#3574). Only the names at the top of the schema are checked (decocms/studio#6874). Such an argument has another name
 * there, and its own in the answers and earlier calls.
 */

/** By a tool's name at the provider: the names of its arguments there, and the caller's names of them. */
export type ArgumentNames = ReadonlyMap<string, ReadonlyMap<string, string>>;

export const NO_NAMES: ArgumentNames = new Map();

const NAME_CHARS_MAX = 64;
/** A name that would stand twice has `_` and a number behind it, for which these characters are left free. */
const NUMBER_CHARS_MAX = 8;

/** Names that are looked at in one turn of the event loop. */
const GIVEN_AT_ONCE = 5_000;

const isFit = (name: string): boolean => name.length <= NAME_CHARS_MAX && /^[\w.-]+$/.test(name);

/** The schema of a tool with such names, and the caller's names by those that were given; `null`: all are fit. */
export function* fitArgumentNames(
  schema: unknown,
): Generator<string, { schema: unknown; own: ReadonlyMap<string, string> } | null> {
  if (!isRecord(schema) || !isRecord(schema.properties)) return null;
  const names = Object.keys(schema.properties);
  if (names.every(isFit)) return null;
  const taken = new Set(names.filter(isFit));
  const given = new Map<string, string>();
  let number = 2;
  for (const [index, name] of names.entries()) {
    if (index % GIVEN_AT_ONCE === GIVEN_AT_ONCE - 1) yield 'give names';
    if (isFit(name)) continue;
    let fitted = name.slice(0, NAME_CHARS_MAX + 1).replaceAll(/[^\w.-]/g, '_');
    for (; !isFit(fitted) || taken.has(fitted); number++)
      fitted = `${fitted.slice(0, NAME_CHARS_MAX - NUMBER_CHARS_MAX)}_${number}`;
    taken.add(fitted);
    given.set(name, fitted);
  }
  yield 'give names';
  const properties = Object.entries(schema.properties).map(([name, each]): [string, unknown] => {
    const fitted = given.get(name);
    return fitted === undefined ? [name, each] : [fitted, describedAs(name, each)];
  });
  const { required } = schema;
  return {
    schema: {
      ...schema,
      properties: Object.fromEntries(properties),
      ...(Array.isArray(required) && { required: required.map((name) => given.get(name) ?? name) }),
    },
    own: new Map([...given].map(([name, fitted]) => [fitted, name])),
  };
}

/** The caller's own words may speak of the argument by its own name. */
function describedAs(name: string, schema: unknown): unknown {
  if (!isRecord(schema)) return schema;
  const before = textOf(schema.description);
  return { ...schema, description: `${before === '' ? '' : `${before}\n\n`}{name: ${name}}` };
}

/** The same the other way: the names of the arguments at the provider by the caller's. */
export const givenNames = (names: ArgumentNames): ArgumentNames =>
  names.size === 0
    ? names
    : new Map(
        [...names].map(([tool, own]) => [tool, new Map([...own].map(([fitted, name]) => [name, fitted]))]),
      );

/** The arguments of an earlier call, under the names that the provider knows. */
export function givenArguments(
  input: Readonly<Record<string, unknown>>,
  given: ReadonlyMap<string, string> | undefined,
): Readonly<Record<string, unknown>> {
  if (given === undefined) return input;
  return Object.fromEntries(Object.entries(input).map(([name, value]) => [given.get(name) ?? name, value]));
}

/** Reads an answer whose calls have such names, and tells the caller's own. */
export class OwnArguments extends ChangedPieces {
  readonly #names: ArgumentNames;
  readonly #open = new Map<number, OwnKeys>();

  constructor(source: AnswerSource, names: ArgumentNames) {
    super(source);
    this.#names = names;
  }

  override rest(): readonly AnswerPiece[] {
    return [...super.rest(), ...this.#left()];
  }

  protected changed(pieces: readonly AnswerPiece[]): readonly AnswerPiece[] {
    return pieces.flatMap((piece): AnswerPiece[] => {
      if (piece.type === 'finish') return [...this.#left(), piece];
      if (piece.type === 'tool_call') {
        const own = this.#names.get(piece.name);
        if (own === undefined) this.#open.delete(piece.index);
        else this.#open.set(piece.index, new OwnKeys(own));
      }
      const keys = piece.type === 'arguments' ? this.#open.get(piece.index) : undefined;
      if (piece.type !== 'arguments' || keys === undefined) return [piece];
      const json = keys.add(piece.json);
      return json === '' ? [] : [{ ...piece, json }];
    });
  }

  /** Names in which the answer was cut. */
  #left(): AnswerPiece[] {
    return [...this.#open].flatMap(([index, keys]) => {
      const json = keys.rest();
      return json === '' ? [] : [{ type: 'arguments' as const, index, json }];
    });
  }
}

/** Longer text in quotes is none of the names that were given, also where each letter of it is an escape. */
const KEY_CHARS_MAX = 6 * NAME_CHARS_MAX + 2;

/** Writes the keys at the top of a JSON object, which comes in pieces, under other names. Each character is looked at once. */
class OwnKeys {
  readonly #own: ReadonlyMap<string, string>;
  #depth = 0;
  #isObject = false;
  #inText = false;
  #isEscaped = false;
  /** A text that begins now is a key at the top. */
  #expectsKey = false;
  /** The key so far, with the quote before it; `null`: no key has begun. */
  #key: string | null = null;

  constructor(own: ReadonlyMap<string, string>) {
    this.#own = own;
  }

  add(json: string): string {
    let shown = '';
    let from = 0;
    for (let at = 0; at < json.length; at++) {
      const letter = json[at] ?? '';
      if (this.#key === null) {
        if (letter === '"' && !this.#inText && this.#expectsKey) {
          shown += json.slice(from, at);
          this.#key = letter;
          from = at + 1;
        } else this.#pass(letter);
        continue;
      }
      const isEnd = letter === '"' && !this.#isEscaped;
      this.#isEscaped = letter === '\\' && !this.#isEscaped;
      if (!isEnd && this.#key.length + at - from < KEY_CHARS_MAX) continue;
      const text = this.#key + json.slice(from, at + 1);
      shown += isEnd ? this.#renamed(text) : text;
      this.#inText = !isEnd;
      this.#expectsKey = false;
      this.#key = null;
      from = at + 1;
    }
    if (this.#key !== null) this.#key += json.slice(from);
    else shown += json.slice(from);
    return shown;
  }

  /** The beginning of a key in which the text ends. */
  rest(): string {
    const key = this.#key ?? '';
    this.#key = null;
    return key;
  }

  #pass(letter: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (letter === '"') this.#inText = !this.#inText;
    else if (this.#inText) this.#isEscaped = letter === '\\';
    else if (letter === '{' || letter === '[') {
      this.#depth += 1;
      if (this.#depth === 1) this.#isObject = letter === '{';
      this.#expectsKey = this.#depth === 1 && this.#isObject;
    } else if (letter === '}' || letter === ']') this.#depth -= 1;
    else if (letter === ',') this.#expectsKey = this.#depth === 1 && this.#isObject;
  }

  #renamed(text: string): string {
    const name = parseJson(text);
    const own = typeof name === 'string' ? this.#own.get(name) : undefined;
    return own === undefined ? text : JSON.stringify(own);
  }
}
