import { isRecord } from '#core/is-record.ts';
import { plainNumber } from '../json/exact-json.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { parseRecord } from '../json/parse-record.ts';
import { AnswerText, addMessages } from '../price/answer-text.ts';
import { argumentsIn, CallArguments, newComparedText } from '../price/call-arguments.ts';
import { countedBy } from '../price/stream-text-count.ts';
import type { Assembly, ReadEvent } from './call-format.ts';
import { madeCallId } from './call-numbers.ts';
import { CountedElsewhere } from './counted-elsewhere.ts';
import { mergeDelta } from './merge-delta.ts';
import { blockOfKind, EMPTY_MESSAGE, emptyMembers, MessageBlocks } from './message-blocks.ts';
import { MessagesStream } from './messages-stream.ts';
import { inputOf } from './tool-input.ts';
import { recordOf, textOf } from './values.ts';

/** The whole message that the named events are pieces of. */
export class MessagesAssembly extends CountedElsewhere implements Assembly {
  readonly unreadLineEnd = null;
  readonly namesEvents = false;
  readonly #text = new AnswerText();
  readonly text = countedBy(() => this.#text.bytes);
  /** Knows usage, errors and the end, as for a caller who wants the stream. */
  protected readonly counter = new MessagesStream({ upstreamModel: '', publicModel: '', showUsage: true });
  /** `null`: nothing of it has come, not even its beginning, which some servers leave out. */
  #message: Record<string, unknown> | null = null;
  #isStarted = false;
  /** In the order in which they began. */
  readonly #blocks: Block[] = [];
  readonly #known = new MessageBlocks<Block>();
  #callCount = 0;
  readonly #compared = newComparedText();

  read(data: Buffer): ReadEvent {
    const event = this.counter.read(data, '');
    if (event.kind === 'malformed' || event.kind === 'error') return event;
    const value = parseRecord(data);
    // The last event may have text, which counts in whichever way the answer is shown.
    if (event.kind === 'done') {
      if (value !== null) addMessages(this.#text, value);
      return event;
    }
    if (value === null) return { kind: 'malformed' };
    addMessages(this.#text, value);
    this.#add(value);
    return { kind: 'kept' };
  }

  answer(): Buffer | null {
    if (this.#message === null) return null;
    const { usage: _, ...message } = this.#message;
    const marks = new NumberMarks();
    const content = this.#blocks.map(({ value, json, input }) => withInput(value, json + input.rest, marks));
    const answer = marks.print({ ...message, content });
    const usage = this.counter.usageRecord?.bytes;
    if (usage === undefined) return answer;
    // Its bytes as they came: a cost is read from its text.
    return Buffer.concat([answer.subarray(0, -1), Buffer.from(',"usage":'), usage, Buffer.from('}')]);
  }

  #add(event: Record<string, unknown>): void {
    switch (event.type) {
      case 'message_start':
        if (isRecord(event.message) && !this.#isStarted) {
          this.#isStarted = true;
          this.#message = withMembers(event.message, this.#message ?? EMPTY_MESSAGE);
        }
        return;
      case 'content_block_start':
        if (isRecord(event.content_block)) this.#begin(plainNumber(event.index), event.content_block);
        return;
      case 'content_block_delta':
        if (isRecord(event.delta)) this.#addDelta(plainNumber(event.index), event.delta);
        return;
      case 'message_delta':
        this.#addToMessage(event);
    }
  }

  /** Members beside the delta belong to the message as well, such as what a provider left out of a long context. */
  #addToMessage({ type: _, usage: _usage, delta, ...beside }: Record<string, unknown>): void {
    const message = this.#begun();
    const { stop_reason: reason, stop_sequence: sequence, stop_details: details } = message;
    Object.assign(message, recordOf(delta), beside);
    // Some servers count in an event of its own, without the reason for the end, or say in the first event what it is.
    if ((message.stop_reason ?? null) === null) {
      message.stop_reason = reason ?? null;
      message.stop_sequence = sequence ?? null;
    }
    if (details !== undefined) message.stop_details ??= details;
  }

  #begun(): Record<string, unknown> {
    this.#message ??= withMembers({}, EMPTY_MESSAGE);
    return this.#message;
  }

  #begin(index: unknown, value: Record<string, unknown>): Block {
    this.#begun();
    const block = {
      type: value.type,
      value: withMembers(value, emptyMembers(value.type)),
      json: '',
      input: new CallArguments(this.#compared),
    };
    this.#blocks.push(block);
    this.#known.begin(index, block);
    if (value.type === 'tool_use') this.#callCount++;
    return block;
  }

  #addDelta(index: unknown, { type, ...delta }: Record<string, unknown>): void {
    const block = this.#blockOf(index, type);
    if (block === undefined) return;
    const { value } = block;
    const { partial_json: json, citation, signature, ...rest } = delta;
    block.json += block.input.add(argumentsIn(json), false);
    if (citation !== undefined) mergeDelta(value, { citations: [citation] });
    if (typeof signature === 'string') value.signature = `${value.signature ?? ''}${signature}`;
    mergeDelta(value, rest);
  }

  /** The block that a delta is a piece of; one whose start was left out begins here. `undefined`: no block has such pieces. */
  #blockOf(index: unknown, deltaType: unknown): Block | undefined {
    const known = this.#known.blockOf(index, deltaType);
    if (typeof known !== 'string') return known;
    return this.#begin(index, blockOfKind(known, madeCallId(textOf(this.#message?.id), this.#callCount)));
  }
}

interface Block {
  type: unknown;
  value: Record<string, unknown>;
  /** JSON text of a tool's input, which comes in pieces. */
  json: string;
  /** Knows which part of a piece is new. */
  input: CallArguments;
}

/** The members that clients read, where the server left them out. */
function withMembers(
  value: Record<string, unknown>,
  empty: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  for (const [name, each] of Object.entries(empty))
    if ((value[name] ?? null) === null) value[name] = structuredClone(each);
  return value;
}

function withInput(
  block: Record<string, unknown>,
  json: string,
  marks: NumberMarks,
): Record<string, unknown> {
  if (json === '') return block;
  return { ...block, input: inputOf(json, marks) };
}
