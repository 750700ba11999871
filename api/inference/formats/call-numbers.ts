import { createHash } from 'node:crypto';
import { randomBase62 } from '#core/ids.ts';
import { isRecord } from '#core/is-record.ts';
import { plainNumber } from '../json/exact-json.ts';
import { argumentsIn, CallArguments, newComparedText } from '../price/call-arguments.ts';
import { joinedName } from '../price/call-name.ts';
import { SnapshotText } from '../price/snapshot-text.ts';
import { recordOf, records, textOf } from './values.ts';

/** A piece of a streamed tool call of the chat format, whatever way the server has of writing it. */
export interface CallPiece {
  /** `null`: the server numbers no calls. */
  index: unknown;
  /** Empty: not said in this piece. */
  id: string;
  name: string;
  /** A part of the JSON text of the arguments, or all of it where the server wrote an object. */
  json: string;
  /** The arguments are a text, in which any two pieces may be alike. */
  isText?: true;
}

export interface CallPieceState {
  /** The answer ends with it, so nothing of its call comes later. */
  isLast?: boolean;
  /** It is shown as it is, so all of its arguments count. */
  isShown?: boolean;
}

/** A piece of a call among the calls of its answer. */
export interface NumberedPiece {
  /** The place of the call among all calls of the answer, in the order in which they began. */
  number: number;
  /** The part of the arguments that the call does not have yet. */
  json: string;
}

export function readCallPiece(call: Readonly<Record<string, unknown>>): CallPiece {
  const index = call.index ?? null;
  const frame = { index: index === null ? null : plainNumber(index), id: textOf(call.id) };
  // A call of a custom tool has a text in the place of arguments.
  if (isRecord(call.custom)) {
    const { name, input } = call.custom;
    return { ...frame, name: textOf(name), json: textOf(input), isText: true };
  }
  const { name, arguments: given } = recordOf(call.function);
  return {
    ...frame,
    name: textOf(name),
    json: argumentsIn(given),
  };
}

/** The pieces of calls in a delta. One server sends each piece by itself, and not in a list. */
export function callPiecesIn(calls: unknown): readonly Record<string, unknown>[] {
  const pieces = isRecord(calls) ? [calls] : records(calls);
  return pieces.some(isFlatCall) ? pieces.map(withFunction) : pieces;
}

/** Some servers write the name and the arguments of a call beside its id, such as Cloudflare. */
export const isFlatCall = ({
  function: called,
  custom,
  name,
  arguments: given,
}: Readonly<Record<string, unknown>>): boolean =>
  !isRecord(called) && !isRecord(custom) && (typeof name === 'string' || given !== undefined);

function withFunction(call: Record<string, unknown>): Record<string, unknown> {
  if (!isFlatCall(call)) return call;
  const { name, arguments: given, ...rest } = call;
  return {
    ...rest,
    function: {
      ...(name === undefined ? {} : { name }),
      ...(given === undefined ? {} : { arguments: given }),
    },
  };
}

/**
 * Tells which call each piece belongs to. Servers number parallel calls from 0 on, or give all of them the number 0, or none;
 * they repeat the id in every piece, or write it once, or never, or write the same id for several calls.
 */
export class CallNumbers {
  readonly #calls: KnownCall[] = [];
  readonly #compared = newComparedText();
  /** The call that each index of the server means at present. */
  readonly #byIndex = new Map<unknown, number>();
  /** The newest call that begins with each id. */
  readonly #byId = new Map<string, number>();

  get count(): number {
    return this.#calls.length;
  }

  add(piece: CallPiece, { isLast = false, isShown = false }: CallPieceState = {}): NumberedPiece {
    const number = this.#continued(piece) ?? this.#calls.length;
    const call = this.#calls[number] ?? this.#begin(piece.index);
    if (call.id === '' && piece.id !== '') {
      call.id = piece.id;
      this.#byId.set(piece.id, number);
    }
    call.name = joinedName(call.name, piece.name, call.hasArguments);
    call.hasArguments ||= piece.json !== '';
    if (piece.index !== null) this.#byIndex.set(piece.index, number);
    if (piece.isText === true) call.text ??= new SnapshotText(this.#compared);
    const { text } = call;
    if (isShown) (text ?? call.arguments).pass(piece.json);
    if (isShown) return { number, json: piece.json };
    const json =
      text === null ? call.arguments.add(piece.json, piece.name !== '' && !isLast) : text.add(piece.json);
    return { number, json };
  }

  /** Whether all of the arguments of a piece are new to the call. */
  areNew(number: number, { json }: CallPiece): boolean {
    const call = this.#calls[number];
    return (call?.text ?? call?.arguments)?.passes(json) !== false;
  }

  /** Whether arguments of the call wait for its next piece. */
  isWaiting(number: number): boolean {
    const call = this.#calls[number];
    return (call?.text ?? call?.arguments)?.isWaiting === true;
  }

  /** Takes the arguments of the call that wait, now that nothing more comes. */
  restOf(number: number): string {
    const call = this.#calls[number];
    return (call?.text ?? call?.arguments)?.end() ?? '';
  }

  /** The place of the call that the server means by an index at present; `undefined`: it has not used the index. */
  placeOf(index: unknown): number | undefined {
    return this.#byIndex.get(index);
  }

  #begin(index: unknown): KnownCall {
    const number = this.#calls.length;
    const call = {
      ...{ number, index, id: '', name: '', hasArguments: false },
      arguments: new CallArguments(this.#compared),
      text: null,
    };
    this.#calls.push(call);
    return call;
  }

  /**
   * The id tells calls of one index apart. Otherwise the index counts before the id, because some servers give all parallel calls one
   * id. `undefined`: the piece begins a call.
   */
  #continued(piece: CallPiece): number | undefined {
    const byId = this.#goesOn(piece.id === '' ? undefined : this.#byId.get(piece.id), piece);
    if (byId !== undefined && (piece.index === null || byId.index === piece.index)) return byId.number;
    const known = (piece.index === null ? undefined : this.#byIndex.get(piece.index)) ?? this.#newest(piece);
    if (known !== undefined) return this.#goesOn(known, piece)?.number;
    // Under another number even the same id is another call, if the piece has what begins one, and not only what goes on with the first.
    const begins =
      byId !== undefined && byId.index !== null && piece.name !== '' && !isSaidUnderOther(byId, piece);
    return begins ? undefined : byId?.number;
  }

  /** The call of this number, unless the piece begins another. */
  #goesOn(number: number | undefined, piece: CallPiece): KnownCall | undefined {
    const call = number === undefined ? undefined : this.#calls[number];
    return call === undefined || isAnotherCall(call, piece) ? undefined : call;
  }

  /**
   * The last call, if the piece may go on with it: a piece without index where that one may still be without an id, and a piece of
   * nothing but arguments under a number of its own, because some servers begin a call under the number of the one before.
   */
  #newest({ index, id, name, json }: CallPiece): number | undefined {
    const last = this.#calls.at(-1);
    if (last === undefined) return undefined;
    if (index === null) return id === '' || last.id === '' ? last.number : undefined;
    const isArguments = id === '' && name === '' && json !== '';
    return isArguments && !last.arguments.isWhole ? last.number : undefined;
  }
}

interface KnownCall {
  number: number;
  /** The number that the server gave it first; `null`: none. */
  index: unknown;
  id: string;
  name: string;
  hasArguments: boolean;
  arguments: CallArguments;
  /** Its text in the place of arguments; `null`: it is no call of a custom tool. */
  text: SnapshotText | null;
}

/** Whether a piece under a known index or id begins a call of its own: some servers give all parallel calls one index. */
function isAnotherCall(call: KnownCall, piece: CallPiece): boolean {
  const { index, id, name, json } = piece;
  // A piece of nothing but arguments goes on, because some servers make up a new id for each piece.
  if (id !== '' && call.id !== '' && id !== call.id) return name !== '' || json === '';
  if (name === '' || call.name === '' || isSaidAgain(call, piece)) return false;
  const isWhole = call.arguments.isWhole && json.trimStart().startsWith('{');
  return isWhole || (name !== call.name && (call.hasArguments || index === null));
}

/**
 * Whether a piece says all of a call again, as some servers do at the end. Two calls may be alike where their server gives no ids, or
 * the name of the function as the id.
 */
function isSaidAgain(call: KnownCall, { id, name, json, isText }: CallPiece): boolean {
  const isSameId = id === '' ? call.id !== '' : id === call.id && id !== name;
  return isSameId && name === call.name && isText !== true && call.arguments.repeats(json);
}

/**
 * Whether a piece that has the id and the name of a call under another number belongs to it: it says the arguments again, or goes on with
 * them. Servers that give all calls one id begin each with a whole piece, and those whose ids are names of functions may call one twice.
 */
function isSaidUnderOther(call: KnownCall, piece: CallPiece): boolean {
  const { id, name, json } = piece;
  if (id === name || name !== call.name || piece.isText === true) return false;
  if (call.arguments.isWhole) return call.arguments.repeats(json);
  return !call.hasArguments || !json.trimStart().startsWith('{') || call.arguments.isSaidAgainIn(json);
}

const ANSWER_CHARS = 8;

/**
 * An id for a call that the server gave none, by its number in the answer. It also depends on the answer's id, because the calls of
 * all answers stand in one conversation afterwards, and some providers refuse an id that stands there twice.
 */
export function madeCallId(answerId: string, number: number): string {
  const answer =
    answerId === ''
      ? randomBase62(ANSWER_CHARS)
      : createHash('sha256').update(answerId).digest('hex').slice(0, ANSWER_CHARS);
  return `call_${answer}_${number}`;
}
