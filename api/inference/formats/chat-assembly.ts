import { isRecord } from '#core/is-record.ts';
import { plainNumber } from '../json/exact-json.ts';
import { parseRecord } from '../json/parse-record.ts';
import { readAnswerPart } from '../price/answer-part.ts';
import { AnswerText, addChat } from '../price/answer-text.ts';
import { countedBy } from '../price/stream-text-count.ts';
import { AssembledCalls } from './assembled-calls.ts';
import type { Assembly, ReadEvent } from './call-format.ts';
import { callPiecesIn } from './call-numbers.ts';
import { ChatStream } from './chat-stream.ts';
import { ChoiceEnds } from './choice-ends.ts';
import { CountedElsewhere } from './counted-elsewhere.ts';
import { chatEndOf, endWordOf } from './end-words.ts';
import { mergeDelta } from './merge-delta.ts';
import { detailsOfPart } from './signed-reasoning.ts';
import { isSign, isSignOfLife } from './signs-of-life.ts';
import { isPlainChunk, looksLikeObject } from './stream-text.ts';
import { numberOf, records, textOf } from './values.ts';
import { idOfChoice } from './whole-choices.ts';
import { saysNothing, withMissing } from './whole-message.ts';

/** The whole answer that the chunks of a chat are pieces of. */
export class ChatAssembly extends CountedElsewhere implements Assembly {
  readonly unreadLineEnd = null;
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
    if (chunk === null) return { kind: 'malformed' };
    if (isSignOfLife(Object.keys(chunk), (name) => chunk[name])) return KEPT;
    addChat(this.#text, chunk);
    this.#add(chunk);
    return KEPT;
  }

  /** Some servers count nothing and mark no end, but say why the answer ends. */
  override isComplete(): boolean {
    return this.#ends.areAll || super.isComplete();
  }

  answer(): Buffer | null {
    const { usageRecord } = this.counter;
    if (this.#choices.size === 0 && usageRecord === null) return null;
    const choices = [...this.#choices.values()]
      .map((choice) => choice.whole(textOf(this.#frame.id)))
      .sort((a, b) => Number(a.index) - Number(b.index));
    // Some clients refuse a whole answer without a fingerprint, which pieces need not have.
    const frame = { system_fingerprint: null, ...this.#frame };
    const answer = JSON.stringify({ ...frame, object: 'chat.completion', choices });
    const usage = usageRecord?.bytes;
    if (usage === undefined) return Buffer.from(answer);
    // Its bytes as they came: a cost is read from its text.
    return Buffer.concat([Buffer.from(`${answer.slice(0, -1)},"usage":`), usage, Buffer.from('}')]);
  }

  #add(chunk: Record<string, unknown>): void {
    for (const name in chunk) {
      if (name === 'choices' || name === 'usage' || name === '__proto__' || isSign(name)) continue;
      if (!SAID_FIRST.has(name)) {
        if (!saysNothing(chunk[name]) || !Object.hasOwn(this.#frame, name)) this.#frame[name] = chunk[name];
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
  readonly #calls = new AssembledCalls();
  /** The one call of an answer in the way that chats had before tools. */
  readonly #legacyCall = new AssembledCalls();

  constructor(index: unknown) {
    this.#value = { index, message: this.#message, logprobs: null, finish_reason: null };
  }

  add({ delta, ...rest }: Readonly<Record<string, unknown>>): void {
    const known = this.#value;
    // Some vendors count their tokens here.
    const { logprobs, index: _index, usage: _usage, message, finish_reason: reason, ...said } = rest;
    for (const [name, value] of Object.entries(said)) {
      const before = known[name];
      // The ids of tokens, of which each chunk has its own.
      if (areNumbers(value) && beginsWithNumber(before)) for (const each of value) before.push(each);
      else if (!saysNothing(value) || !(name in known)) known[name] = value;
    }
    if (endWordOf(reason) !== '') known.finish_reason = endWordOf(reason);
    if (isRecord(message)) this.#repeated = withMissing(message, this.#repeated);
    if (logprobs !== undefined) mergeDelta(known, { logprobs });
    if (isRecord(delta)) this.#addDelta(delta, endWordOf(reason) !== '');
  }

  whole(answerId: string): Record<string, unknown> {
    const { usage: _, ...repeated } = this.#repeated;
    const message = withMissing(this.#message, repeated);
    const id = idOfChoice(answerId, this.#value.index);
    const calls = this.#calls.whole(id);
    if (calls.length > 0) message.tool_calls = calls;
    const [legacyCall] = this.#legacyCall.whole(id);
    if (legacyCall !== undefined) message.function_call = legacyCall.function;
    const reason = chatEndOf(textOf(this.#value.finish_reason), callPiecesIn(message.tool_calls).length > 0);
    return { ...this.#value, message, finish_reason: reason };
  }

  #addDelta(
    { usage: _, content, tool_calls: calls, function_call: called, ...piece }: Record<string, unknown>,
    isLast: boolean,
  ): void {
    const message = this.#message;
    mergeDelta(message, piece);
    if (Array.isArray(content)) for (const part of records(content)) mergeDelta(message, deltaOf(part));
    else if (content !== undefined) mergeDelta(message, { content });
    for (const call of callPiecesIn(calls)) this.#calls.add(call, isLast);
    if (isRecord(called)) this.#legacyCall.add({ index: 0, function: called }, isLast);
    else if (called !== undefined) mergeDelta(message, { function_call: called });
  }
}

/** To look at all of a list that grows would take quadratic time. */
const beginsWithNumber = (list: unknown): list is unknown[] =>
  Array.isArray(list) && numberOf(list[0]) !== null;

const areNumbers = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.length > 0 && value.every((each) => numberOf(each) !== null);

/** Some servers send a message as a list of parts, and a part says this. */
function deltaOf(part: Record<string, unknown>): Record<string, unknown> {
  const said = readAnswerPart(part);
  const signed = detailsOfPart(part);
  const signatures = signed.length === 0 ? {} : { reasoning_details: signed };
  if (said === null) return signed.length === 0 ? { content_parts: [part] } : signatures;
  return { [said.type === 'text' ? 'content' : said.type]: said.text, ...signatures };
}
