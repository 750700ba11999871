import { isRecord } from '#core/is-record.ts';
import { plainNumber } from '../json/exact-json.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { parseRecord } from '../json/parse-record.ts';
import { AnswerText, addMessages } from '../price/answer-text.ts';
import { countedBy } from '../price/stream-text-count.ts';
import type { Assembly, ReadEvent } from './call-format.ts';
import { madeCallId } from './call-numbers.ts';
import { CountedElsewhere } from './counted-elsewhere.ts';
import { mergeDelta } from './merge-delta.ts';
import { MessagesStream } from './messages-stream.ts';
import { DELTA_NEEDLE } from './stream-text.ts';
import { inputOf } from './tool-input.ts';
import { recordOf, textOf } from './values.ts';

/** The whole message that the named events are pieces of. */
export class MessagesAssembly extends CountedElsewhere implements Assembly {
  readonly unreadLineEnd = null;
  readonly answerNeedle = DELTA_NEEDLE;
  readonly namesEvents = false;
  readonly #text = new AnswerText();
  readonly text = countedBy(() => this.#text.bytes);
  /** Knows usage, errors and the end, as for a caller who wants the stream. */
  protected readonly counter = new MessagesStream({ upstreamModel: '', publicModel: '', showUsage: true });
  #message: Record<string, unknown> | null = null;
  /** In the order in which they began. */
  readonly #blocks: Block[] = [];
  /** The newest block under each number: some servers give all blocks one. */
  readonly #byIndex = new Map<unknown, Block>();
  /** The newest block of each kind, for a signature or a citation that comes under the number of another block. */
  readonly #byKind = new Map<unknown, Block>();
  #callCount = 0;

  read(data: Buffer): ReadEvent {
    const event = this.counter.read(data, '');
    if (event.kind === 'done' || event.kind === 'malformed' || event.kind === 'error') return event;
    const value = parseRecord(data);
    if (value === null) return { kind: 'malformed' };
    addMessages(this.#text, value);
    this.#add(value);
    return { kind: 'kept' };
  }

  answer(): Buffer | null {
    if (this.#message === null) return null;
    const { usage: _, ...message } = this.#message;
    const marks = new NumberMarks();
    const content = this.#blocks.map(({ value, input }) => withInput(value, input, marks));
    const answer = marks.print({ ...message, content });
    const usage = this.counter.usageRecord?.bytes;
    if (usage === undefined) return answer;
    // Its bytes as they came: a cost is read from its text.
    return Buffer.concat([answer.subarray(0, -1), Buffer.from(',"usage":'), usage, Buffer.from('}')]);
  }

  #add(event: Record<string, unknown>): void {
    switch (event.type) {
      case 'message_start':
        if (isRecord(event.message)) this.#message ??= event.message;
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
    if (this.#message === null) return;
    Object.assign(this.#message, recordOf(delta), beside);
  }

  #begin(index: unknown, value: Record<string, unknown>): Block {
    const block = { value, input: '' };
    this.#blocks.push(block);
    this.#byIndex.set(index, block);
    this.#byKind.set(value.type, block);
    if (value.type === 'tool_use') this.#callCount++;
    return block;
  }

  #addDelta(index: unknown, { type, ...delta }: Record<string, unknown>): void {
    const block = this.#blockOf(index, type);
    if (block === undefined) return;
    const { value } = block;
    const { partial_json: json, citation, signature, ...rest } = delta;
    if (typeof json === 'string') block.input += json;
    if (citation !== undefined) mergeDelta(value, { citations: [citation] });
    if (typeof signature === 'string') value.signature = `${value.signature ?? ''}${signature}`;
    mergeDelta(value, rest);
  }

  /** The block that a delta is a piece of; one whose start was left out begins here. `undefined`: no block has such pieces. */
  #blockOf(index: unknown, deltaType: unknown): Block | undefined {
    const known = this.#byIndex.get(index);
    const kind = KINDS.get(deltaType);
    if (kind === undefined || (known !== undefined && fits(known.value.type, kind))) return known;
    const earlier = deltaType === 'signature_delta' || deltaType === 'citations_delta';
    return (earlier ? this.#byKind.get(kind) : undefined) ?? this.#begin(index, this.#emptyBlock(kind));
  }

  #emptyBlock(kind: BlockKind): Record<string, unknown> {
    if (kind === 'text') return { type: kind, text: '' };
    if (kind === 'thinking') return { type: kind, thinking: '', signature: '' };
    return { type: kind, id: madeCallId(textOf(this.#message?.id), this.#callCount), name: '', input: {} };
  }
}

interface Block {
  value: Record<string, unknown>;
  /** JSON text of a tool's input, which comes in pieces. */
  input: string;
}

type BlockKind = 'text' | 'thinking' | 'tool_use';

const KINDS: ReadonlyMap<unknown, BlockKind> = new Map([
  ['text_delta', 'text'],
  ['citations_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'thinking'],
  ['input_json_delta', 'tool_use'],
]);

/** Blocks of other types may have any pieces: some are inputs of tools that the provider runs itself. */
const fits = (type: unknown, kind: BlockKind): boolean =>
  type === kind || (type !== 'text' && type !== 'thinking' && type !== 'tool_use');

function withInput(
  block: Record<string, unknown>,
  json: string,
  marks: NumberMarks,
): Record<string, unknown> {
  if (json === '') return block;
  return { ...block, input: inputOf(json, marks) };
}
