import type { AnswerPiece, FinishReason } from '#core/conversation/answer-piece.ts';
import { CallIds } from '../formats/call-ids.ts';
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
  readonly #ids = new CallIds();
  readonly #marks = new NumberMarks();
  /** The blocks that have not ended, by their numbers: servers begin one before the last has ended. */
  readonly #open = new Map<number, OpenBlock>();
  /** Those of them that have something to say before the next begins. */
  readonly #owing = new Set<OpenBlock>();
  #textLength = 0;

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
    const blocks = records(content).flatMap((block, index) => [
      ...this.#begin(index, block),
      ...this.#end(index),
    ]);
    return [start, ...blocks, ...finishOf({ stop_reason, stop_sequence })];
  }

  rest(): readonly AnswerPiece[] {
    return this.#endAll();
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
        // Some servers give all blocks one number, or end none.
        return [
          ...this.#end(block),
          ...this.#sayOwed(),
          ...this.#begin(block, recordOf(event.content_block)),
        ];
      case 'content_block_delta':
        return this.#delta(block, recordOf(event.delta));
      case 'content_block_stop':
        return this.#end(block);
      case 'message_delta':
        return [...this.#endAll(), ...finishOf(recordOf(event.delta))];
      default:
        return [];
    }
  }

  #start(id: unknown): AnswerPiece {
    this.#id = answerIdOf(id);
    return { type: 'start', id: this.#id };
  }

  #begin(block: number, content: Record<string, unknown>): AnswerPiece[] {
    const open = this.#openBlock(block);
    switch (content.type) {
      case 'text':
        this.#cite(open, records(content.citations));
        return textOf(content.text) === '' ? [] : [this.#text(open, textOf(content.text))];
      case 'thinking':
        this.#sign(open, textOf(content.signature));
        return textOf(content.thinking) === '' ? [] : [{ type: 'reasoning', text: textOf(content.thinking) }];
      case 'redacted_thinking':
        return [{ type: 'encrypted', data: textOf(content.data) }];
      case 'tool_use': {
        const index = this.#calls.size;
        this.#calls.set(block, index);
        const begun: AnswerPiece = {
          type: 'tool_call',
          index,
          id: this.#ids.idOf(textOf(content.id), this.#id, index),
          name: textOf(content.name),
        };
        const json = this.#marks.print(content.input ?? {}).toString();
        open.input = { type: 'arguments', index, json };
        return [begun];
      }
      default:
        return [];
    }
  }

  #delta(block: number, delta: Record<string, unknown>): AnswerPiece[] {
    const open = this.#openBlock(block);
    switch (delta.type) {
      case 'text_delta':
        return [this.#text(open, textOf(delta.text))];
      case 'citations_delta':
        this.#cite(open, [recordOf(delta.citation)]);
        return [];
      case 'thinking_delta':
        return [{ type: 'reasoning', text: textOf(delta.thinking) }];
      case 'signature_delta':
        this.#sign(open, textOf(delta.signature));
        return [];
      case 'input_json_delta': {
        const index = this.#calls.get(block);
        const json = textOf(delta.partial_json);
        if (index === undefined || json === '') return [];
        open.input = null;
        return [{ type: 'arguments', index, json }];
      }
      default:
        return [];
    }
  }

  /** Begins the block if its start was left out. */
  #openBlock(block: number): OpenBlock {
    const known = this.#open.get(block);
    if (known !== undefined) return known;
    const from = this.#textLength;
    const open: OpenBlock = { input: null, signature: '', citations: [], from, to: from };
    this.#open.set(block, open);
    return open;
  }

  /** A citation proves all text of its block, however late that comes. */
  #end(block: number): AnswerPiece[] {
    const open = this.#open.get(block);
    if (open === undefined) return [];
    this.#open.delete(block);
    this.#owing.delete(open);
    const owed = [...owedBy(open)];
    return open.input === null ? owed : [...owed, open.input];
  }

  #endAll(): AnswerPiece[] {
    return [...this.#open.keys()].flatMap((block) => this.#end(block));
  }

  /** A call keeps waiting, because its input may still come. */
  #sayOwed(): AnswerPiece[] {
    const owed = [...this.#owing].flatMap(owedBy);
    this.#owing.clear();
    return owed;
  }

  #cite(open: OpenBlock, citations: readonly Record<string, unknown>[]): void {
    open.citations.push(...citations);
    this.#owing.add(open);
  }

  #sign(open: OpenBlock, signature: string): void {
    open.signature += signature;
    this.#owing.add(open);
  }

  #text(open: OpenBlock, text: string): AnswerPiece {
    this.#textLength += text.length;
    open.to = this.#textLength;
    return { type: 'text', text };
  }
}

interface OpenBlock {
  /** A call is made with it if no pieces of it come. */
  input: AnswerPiece | null;
  /** The signature of its reasoning, so far. */
  signature: string;
  citations: Record<string, unknown>[];
  /** Where its text stands in that of the answer. */
  from: number;
  to: number;
}

/** Takes what was not said of the block yet, so that it is said once. */
function owedBy(open: OpenBlock): AnswerPiece[] {
  const { signature, from, to } = open;
  const cited = open.citations.splice(0).flatMap((citation) => citationOf(citation, { from, to }));
  open.signature = '';
  return signature === '' ? cited : [...cited, { type: 'signature', signature }];
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
