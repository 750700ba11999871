import { isRecord } from '#core/is-record.ts';
import { plainNumber } from '../json/exact-json.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { parseRecord } from '../json/parse-record.ts';
import { AnswerText, addMessages } from '../price/answer-text.ts';
import { countedBy } from '../price/stream-text-count.ts';
import type { Assembly, ReadEvent } from './call-format.ts';
import { CountedElsewhere } from './counted-elsewhere.ts';
import { mergeDelta } from './merge-delta.ts';
import { MessagesStream } from './messages-stream.ts';
import { DELTA_NEEDLE } from './stream-text.ts';
import { inputOf } from './tool-input.ts';
import { recordOf } from './values.ts';

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
  readonly #blocks = new Map<unknown, Record<string, unknown>>();
  /** JSON text of tool inputs, which comes in pieces. */
  readonly #inputs = new Map<unknown, string>();

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
    const content = [...this.#blocks].map(([index, block]) =>
      withInput(block, this.#inputs.get(index), marks),
    );
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
        if (isRecord(event.content_block)) this.#blocks.set(plainNumber(event.index), event.content_block);
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

  #addDelta(index: unknown, { type: _, ...delta }: Record<string, unknown>): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    const { partial_json: json, citation, signature, ...rest } = delta;
    if (typeof json === 'string') this.#inputs.set(index, (this.#inputs.get(index) ?? '') + json);
    if (citation !== undefined) mergeDelta(block, { citations: [citation] });
    if (typeof signature === 'string') block.signature = `${block.signature ?? ''}${signature}`;
    mergeDelta(block, rest);
  }
}

function withInput(
  block: Record<string, unknown>,
  json: string | undefined,
  marks: NumberMarks,
): Record<string, unknown> {
  if (json === undefined || json === '') return block;
  return { ...block, input: inputOf(json, marks) };
}
