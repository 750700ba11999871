import { isRecord } from '#core/is-record.ts';
import { plainNumber } from '../json/exact-json.ts';
import { parseRecord } from '../json/parse-record.ts';
import { readAnswerPart } from '../price/answer-part.ts';
import { AnswerText, addChat } from '../price/answer-text.ts';
import { joinedName } from '../price/call-name.ts';
import { countedBy } from '../price/stream-text-count.ts';
import type { Assembly, ReadEvent } from './call-format.ts';
import { CallIds } from './call-ids.ts';
import { CallNumbers, callPiecesIn, readCallPiece } from './call-numbers.ts';
import { ChatStream } from './chat-stream.ts';
import { ChoiceEnds } from './choice-ends.ts';
import { CountedElsewhere } from './counted-elsewhere.ts';
import { chatEndOf, endWordOf } from './end-words.ts';
import { mergeDelta } from './merge-delta.ts';
import { detailsOfPart } from './signed-reasoning.ts';
import { isSign, isSignOfLife } from './signs-of-life.ts';
import { CHOICES_NEEDLE, isPlainChunk, looksLikeObject } from './stream-text.ts';
import { recordOf, records, textOf } from './values.ts';
import { idOfChoice, wholeCall } from './whole-choices.ts';
import { saysNothing, withMissing } from './whole-message.ts';

/** The whole answer that the chunks of a chat are pieces of. */
export class ChatAssembly extends CountedElsewhere implements Assembly {
  readonly unreadLineEnd = null;
  readonly answerNeedle = CHOICES_NEEDLE;
  readonly namesEvents = false;
  readonly #text = new AnswerText();
  readonly text = countedBy(() => this.#text.bytes);
  /** Knows usage, errors and the end, as for a caller who wants the stream. */
  protected readonly counter = new ChatStream(
    { upstreamModel: '', publicModel: '', showUsage: true },
    () => this.#text.bytes,
  );
  /** All that chunks say beside choices and usage: id, model, tier. */
  readonly #frame: Record<string, unknown> = {};
  readonly #choices = new Map<unknown, Choice>();
  readonly #ends = new ChoiceEnds();

  read(data: Buffer, eventName: string): ReadEvent {
    // Most pieces say neither usage nor error nor end.
    if (eventName !== '' || !looksLikeObject(data) || !isPlainChunk(data)) {
      const event = this.counter.read(data, eventName);
      if (event.kind === 'done' || event.kind === 'malformed' || event.kind === 'error') return event;
    }
    const chunk = parseRecord(data);
    if (isSignOfLife(Object.keys(chunk), (name) => chunk[name])) return KEPT;
    if (chunk === null) return { kind: 'malformed' };
    addChat(this.#text, chunk);
    this.#add(chunk);
    return KEPT;
  }

  /** Some servers count nothing and mark no end, but say why the answer ends. */
  override isComplete(): boolean {
    return this.#ends.areAll || super.isComplete();
  }

  answer(): Buffer | null {
    if (this.#choices.size === 0) return null;
    const choices = [...this.#choices.values()]
      .map((choice) => choice.whole(textOf(this.#frame.id)))
      .sort((a, b) => Number(a.index) - Number(b.index));
    // Some clients refuse a whole answer without a fingerprint, which pieces need not have.
    const frame = { system_fingerprint: null, ...this.#frame };
    const answer = JSON.stringify({ ...frame, object: 'chat.completion', choices });
    const usage = this.counter.usageRecord?.bytes;
    if (usage === undefined) return Buffer.from(answer);
    // Its bytes as they came: a cost is read from its text.
    return Buffer.concat([Buffer.from(`${answer.slice(0, -1)},"usage":`), usage, Buffer.from('}')]);
  }

  #add(chunk: Record<string, unknown>): void {
    for (const name in chunk) {
      if (name === 'choices' || name === 'usage' || name === '__proto__' || isSign(name)) continue;
      if (!SAID_FIRST.has(name)) {
        if (chunk[name] !== null || !Object.hasOwn(this.#frame, name)) this.#frame[name] = chunk[name];
      } else if (isUnsaid(this.#frame[name])) this.#frame[name] = chunk[name];
    }
    // A server that numbers no choices has one.
    for (const choice of records(chunk.choices)) {
      this.#ends.note(choice);
      this.#choice(plainNumber(choice.index ?? 0)).add(choice);
    }
  }

  #choice(index: unknown): Choice {
    const known = this.#choices.get(index) ?? new Choice(index);
    this.#choices.set(index, known);
    return known;
  }
}

const KEPT: ReadEvent = { kind: 'kept' };

/** The first chunk that has one names the answer: some servers make up another id for each chunk, or begin with an empty one. */
const SAID_FIRST: ReadonlySet<string> = new Set(['id', 'created']);
const isUnsaid = (value: unknown): boolean => saysNothing(value) || plainNumber(value) === 0;

/** One choice of the whole answer, with what it has and its pieces need not say. */
class Choice {
  readonly #value: Record<string, unknown>;
  /** Its pieces together. */
  readonly #message: Record<string, unknown> = { role: 'assistant', content: null, refusal: null };
  /** The message as a server repeats it beside the pieces, or sends it in the place of them. */
  #repeated: Readonly<Record<string, unknown>> = {};
  readonly #calls: Record<string, unknown>[] = [];
  /** Those that are something, in the order in which they came to be. */
  readonly #begun = new Set<Record<string, unknown>>();
  readonly #numbers = new CallNumbers();

  constructor(index: unknown) {
    this.#value = { index, message: this.#message, logprobs: null, finish_reason: null };
  }

  add({ delta, ...rest }: Readonly<Record<string, unknown>>): void {
    const known = this.#value;
    // Some vendors count their tokens here.
    const { logprobs, index: _index, usage: _usage, message, finish_reason: reason, ...said } = rest;
    for (const [name, value] of Object.entries(said))
      if (value !== null || !(name in known)) known[name] = value;
    if (endWordOf(reason) !== '') known.finish_reason = reason;
    if (isRecord(message)) this.#repeated = withMissing(message, this.#repeated);
    if (logprobs !== undefined) mergeDelta(known, { logprobs });
    if (isRecord(delta)) this.#addDelta(delta, endWordOf(reason) !== '');
  }

  whole(answerId: string): Record<string, unknown> {
    const { usage: _, ...repeated } = this.#repeated;
    const message = withMissing(this.#message, repeated);
    const id = idOfChoice(answerId, this.#value.index);
    const ids = new CallIds();
    this.#endCalls();
    const calls = Array.from(this.#begun, (call, number) =>
      wholeCall(call, ids.idOf(textOf(call.id), id, number)),
    );
    if (calls.length > 0) message.tool_calls = calls;
    const reason = chatEndOf(textOf(this.#value.finish_reason), callPiecesIn(message.tool_calls).length > 0);
    return { ...this.#value, message, finish_reason: reason };
  }

  #addDelta(
    { usage: _, content, tool_calls: calls, ...piece }: Record<string, unknown>,
    isLast: boolean,
  ): void {
    const message = this.#message;
    mergeDelta(message, piece);
    if (Array.isArray(content)) for (const part of records(content)) mergeDelta(message, deltaOf(part));
    else if (content !== undefined) mergeDelta(message, { content });
    for (const call of callPiecesIn(calls)) this.#addCall(call, isLast);
  }

  #addCall(call: Record<string, unknown>, isLast: boolean): void {
    const piece = readCallPiece(call);
    const { index: _, function: given, ...rest } = call;
    const { number, json } = this.#numbers.add(piece, { isLast });
    const known = this.#calls[number] ?? {};
    this.#calls[number] = known;
    // Its id is the one that it began with.
    if (textOf(known.id) !== '') delete rest.id;
    const { arguments: _arguments, ...ofFunction } = recordOf(given);
    const begun = recordOf(known.function);
    if (piece.name !== '')
      ofFunction.name = joinedName(textOf(begun.name), piece.name, textOf(begun.arguments) !== '');
    if (isRecord(given)) mergeDelta(rest, { function: { ...ofFunction, arguments: json } });
    mergeDelta(known, rest);
    if (isSomething(known)) this.#begun.add(known);
  }

  #endCalls(): void {
    for (const [number, call] of this.#calls.entries()) {
      const rest = this.#numbers.restOf(number);
      if (rest !== '') mergeDelta(call, { function: { arguments: rest } });
    }
  }
}

/** Some servers send a message as a list of parts, and a part says this. */
function deltaOf(part: Record<string, unknown>): Record<string, unknown> {
  const said = readAnswerPart(part);
  const signed = detailsOfPart(part);
  const signatures = signed.length === 0 ? {} : { reasoning_details: signed };
  if (said === null) return signed.length === 0 ? { content_parts: [part] } : signatures;
  return { [said.type === 'text' ? 'content' : said.type]: said.text, ...signatures };
}

/** A call that has neither name nor arguments is none: some servers send a last piece of nothing under an id of its own. */
function isSomething({ type, function: called, custom }: Record<string, unknown>): boolean {
  if (isRecord(custom) || (textOf(type) !== '' && type !== 'function')) return true;
  const { name, arguments: given } = recordOf(called);
  return textOf(name) !== '' || textOf(given) !== '';
}
