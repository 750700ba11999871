import { isRecord } from '#core/is-record.ts';
import { CallIds } from './call-ids.ts';
import { CallNumbers, type CallPiece, callPiecesIn, readCallPiece } from './call-numbers.ts';
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
  readonly #ids = new CallIds();
  #numbered = 0;
  #openCount = 0;

  /** Whether a call was shown, or will be. */
  get areAny(): boolean {
    return this.#numbered > 0;
  }

  /** Whether something is missing now that the answer ends. */
  get isIncomplete(): boolean {
    return this.#calls.some(isIncomplete);
  }

  /** Whether the pieces of one chunk are as OpenAI writes them. */
  areStandard(pieces: unknown): boolean {
    if (!Array.isArray(pieces)) return false;
    // A piece may belong to a call that waits, whatever its number.
    let count = this.#calls.length === this.#openCount ? this.#openCount : Number.NaN;
    const begun = new Set<unknown>();
    const isNew = ({ id }: Piece): boolean => !this.#ids.has(textOf(id)) && begun.size < begun.add(id).size;
    return pieces.every((piece) => {
      if (!isRecord(piece) || typeof piece.index !== 'number') return false;
      const place = this.#numbers.placeOf(piece.index);
      if (place === undefined) return piece.index === count++ && isFirstPiece(piece) && isNew(piece);
      const call = this.#calls[place];
      return isLaterPiece(piece) && call?.isOpen === true && call.index === piece.index;
    });
  }

  /** Keeps count of pieces that pass as they came. */
  note(pieces: unknown): void {
    for (const piece of callPiecesIn(pieces)) {
      const { call, read } = this.#callOf(piece);
      call.index ??= this.#numbered++;
      if (!call.isOpen) {
        this.#ids.add(read.id);
        this.#openCount++;
      }
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
    return this.#calls.flatMap((call) => {
      const { index } = call;
      if (index === null || !isIncomplete(call)) return [];
      if (!call.isOpen) {
        if (!call.isCustom) call.json ||= NO_ARGUMENTS;
        return [this.#firstPiece(call, index, answerId)];
      }
      call.hasArguments = true;
      return [{ index, function: { arguments: NO_ARGUMENTS } }];
    });
  }

  #repairedPiece(piece: Piece, answerId: string): Piece[] {
    const { call, read } = this.#callOf(piece);
    const { index: _index, id: _id, type, function: ofFunction, custom, ...rest } = piece;
    const { name: _name, arguments: _arguments, input: _input, ...inner } = recordOf(custom ?? ofFunction);
    if (!call.isOpen) {
      call.id ||= read.id;
      call.name ||= read.name;
      call.type ||= textOf(type);
      call.json += read.json;
      Object.assign(call.rest, rest);
      Object.assign(call.inner, inner);
      if (!isSomething(call)) return [];
      call.index ??= this.#numbered++;
      const isComplete = call.name !== '' && (call.id !== '' || call.json !== '');
      const mayBegin = isComplete || call.json.length > WAITING_CHARS_MAX;
      return mayBegin ? [this.#firstPiece(call, call.index, answerId)] : [];
    }
    call.hasArguments ||= read.json !== '';
    const hasBody = read.json !== '' || Object.keys(inner).length > 0;
    if (!hasBody && Object.keys(rest).length === 0) return [];
    return [{ index: call.index, ...(hasBody ? bodyOf(call, { ...inner }, read.json) : {}), ...rest }];
  }

  #firstPiece(call: StreamedCall, index: number, answerId: string): Piece {
    this.#openCount++;
    return firstPiece(call, index, this.#ids.idOf(call.id, answerId, index));
  }

  #callOf(piece: Piece): { call: StreamedCall; read: CallPiece } {
    const read = readPiece(piece);
    const number = this.#numbers.numberOf(read);
    const call = this.#calls[number] ?? newCall();
    this.#calls[number] = call;
    call.isCustom ||= isRecord(piece.custom);
    return { call, read };
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
  /** Its number among the calls; `null`: it has neither name nor arguments yet. */
  index: number | null;
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

const isIncomplete = ({ index, isOpen, hasArguments, isCustom }: StreamedCall): boolean =>
  isOpen ? !(hasArguments || isCustom) : index !== null;

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
