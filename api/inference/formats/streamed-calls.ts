import { isRecord } from '#core/is-record.ts';
import { CallNumbers, type CallPiece, callPiecesIn, madeCallId, readCallPiece } from './call-numbers.ts';
import { recordOf, textOf } from './values.ts';

type Piece = Record<string, unknown>;

/**
 * The tool calls of one choice of a chat stream. OpenAI numbers them in the order in which they begin; the first piece of each has id,
 * type and name, and later pieces have its number and arguments alone. Clients join pieces by these rules, so pieces that servers write
 * otherwise are written again.
 */
export class StreamedCalls {
  readonly #numbers = new CallNumbers();
  /** By their numbers. */
  readonly #calls: StreamedCall[] = [];

  get count(): number {
    return this.#calls.length;
  }

  /** Whether something is missing now that the answer ends. */
  get isIncomplete(): boolean {
    return this.#calls.some(isIncomplete);
  }

  /** Whether the pieces of one chunk are as OpenAI writes them. */
  areStandard(pieces: unknown): boolean {
    if (!Array.isArray(pieces)) return false;
    let count = this.#calls.length;
    return pieces.every((piece) => {
      if (!isRecord(piece) || typeof piece.index !== 'number') return false;
      const place = this.#numbers.placeOf(piece.index);
      if (place === undefined) return piece.index === count++ && isFirstPiece(piece);
      return place === piece.index && isLaterPiece(piece) && this.#calls[place]?.isOpen === true;
    });
  }

  /** Keeps count of pieces that pass as they came. */
  note(pieces: unknown): void {
    for (const piece of callPiecesIn(pieces)) {
      const { call, read } = this.#callOf(piece);
      call.isOpen = true;
      call.hasArguments ||= read.json !== '';
    }
  }

  /** Writes pieces of calls in the way of OpenAI. A call waits until its first piece is complete. */
  repaired(pieces: unknown, answerId: string): Piece[] {
    return callPiecesIn(pieces).flatMap((piece) => this.#repairedPiece(piece, answerId));
  }

  /** Writes what is missing at the end: calls that still wait, and arguments that can be parsed. */
  missing(answerId: string): Piece[] {
    return this.#calls.flatMap((call, index) => {
      if (!isIncomplete(call)) return [];
      if (!call.isOpen) {
        if (!call.isCustom) call.json ||= NO_ARGUMENTS;
        return [firstPiece(call, index, answerId)];
      }
      call.hasArguments = true;
      return [{ index, function: { arguments: NO_ARGUMENTS } }];
    });
  }

  #repairedPiece(piece: Piece, answerId: string): Piece[] {
    const { call, read, number } = this.#callOf(piece);
    const { index: _index, id: _id, type, function: ofFunction, custom, ...rest } = piece;
    const { name: _name, arguments: _arguments, input: _input, ...inner } = recordOf(custom ?? ofFunction);
    if (!call.isOpen) {
      call.id ||= read.id;
      call.name ||= read.name;
      call.type ||= textOf(type);
      call.json += read.json;
      Object.assign(call.rest, rest);
      Object.assign(call.inner, inner);
      const isComplete = call.name !== '' && (call.id !== '' || call.json !== '');
      return isComplete || call.json.length > WAITING_CHARS_MAX ? [firstPiece(call, number, answerId)] : [];
    }
    call.hasArguments ||= read.json !== '';
    const hasBody = read.json !== '' || Object.keys(inner).length > 0;
    if (!hasBody && Object.keys(rest).length === 0) return [];
    return [{ index: number, ...(hasBody ? bodyOf(call, { ...inner }, read.json) : {}), ...rest }];
  }

  #callOf(piece: Piece): { call: StreamedCall; read: CallPiece; number: number } {
    const read = readPiece(piece);
    const number = this.#numbers.numberOf(read);
    const call = this.#calls[number] ?? newCall();
    this.#calls[number] = call;
    call.isCustom ||= isRecord(piece.custom);
    return { call, read, number };
  }
}

interface StreamedCall {
  id: string;
  name: string;
  type: string;
  isCustom: boolean;
  /** Arguments that came before the first piece was complete. */
  json: string;
  /** Other members of the call, such as its signature, and of its function, which came as early. */
  rest: Piece;
  inner: Piece;
  /** Its first piece was shown. */
  isOpen: boolean;
  hasArguments: boolean;
}

const newCall = (): StreamedCall => ({
  id: '',
  name: '',
  type: '',
  isCustom: false,
  json: '',
  rest: {},
  inner: {},
  isOpen: false,
  hasArguments: false,
});

const NO_ARGUMENTS = '{}';
/** Arguments that wait for the name of their call. */
const WAITING_CHARS_MAX = 65_536;

/** A call that has neither name nor arguments is none: some servers send a last piece of nothing under an id of its own. */
const isIncomplete = ({ isOpen, hasArguments, isCustom, name, json }: StreamedCall): boolean =>
  isOpen ? !(hasArguments || isCustom) : name !== '' || json !== '';

function firstPiece(call: StreamedCall, index: number, answerId: string): Piece {
  const { id, name, type, isCustom, json, inner, rest } = call;
  call.isOpen = true;
  call.hasArguments = json !== '';
  call.json = '';
  const ownType = isCustom ? 'custom' : 'function';
  return {
    index,
    id: id || madeCallId(answerId, index),
    type: type || ownType,
    ...bodyOf(call, { ...inner, name }, json),
    ...rest,
  };
}

const bodyOf = ({ isCustom }: StreamedCall, members: Piece, text: string): Piece =>
  isCustom ? { custom: { ...members, input: text } } : { function: { ...members, arguments: text } };

/** A call of a custom tool has a text in the place of arguments. */
function readPiece(piece: Piece): CallPiece {
  const read = readCallPiece(piece);
  if (!isRecord(piece.custom)) return read;
  return { ...read, name: textOf(piece.custom.name), json: textOf(piece.custom.input) };
}

const isFirstPiece = ({ id, type, function: ofFunction, custom }: Piece): boolean => {
  const { name, arguments: json, input } = recordOf(custom ?? ofFunction);
  return textOf(id) !== '' && textOf(type) !== '' && textOf(name) !== '' && areTexts(json, input);
};

const isLaterPiece = ({ id, type, function: ofFunction, custom }: Piece): boolean => {
  const { name, arguments: json, input } = recordOf(custom ?? ofFunction);
  return id === undefined && type !== null && type !== '' && name === undefined && areTexts(json, input);
};

const areTexts = (...values: unknown[]): boolean =>
  values.every((value) => value === undefined || typeof value === 'string');
