import type { AnswerPiece, FinishReason } from '#core/conversation/answer-piece.ts';
import { madeCallId } from '../formats/call-numbers.ts';
import { CountedElsewhere } from '../formats/counted-elsewhere.ts';
import { MessagesStream } from '../formats/messages-stream.ts';
import { numberOf, recordOf, records, textOf } from '../formats/values.ts';
import { answerBounds, readJsonObject } from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { type AnswerSource, answerIdOf, citationOf, type ReadPieces } from './answer-source.ts';
import { EACH, withMarkedNumbersAt } from './unread-values.ts';

const EVENT_INPUT = ['content_block', 'input'];
const ANSWER_INPUT = ['content', EACH, 'input'];

/** Named events of the messages format. */
export class MessagesSource extends CountedElsewhere implements AnswerSource {
  /** Knows usage, errors and the end, as for a caller who speaks the format. */
  protected readonly counter = new MessagesStream({ upstreamModel: '', publicModel: '', showUsage: true });
  #id = '';
  /** Of the calls, by their blocks. */
  readonly #calls = new Map<number, number>();
  readonly #marks = new NumberMarks();
  /** What the open block still lacks when it ends: its signature, or what a call without input is made with. */
  #owed: AnswerPiece | null = null;
  /** Citations of the open block, each of which proves all its text, however late that comes. */
  #citations: Record<string, unknown>[] = [];
  #textLength = 0;
  #blockFrom = 0;

  read(data: Buffer): ReadPieces {
    const event = this.counter.read(data, '');
    if (event.kind === 'done' || event.kind === 'malformed' || event.kind === 'error')
      return { kind: event.kind };
    const read = readJsonObject(data, answerBounds);
    if (typeof read === 'string') return { kind: 'malformed' };
    return { kind: 'pieces', pieces: this.#pieces(this.#marked(data, read.value)) };
  }

  readWhole(bytes: Buffer, value: Readonly<Record<string, unknown>>): readonly AnswerPiece[] {
    // Only a block with an input has numbers that are printed again.
    const hasInput = records(value.content).some(({ input }) => input !== undefined);
    const answer = hasInput ? withMarkedNumbersAt(bytes, value, ANSWER_INPUT, this.#marks) : value;
    const { id, content, stop_reason, stop_sequence } = answer;
    const start = this.#start(id);
    const blocks = records(content).flatMap((block, index) => [...this.#begin(index, block), ...this.#end()]);
    return [start, ...blocks, ...finishOf({ stop_reason, stop_sequence })];
  }

  rest(): readonly AnswerPiece[] {
    return this.#end();
  }

  /** Only the start of a block may hold an input that is printed again. */
  #marked(data: Buffer, event: Record<string, unknown>): Readonly<Record<string, unknown>> {
    return event.type === 'content_block_start'
      ? withMarkedNumbersAt(data, event, EVENT_INPUT, this.#marks)
      : event;
  }

  #pieces(event: Record<string, unknown>): AnswerPiece[] {
    const block = numberOf(event.index) ?? 0;
    switch (event.type) {
      case 'message_start':
        return [this.#start(recordOf(event.message).id)];
      case 'content_block_start':
        return [...this.#end(), ...this.#begin(block, recordOf(event.content_block))];
      case 'content_block_delta':
        return this.#delta(block, recordOf(event.delta));
      case 'content_block_stop':
        return this.#end();
      case 'message_delta':
        return [...this.#end(), ...finishOf(recordOf(event.delta))];
      default:
        return [];
    }
  }

  #start(id: unknown): AnswerPiece {
    this.#id = answerIdOf(id);
    return { type: 'start', id: this.#id };
  }

  #begin(block: number, content: Record<string, unknown>): AnswerPiece[] {
    switch (content.type) {
      case 'text':
        this.#blockFrom = this.#textLength;
        this.#citations.push(...records(content.citations));
        return textOf(content.text) === '' ? [] : [this.#text(textOf(content.text))];
      case 'thinking':
        this.#sign(textOf(content.signature));
        return textOf(content.thinking) === '' ? [] : [{ type: 'reasoning', text: textOf(content.thinking) }];
      case 'redacted_thinking':
        return [{ type: 'encrypted', data: textOf(content.data) }];
      case 'tool_use': {
        const index = this.#calls.size;
        this.#calls.set(block, index);
        const begun: AnswerPiece = {
          type: 'tool_call',
          index,
          id: textOf(content.id) || madeCallId(this.#id, index),
          name: textOf(content.name),
        };
        const input = this.#marks.print(content.input ?? {}).toString();
        this.#owed = { type: 'arguments', index, json: input };
        return [begun];
      }
      default:
        return [];
    }
  }

  #delta(block: number, delta: Record<string, unknown>): AnswerPiece[] {
    switch (delta.type) {
      case 'text_delta':
        return [this.#text(textOf(delta.text))];
      case 'citations_delta':
        this.#citations.push(recordOf(delta.citation));
        return [];
      case 'thinking_delta':
        return [{ type: 'reasoning', text: textOf(delta.thinking) }];
      case 'signature_delta':
        this.#sign(textOf(delta.signature));
        return [];
      case 'input_json_delta': {
        const index = this.#calls.get(block);
        const json = textOf(delta.partial_json);
        if (index === undefined || json === '') return [];
        this.#owed = null;
        return [{ type: 'arguments', index, json }];
      }
      default:
        return [];
    }
  }

  #sign(text: string): void {
    const signature = (this.#owed?.type === 'signature' ? this.#owed.signature : '') + text;
    this.#owed = signature === '' ? null : { type: 'signature', signature };
  }

  #end(): AnswerPiece[] {
    const owed = this.#owed;
    const span = { from: this.#blockFrom, to: this.#textLength };
    const cited = this.#citations.splice(0).flatMap((citation) => citationOf(citation, span));
    this.#owed = null;
    return owed === null ? cited : [...cited, owed];
  }

  #text(text: string): AnswerPiece {
    this.#textLength += text.length;
    return { type: 'text', text };
  }
}

function finishOf({ stop_reason: reason, stop_sequence: sequence }: Record<string, unknown>): AnswerPiece[] {
  if (textOf(reason) === '') return [];
  const stopSequence = textOf(sequence) || null;
  return [{ type: 'finish', reason: REASONS.get(textOf(reason)) ?? 'stop', stopSequence }];
}

const REASONS: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
]);
