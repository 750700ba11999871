import { isRecord } from '#core/is-record.ts';
import { plainNumber } from '../json/exact-json.ts';
import { parseRecord } from '../json/parse-record.ts';
import { AnswerText, addChat } from '../price/answer-text.ts';
import { countedBy } from '../price/stream-text-count.ts';
import type { Assembly, ReadEvent } from './call-format.ts';
import { ChatStream } from './chat-stream.ts';
import { CountedElsewhere } from './counted-elsewhere.ts';
import { mergeDelta } from './merge-delta.ts';
import { CHOICES_NEEDLE, isPlainChunk, looksLikeObject } from './stream-text.ts';

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
  readonly #choices = new Map<unknown, Record<string, unknown>>();

  read(data: Buffer, eventName: string): ReadEvent {
    // Most pieces say neither usage nor error nor end.
    if (eventName !== '' || !looksLikeObject(data) || !isPlainChunk(data)) {
      const event = this.counter.read(data, eventName);
      if (event.kind === 'done' || event.kind === 'malformed' || event.kind === 'error') return event;
    }
    const chunk = parseRecord(data);
    if (chunk === null) return { kind: 'malformed' };
    addChat(this.#text, chunk);
    this.#add(chunk);
    return KEPT;
  }

  answer(): Buffer | null {
    if (this.#choices.size === 0) return null;
    const choices = [...this.#choices.values()].sort((a, b) => Number(a.index) - Number(b.index));
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
      if (name === 'choices' || name === 'usage' || name === '__proto__') continue;
      if (chunk[name] !== null || !Object.hasOwn(this.#frame, name)) this.#frame[name] = chunk[name];
    }
    const { choices } = chunk;
    for (const choice of Array.isArray(choices) ? choices : []) if (isRecord(choice)) this.#addChoice(choice);
  }

  #addChoice({ delta, ...rest }: Record<string, unknown>): void {
    const index = plainNumber(rest.index);
    const known = this.#choices.get(index) ?? emptyChoice(index);
    this.#choices.set(index, known);
    // Some vendors count their tokens here.
    const { logprobs, index: _index, usage: _usage, message, ...said } = rest;
    for (const [name, value] of Object.entries(said))
      if (value !== null || !(name in known)) known[name] = value;
    if (isRecord(message)) {
      const { usage: _ofMessage, ...whole } = message;
      if (Object.keys(whole).length > 0) known.message = whole;
    }
    if (logprobs !== undefined) mergeDelta(known, { logprobs });
    if (!isRecord(delta) || !isRecord(known.message)) return;
    const { usage: _ofDelta, ...piece } = delta;
    mergeDelta(known.message, piece);
  }
}

const KEPT: ReadEvent = { kind: 'kept' };

/** What a whole answer has that the pieces need not say. */
const emptyChoice = (index: unknown): Record<string, unknown> => ({
  index,
  message: { role: 'assistant', content: null, refusal: null },
  logprobs: null,
  finish_reason: null,
});
