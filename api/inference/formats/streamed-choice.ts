import { isRecord } from '#core/is-record.ts';
import { readAnswerPart } from '../price/answer-part.ts';
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
  readonly #calls = new StreamedCalls();
  /** Members that the deltas have said something under. */
  readonly #said = new Set<string>();
  /** The message as a server repeats it beside the deltas, or sends it in the place of them. */
  #repeated: Readonly<Members> = {};
  /** The word for the end that waits for calls without arguments, which may still come; empty: none waits. */
  #waitingEnd = '';
  #isBegun = false;
  #isFinished = false;

  isStandard({ delta, message, finish_reason: reason }: Members): boolean {
    if (!isRecord(delta) || message !== undefined) return false;
    const { role, content, tool_calls: calls } = delta;
    const isText = typeof content === 'string' || (content ?? null) === null;
    const isRoleInPlace = this.#isBegun ? role === undefined : textOf(role) !== '';
    if (!isText || !isRoleInPlace) return false;
    if (calls !== undefined && !this.#calls.areStandard(calls, (reason ?? null) !== null)) return false;
    if (reason === null) return !this.#isFinished || !this.#isRepeated;
    const isComplete = !this.#isRepeated && !this.#calls.isIncomplete;
    return isComplete && isWordOfFormat(reason) && records(calls).every(hasArguments);
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
  }

  repaired(choice: Members, number: number, answerId: string): RepairedChoice {
    const { index: _, delta, message, finish_reason: reason, ...rest } = choice;
    const word = endWordOf(reason);
    const wasBegun = this.#isBegun;
    const said = this.#delta(recordOf(delta), answerId, word !== '');
    if (isRecord(message)) this.#repeated = withMissing(message, this.#repeated);
    const isWhole = this.#isRepeated && (word !== '' || this.#isFinished || this.#waitingEnd !== '');
    const shown = isWhole ? this.#withRepeated(said, answerId) : said;
    const mustWait = word !== '' && this.#calls.isIncomplete;
    if (mustWait) this.#waitingEnd = word;
    else if (word !== '') this.#isFinished = true;
    return {
      choice: {
        index: number,
        delta: shown,
        ...rest,
        finish_reason: word === '' || mustWait ? null : chatEndOf(word, this.#calls.areAny),
      },
      isRepeatable:
        wasBegun && !mustWait && message === undefined && (recordOf(delta).tool_calls ?? null) === null,
    };
  }

  /** The last chunk of a choice that its server has not ended; `null`: nothing is missing. */
  rest(index: number, answerId: string): Members | null {
    if (this.#isFinished && !this.#isRepeated && !this.#calls.isIncomplete) return null;
    const { tool_calls: pieces, ...delta } = this.#withRepeated({}, answerId);
    const calls = [...callPiecesIn(pieces), ...this.#calls.missing(answerId)];
    const word = chatEndOf(this.#waitingEnd, this.#calls.areAny);
    const finish_reason = this.#isFinished ? null : word;
    this.#isFinished = true;
    return { index, delta: calls.length === 0 ? delta : { ...delta, tool_calls: calls }, finish_reason };
  }

  get #isRepeated(): boolean {
    return Object.keys(this.#repeated).length > 0;
  }

  #delta({ role, content, tool_calls: calls, ...rest }: Members, answerId: string, isLast: boolean): Members {
    // Clients cannot name the author of a message that begins without one, and Python's official one adds up those of all chunks.
    const author = this.#isBegun ? '' : textOf(role) || 'assistant';
    this.#isBegun = true;
    const delta: Members = { ...(author === '' ? {} : { role: author }) };
    if (Array.isArray(content)) addParts(delta, content);
    else if (content !== undefined) delta.content = content;
    for (const [name, value] of Object.entries(rest))
      delta[name] =
        typeof value === 'string' && typeof delta[name] === 'string' ? value + delta[name] : value;
    this.#noteSaid(delta);
    const pieces = this.#calls.repaired(calls, answerId, isLast);
    return pieces.length === 0 ? delta : { ...delta, tool_calls: pieces };
  }

  #noteSaid(delta: Members): void {
    for (const name in delta) if (!saysNothing(delta[name])) this.#said.add(kindOfMember(name));
  }

  /** Adds what the whole message says and the deltas have left out. */
  #withRepeated({ tool_calls: pieces, ...delta }: Members, answerId: string): Members {
    const { role: _role, usage: _usage, content, tool_calls: whole, ...rest } = this.#repeated;
    this.#repeated = {};
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
