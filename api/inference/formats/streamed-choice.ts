import { isRecord } from '#core/is-record.ts';
import { readAnswerPart } from '../price/answer-part.ts';
import type { Hidden } from '../scrub/scrub-words.ts';
import { callPiecesIn } from './call-numbers.ts';
import { chatEndOf, endWordOf } from './end-words.ts';
import { detailsOfPart } from './signed-reasoning.ts';
import { StreamedCalls } from './streamed-calls.ts';
import { recordOf, records, textOf } from './values.ts';
import { kindOfMember, saysNothing, withMissing } from './whole-message.ts';

type Members = Record<string, unknown>;

export interface RepairedChoice {
  choice: Members;
  /** Another chunk that differs from this one in its text alone is repaired in the same way. */
  isRepeatable: boolean;
}

/** One choice of a chat stream, whose chunks are as OpenAI documents them, or are made so. */
export class StreamedChoice {
  readonly #calls: StreamedCalls;
  /** The one call of an answer in the way that chats had before tools. */
  readonly #legacyCall = new StreamedCalls();
  /** Members that the deltas have said something under. */
  readonly #said = new Set<string>();
  /** The message as a server repeats it beside the deltas, or sends it in the place of them. */
  #repeated: Readonly<Members> = {};
  /** The word for the end that waits for calls without arguments, which may still come; empty: none waits. */
  #waitingEnd = '';
  #isBegun = false;
  #isFinished = false;

  /** @param provider No id of a call may repeat its key or address; `undefined`: there is none to hide. */
  constructor(provider?: Hidden['provider']) {
    this.#calls = new StreamedCalls(provider);
  }

  isStandard({ delta, message, finish_reason: reason }: Members): boolean {
    if (!isRecord(delta) || message !== undefined) return false;
    const { role, content, tool_calls: calls, function_call: called } = delta;
    const isText = typeof content === 'string' || (content ?? null) === null;
    const isRoleInPlace = this.#isBegun ? role === undefined : textOf(role) !== '';
    if (!isText || !isRoleInPlace) return false;
    const isLast = (reason ?? null) !== null;
    if (calls !== undefined && !this.#calls.areStandard(calls, isLast)) return false;
    const isCalled = (called ?? null) !== null;
    if (isCalled && !this.#legacyCall.areStandard([pieceOf(called)], isLast)) return false;
    if (reason === null) return !this.#isFinished || !this.#isRepeated;
    const isComplete = !this.#isRepeated && !this.#areCallsIncomplete;
    const pieces = isCalled ? [...records(calls), pieceOf(called)] : records(calls);
    return isComplete && isWordOfFormat(reason) && pieces.every(hasArguments);
  }

  get isEnded(): boolean {
    return this.#isFinished || this.#waitingEnd !== '';
  }

  /** Keeps count of a chunk that passes as it came. */
  note({ delta, finish_reason: reason }: Members): void {
    this.#isBegun = true;
    if (typeof reason === 'string') this.#isFinished = true;
    const { tool_calls: calls, ...said } = recordOf(delta);
    this.#noteSaid(said);
    if (calls !== undefined) this.#calls.note(calls);
    if (isRecord(said.function_call)) this.#legacyCall.note([pieceOf(said.function_call)]);
  }

  repaired(choice: Members, number: number, answerId: string): RepairedChoice {
    const { index: _, delta, message, finish_reason: reason, ...rest } = choice;
    const word = endWordOf(reason);
    const wasBegun = this.#isBegun;
    const said = this.#delta(recordOf(delta), answerId, word !== '');
    if (isRecord(message)) this.#repeated = withMissing(message, this.#repeated);
    const isWhole = this.#isRepeated && (word !== '' || this.#isFinished || this.#waitingEnd !== '');
    const shown = isWhole ? this.#withRepeated(said, answerId) : said;
    const mustWait = word !== '' && this.#areCallsIncomplete;
    if (mustWait) this.#waitingEnd = word;
    else if (word !== '') this.#isFinished = true;
    return {
      choice: {
        index: number,
        delta: shown,
        ...rest,
        finish_reason: word === '' || mustWait ? null : chatEndOf(word, this.#calls.areAny),
      },
      isRepeatable: wasBegun && !mustWait && message === undefined && !hasCalls(recordOf(delta)),
    };
  }

  /** The last chunk of a choice that its server has not ended; `null`: nothing is missing. */
  rest(index: number, answerId: string): Members | null {
    if (this.#isFinished && !this.#isRepeated && !this.#areCallsIncomplete) return null;
    const { tool_calls: pieces, ...delta } = this.#withRepeated({}, answerId);
    const calls = [...callPiecesIn(pieces), ...this.#calls.missing(answerId)];
    const [called] = this.#legacyCall.missing(answerId);
    if (called !== undefined) delta.function_call = called.function;
    const ownWord = this.#legacyCall.areAny && !this.#calls.areAny ? 'function_call' : '';
    const word = chatEndOf(this.#waitingEnd || ownWord, this.#calls.areAny);
    const finish_reason = this.#isFinished ? null : word;
    this.#isFinished = true;
    return { index, delta: calls.length === 0 ? delta : { ...delta, tool_calls: calls }, finish_reason };
  }

  get #areCallsIncomplete(): boolean {
    return this.#calls.isIncomplete || this.#legacyCall.isIncomplete;
  }

  get #isRepeated(): boolean {
    return Object.keys(this.#repeated).length > 0;
  }

  #delta(
    { role, content, tool_calls: calls, function_call: called, ...rest }: Members,
    answerId: string,
    isLast: boolean,
  ): Members {
    // Clients cannot name the author of a message that begins without one, and Python's official one adds up those of all chunks.
    const author = this.#isBegun ? '' : textOf(role) || 'assistant';
    this.#isBegun = true;
    const delta: Members = { ...(author === '' ? {} : { role: author }) };
    if (Array.isArray(content)) addParts(delta, content);
    else if (content !== undefined) delta.content = content;
    for (const [name, value] of Object.entries(rest))
      delta[name] =
        typeof value === 'string' && typeof delta[name] === 'string' ? value + delta[name] : value;
    if (isRecord(called)) {
      const [piece] = this.#legacyCall.repaired([pieceOf(called)], answerId, isLast);
      if (piece !== undefined) delta.function_call = piece.function;
    } else if (called !== undefined) delta.function_call = called;
    this.#noteSaid(delta);
    const pieces = this.#calls.repaired(calls, answerId, isLast);
    return pieces.length === 0 ? delta : { ...delta, tool_calls: pieces };
  }

  #noteSaid(delta: Members): void {
    for (const name in delta) if (!saysNothing(delta[name])) this.#said.add(kindOfMember(name));
  }

  /** Adds what the whole message says and the deltas have left out. */
  #withRepeated({ tool_calls: pieces, ...delta }: Members, answerId: string): Members {
    const { role: _role, usage: _usage, content, tool_calls: whole, ...rest }: Members = this.#repeated;
    this.#repeated = {};
    if (this.#legacyCall.areAny) delete rest.function_call;
    const missing: Members = {};
    if (Array.isArray(content)) addParts(missing, content);
    else missing.content = content;
    Object.assign(missing, rest);
    for (const [name, value] of Object.entries(missing))
      if (!saysNothing(value) && !this.#said.has(kindOfMember(name))) delta[name] = value;
    this.#noteSaid(delta);
    const calls = [
      ...callPiecesIn(pieces),
      ...(this.#calls.areAny ? [] : this.#calls.repaired(whole, answerId, true)),
    ];
    return calls.length === 0 ? delta : { ...delta, tool_calls: calls };
  }
}

/** A call in the old way as a piece of a call, whose first piece alone has the name. */
const pieceOf = (called: unknown): Members => ({
  index: 0,
  ...(textOf(recordOf(called).name) === '' ? {} : { id: LEGACY_ID, type: 'function' }),
  function: called,
});
/** Stands for the id of a call that can have none, because it is the only one. */
const LEGACY_ID = 'function_call';

const hasCalls = ({ tool_calls: calls, function_call: called }: Members): boolean =>
  (calls ?? called ?? null) !== null;

const isWordOfFormat = (word: unknown): boolean =>
  typeof word === 'string' && chatEndOf(word, false) === word;

const hasArguments = ({ function: called, custom }: Members): boolean =>
  isRecord(custom) || textOf(recordOf(called).arguments) !== '';

/** Some servers send a message as a list of parts, which clients print as `[object Object]`. */
export function addParts(delta: Members, parts: readonly unknown[]): void {
  const others: Members[] = [];
  const signed: Members[] = [];
  for (const part of records(parts)) {
    signed.push(...detailsOfPart(part));
    const said = readAnswerPart(part);
    if (said === null && part.type !== 'redacted_thinking') others.push(part);
    else if (said !== null) {
      const name = said.type === 'text' ? 'content' : said.type;
      delta[name] = textOf(delta[name]) + said.text;
    }
  }
  if (others.length > 0) delta.content_parts = others;
  if (signed.length > 0) delta.reasoning_details = signed;
}
