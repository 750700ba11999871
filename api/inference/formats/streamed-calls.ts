import { isRecord } from '#core/is-record.ts';
import { isEmptyObject, isNoArguments } from '../price/call-arguments.ts';
import type { Hidden } from '../scrub/scrub-words.ts';
import { CallIds } from './call-ids.ts';
import {
  CallNumbers,
  type CallPiece,
  type CallPieceState,
  callPiecesIn,
  isFlatCall,
  readCallPiece,
} from './call-numbers.ts';
import { recordOf, textOf } from './values.ts';

type Piece = Record<string, unknown>;

/**
 * The tool calls of one choice of a chat stream. OpenAI numbers them in the order in which they begin; the first piece of each has id,
 * type and name, and later pieces have its number and arguments alone. Clients join pieces by these rules, so pieces that servers write
 * otherwise are written again.
 */
export class StreamedCalls {
  readonly #numbers = new CallNumbers();
  /** By the order in which their server begins them, those included that turn out to be none. */
  readonly #calls: StreamedCall[] = [];
  readonly #ids: CallIds;
  /** Those of which something is missing if the answer ends now. Some servers write an end word into every chunk. */
  readonly #incomplete = new Set<StreamedCall>();
  #numbered = 0;
  #openCount = 0;

  /** @param provider No id of a call may repeat its key or address; `undefined`: there is none to hide. */
  constructor(provider?: Hidden['provider']) {
    this.#ids = new CallIds(provider);
  }

  /** Whether a call was shown, or will be. */
  get areAny(): boolean {
    return this.#numbered > 0;
  }

  /** Whether something is missing now that the answer ends. */
  get isIncomplete(): boolean {
    return this.#incomplete.size > 0;
  }

  /**
   * Whether the pieces of one chunk are as OpenAI writes them.
   *
   * @param isLast The chunk ends the answer.
   */
  areStandard(pieces: unknown, isLast: boolean): boolean {
    if (!Array.isArray(pieces)) return false;
    // A piece may belong to a call that waits, whatever its number.
    let count = this.#calls.length === this.#openCount ? this.#openCount : Number.NaN;
    const begun = new Set<unknown>();
    const isNew = ({ id }: Piece): boolean => this.#ids.isFree(textOf(id)) && begun.size < begun.add(id).size;
    return pieces.every((piece) => {
      if (!isRecord(piece) || typeof piece.index !== 'number') return false;
      const place = this.#numbers.placeOf(piece.index);
      const read = readCallPiece(piece);
      if (place === undefined) {
        const isFirst = piece.index === count++ && isFirstPiece(piece) && isNew(piece);
        return isFirst && hasOwnArguments(read, isLast);
      }
      const call = this.#calls[place];
      const isInPlace = isLaterPiece(piece) && call?.isOpen === true && call.index === piece.index;
      return isInPlace && this.#numbers.areNew(place, read);
    });
  }

  /** Keeps count of pieces that pass as they came. */
  note(pieces: unknown): void {
    for (const piece of callPiecesIn(pieces)) {
      const { call, read, json } = this.#callOf(piece, { isShown: true });
      call.index ??= this.#numbered++;
      if (!call.isOpen) {
        this.#ids.add(read.id);
        this.#openCount++;
      }
      call.isOpen = true;
      call.hasArguments ||= json !== '';
      this.#noteIncomplete(call);
    }
  }

  /**
   * Writes pieces of calls in the way of OpenAI. A call waits until its first piece is complete.
   *
   * @param isLast The answer ends with them.
   */
  repaired(pieces: unknown, answerId: string, isLast: boolean): Piece[] {
    return callPiecesIn(pieces).flatMap((piece) => this.#repairedPiece(piece, answerId, isLast));
  }

  /** Writes what is missing at the end: calls that still wait, and arguments that can be parsed. */
  missing(answerId: string): Piece[] {
    const incomplete = this.#calls.filter((call) => this.#incomplete.has(call));
    this.#incomplete.clear();
    return incomplete.flatMap((call) => {
      const { index } = call;
      if (index === null) return [];
      const rest = this.#numbers.restOf(call.number);
      if (!call.isOpen) {
        call.json += rest;
        if (!call.isCustom) call.json ||= NO_ARGUMENTS;
        return [this.#firstPiece(call, index, answerId)];
      }
      const json = rest || (call.hasArguments || call.isCustom ? '' : NO_ARGUMENTS);
      call.hasArguments = true;
      return json === '' ? [] : [{ index, ...bodyOf(call, {}, json) }];
    });
  }

  #repairedPiece(piece: Piece, answerId: string, isLast: boolean): Piece[] {
    const known = this.#callOf(piece, { isLast });
    const pieces = this.#piecesOf(known, piece, answerId);
    this.#noteIncomplete(known.call);
    return pieces;
  }

  #piecesOf({ call, read, json }: KnownPiece, piece: Piece, answerId: string): Piece[] {
    const { index: _index, id: _id, type, function: ofFunction, custom, ...rest } = piece;
    const { name: _name, arguments: _arguments, input: _input, ...inner } = recordOf(custom ?? ofFunction);
    if (!call.isOpen) {
      call.id ||= read.id;
      call.name ||= read.name;
      call.type ||= textOf(type);
      call.json += json;
      Object.assign(call.rest, rest);
      Object.assign(call.inner, inner);
      if (!isSomething(call)) return [];
      call.index ??= this.#numbered++;
      const isCalled = call.id !== '' || call.json !== '' || this.#numbers.isWaiting(call.number);
      const isComplete = call.name !== '' && isCalled;
      const mayBegin = isComplete || call.json.length > WAITING_CHARS_MAX;
      return mayBegin ? [this.#firstPiece(call, call.index, answerId)] : [];
    }
    call.hasArguments ||= json !== '';
    const hasBody = json !== '' || Object.keys(inner).length > 0;
    if (!hasBody && Object.keys(rest).length === 0) return [];
    return [{ index: call.index, ...(hasBody ? bodyOf(call, { ...inner }, json) : {}), ...rest }];
  }

  #firstPiece(call: StreamedCall, index: number, answerId: string): Piece {
    this.#openCount++;
    return firstPiece(call, index, this.#ids.idOf(call.id, answerId, index));
  }

  #callOf(piece: Piece, state: CallPieceState): KnownPiece {
    const read = readCallPiece(piece);
    const { number, json } = this.#numbers.add(read, state);
    const call = this.#calls[number] ?? newCall(number);
    this.#calls[number] = call;
    call.isCustom ||= isRecord(piece.custom);
    return { call, read, json };
  }

  #noteIncomplete(call: StreamedCall): void {
    if (this.#isIncomplete(call)) this.#incomplete.add(call);
    else this.#incomplete.delete(call);
  }

  #isIncomplete({ number, index, isOpen, hasArguments, isCustom }: StreamedCall): boolean {
    if (!isOpen) return index !== null;
    return !(hasArguments || isCustom) || this.#numbers.isWaiting(number);
  }
}

/** A piece, the call that it belongs to, and the arguments that are new to the call. */
interface KnownPiece {
  call: StreamedCall;
  read: CallPiece;
  json: string;
}

interface StreamedCall {
  /** Its place among all calls of the server. */
  number: number;
  id: string;
  name: string;
  type: string;
  isCustom: boolean;
  /** Arguments that came before the first piece was complete. */
  json: string;
  /** Other members of the call, such as its signature, and of its function, which came as early. */
  rest: Piece;
  inner: Piece;
  /** Its number among the calls; `null`: it has neither name nor arguments yet. */
  index: number | null;
  /** Its first piece was shown. */
  isOpen: boolean;
  hasArguments: boolean;
}

const newCall = (number: number): StreamedCall => ({
  number,
  id: '',
  name: '',
  type: '',
  isCustom: false,
  json: '',
  rest: {},
  inner: {},
  index: null,
  isOpen: false,
  hasArguments: false,
});

const NO_ARGUMENTS = '{}';
/** Arguments that wait for the name of their call. */
const WAITING_CHARS_MAX = 65_536;

/** A call that has neither name nor arguments is none: some servers send a last piece of nothing under an id of its own. */
const isSomething = ({ name, json, isCustom, type }: StreamedCall): boolean =>
  isCustom || name !== '' || json !== '' || (type !== '' && type !== 'function');

function firstPiece(call: StreamedCall, index: number, id: string): Piece {
  const { name, type, isCustom, json, inner, rest } = call;
  call.isOpen = true;
  call.hasArguments = json !== '';
  call.json = '';
  const ownType = isCustom ? 'custom' : 'function';
  return {
    index,
    id,
    type: type || ownType,
    ...bodyOf(call, { ...inner, name }, json),
    ...rest,
  };
}

const bodyOf = ({ isCustom }: StreamedCall, members: Piece, text: string): Piece =>
  isCustom ? { custom: { ...members, input: text } } : { function: { ...members, arguments: text } };

/** Whether arguments that come with the name are the call's own: an empty object may stand for those that still come. */
const hasOwnArguments = ({ json, isText }: CallPiece, isLast: boolean): boolean =>
  json === '' || isText === true || (!isNoArguments(json) && (isLast || !isEmptyObject(json)));

const isFirstPiece = ({ id, type, function: ofFunction, custom }: Piece): boolean => {
  const { name, arguments: json, input } = recordOf(custom ?? ofFunction);
  return textOf(id) !== '' && textOf(type) !== '' && textOf(name) !== '' && areTexts(json, input);
};

const isLaterPiece = (piece: Piece): boolean => {
  const { id, type, function: ofFunction, custom } = piece;
  const { name, arguments: json, input } = recordOf(custom ?? ofFunction);
  if (isFlatCall(piece)) return false;
  return id === undefined && type !== null && type !== '' && name === undefined && areTexts(json, input);
};

const areTexts = (...values: unknown[]): boolean =>
  values.every((value) => value === undefined || typeof value === 'string');
