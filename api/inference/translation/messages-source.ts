import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import { isRecord } from '#core/is-record.ts';
import { CallIds } from '../formats/call-ids.ts';
import { CountedElsewhere } from '../formats/counted-elsewhere.ts';
import { endOfMessage } from '../formats/end-words.ts';
import { MessagesStream } from '../formats/messages-stream.ts';
import { numberOf, recordOf, records, textOf } from '../formats/values.ts';
import { withMissing } from '../formats/whole-message.ts';
import { answerBounds, readJsonObject } from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { AnswerText, addMessages } from '../price/answer-text.ts';
import { CallArguments, newComparedText, wholeArguments } from '../price/call-arguments.ts';
import { changingAt, PieceFrames } from '../price/piece-frame.ts';
import { type AnswerSource, answerIdOf, citationOf, type ReadPieces } from './answer-source.ts';
import { BlockOrder } from './block-order.ts';
import { EACH, withMarkedNumbersAt } from './unread-values.ts';

const EVENT_INPUT = ['content_block', 'input'];
const PIECE_OF_INPUT = ['delta', 'partial_json'];
const ANSWER_INPUT = ['content', EACH, 'input'];

/** Named events of the messages format. */
export class MessagesSource extends CountedElsewhere implements AnswerSource {
  /** Knows usage, errors and the end, as for a caller who speaks the format. */
  protected readonly counter = new MessagesStream({ upstreamModel: '', publicModel: '', showUsage: true });
  readonly text = new AnswerText();
  readonly #frames = new PieceFrames(CHANGING);
  readonly #thinksInSummaries: boolean;
  #id = '';
  #callCount = 0;
  readonly #ids = new CallIds();
  readonly #marks = new NumberMarks();
  readonly #order = new BlockOrder();
  readonly #compared = newComparedText();
  /** The message as it began, which may say already why it ends. */
  #begun: Readonly<Record<string, unknown>> = {};
  /** The newest block under each number: servers begin one before the last has ended, or give all one number. */
  readonly #blocks = new Map<number, OpenBlock>();
  /** Those that have not ended, in the order in which they began. */
  readonly #open = new Set<OpenBlock>();
  /** Those of them that have something to say before the next begins. */
  readonly #owing = new Set<OpenBlock>();
  #textLength = 0;
  /** Parts of reasoning that began with text. */
  #reasoningCount = 0;
  /** More text would belong to the last of them. */
  #thinks = false;
  /** The newest block of reasoning; `null`: there is none. */
  #lastThinking: OpenBlock | null = null;

  constructor(thinksInSummaries = true) {
    super();
    this.#thinksInSummaries = thinksInSummaries;
  }

  read(data: Buffer): ReadPieces {
    const known = this.#frames.read(data);
    if (known !== null) {
      addMessages(this.text, known);
      return this.#take(known, data.length);
    }
    const event = this.counter.read(data, '');
    if (event.kind === 'malformed' || event.kind === 'error') return { kind: event.kind };
    const read = readJsonObject(data, answerBounds);
    if (typeof read !== 'string') addMessages(this.text, read.value);
    if (event.kind === 'done') return { kind: 'done' };
    if (typeof read === 'string') return { kind: 'malformed' };
    // The next piece of a text may differ in its text alone, so that nothing else of it is read.
    if (isPieceOfText(read.value)) this.#frames.note(data, read.value);
    return this.#take(this.#marked(data, read.value), data.length);
  }

  /** @param event With marked numbers, where it is printed again. */
  #take(event: Members, bytes: number): ReadPieces {
    const events = BLOCK_EVENT.test(textOf(event.type))
      ? this.#order.add(event, numberOf(event.index) ?? 0, bytes)
      : [...(event.type === 'message_delta' ? this.#order.rest() : []), event];
    return { kind: 'pieces', pieces: events.flatMap((each) => this.#pieces(each)) };
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
    return [start, ...blocks, ...finishOf({ stop_reason, stop_sequence }, this.#callCount > 0)];
  }

  rest(): readonly AnswerPiece[] {
    return [...this.#order.rest().flatMap((event) => this.#pieces(event)), ...this.#endAll()];
  }

  /** Only an input has numbers that are printed again. */
  #marked(data: Buffer, event: Record<string, unknown>): Readonly<Record<string, unknown>> {
    if (event.type === 'content_block_start')
      return withMarkedNumbersAt(data, event, EVENT_INPUT, this.#marks);
    return isRecord(recordOf(event.delta).partial_json)
      ? withMarkedNumbersAt(data, event, PIECE_OF_INPUT, this.#marks)
      : event;
  }

  #pieces(event: Readonly<Record<string, unknown>>): AnswerPiece[] {
    const block = numberOf(event.index) ?? 0;
    switch (event.type) {
      case 'message_start':
        this.#begun = recordOf(event.message);
        return [this.#start(this.#begun.id)];
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
        return [
          ...this.#endAll(),
          ...finishOf(withMissing(recordOf(event.delta), this.#begun), this.#callCount > 0),
        ];
      default:
        return [];
    }
  }

  #start(id: unknown): AnswerPiece {
    this.#id = answerIdOf(id);
    return { type: 'start', id: this.#id };
  }

  #begin(block: number, content: Record<string, unknown>): AnswerPiece[] {
    const open = this.#newBlock(block);
    switch (content.type) {
      case 'text':
        this.#cite(open, records(content.citations));
        return this.#text(open, textOf(content.text));
      case 'thinking':
        this.#beginThinking(open);
        this.#sign(open, textOf(content.signature));
        return this.#think(open, textOf(content.thinking));
      case 'redacted_thinking':
        this.#thinks = false;
        return [{ type: 'encrypted', data: textOf(content.data) }];
      case 'tool_use':
        return [this.#call(open, content)];
      default:
        // Pieces of other inputs are those of tools that the provider runs itself.
        open.isOfServer = true;
        return [];
    }
  }

  #call(open: OpenBlock, { id, name, input }: Record<string, unknown>): AnswerPiece {
    this.#thinks = false;
    const index = this.#callCount++;
    open.call = index;
    const json = isRecord(input) ? this.#marks.print(input).toString() : wholeArguments(input);
    open.input = { type: 'arguments', index, json };
    return { type: 'tool_call', index, id: this.#ids.idOf(textOf(id), this.#id, index), name: textOf(name) };
  }

  #delta(block: number, delta: Record<string, unknown>): AnswerPiece[] {
    const open = this.#blocks.get(block) ?? this.#newBlock(block);
    switch (delta.type) {
      case 'text_delta':
        return this.#text(open, textOf(delta.text));
      case 'citations_delta':
        this.#cite(open, [recordOf(delta.citation)]);
        return this.#open.has(open) ? [] : this.#owedBy(open);
      case 'thinking_delta':
        this.#beginThinking(open);
        return this.#think(open, textOf(delta.thinking));
      case 'signature_delta': {
        const signed = open.isThinking ? open : (this.#lastThinking ?? open);
        this.#sign(signed, textOf(delta.signature));
        return this.#open.has(signed) ? [] : this.#owedBy(signed);
      }
      case 'input_json_delta':
        return this.#input(open, this.#jsonOf(delta.partial_json));
      default:
        return [];
    }
  }

  /** Some servers write the object itself in the place of a piece of its text. */
  #jsonOf(piece: unknown): string {
    return isRecord(piece) ? this.#marks.print(piece).toString() : textOf(piece);
  }

  /** A call of which the start was left out has no name, and is shown all the same: it was paid for. */
  #input(open: OpenBlock, json: string): AnswerPiece[] {
    if (json === '' || open.isOfServer) return [];
    const begun = open.call === null ? [this.#call(open, {})] : [];
    open.input = null;
    return [...begun, ...argumentsOf(open, open.given.add(json, false))];
  }

  #newBlock(block: number): OpenBlock {
    const from = this.#textLength;
    const open: OpenBlock = {
      call: null,
      input: null,
      given: new CallArguments(this.#compared),
      isOfServer: false,
      isThinking: false,
      reasoning: null,
      signature: '',
      isSigned: true,
      citations: [],
      from,
      to: from,
    };
    this.#blocks.set(block, open);
    this.#open.add(open);
    return open;
  }

  /** A citation proves all text of its block, however late that comes. */
  #end(block: number): AnswerPiece[] {
    const open = this.#blocks.get(block);
    return open === undefined ? [] : this.#endBlock(open);
  }

  #endBlock(open: OpenBlock): AnswerPiece[] {
    if (!this.#open.delete(open)) return [];
    this.#owing.delete(open);
    const owed = this.#owedBy(open);
    return open.input === null ? [...owed, ...argumentsOf(open, open.given.end())] : [...owed, open.input];
  }

  #endAll(): AnswerPiece[] {
    return [...this.#open].flatMap((open) => this.#endBlock(open));
  }

  /** A call keeps waiting, because its input may still come. */
  #sayOwed(): AnswerPiece[] {
    const owed = [...this.#owing].flatMap((open) => this.#owedBy(open));
    this.#owing.clear();
    return owed;
  }

  #cite(open: OpenBlock, citations: readonly Record<string, unknown>[]): void {
    open.citations.push(...citations);
    this.#owing.add(open);
  }

  #sign(open: OpenBlock, signature: string): void {
    if (signature === '') return;
    open.signature += signature;
    open.isSigned = false;
    this.#owing.add(open);
  }

  #beginThinking(open: OpenBlock): void {
    open.isThinking = true;
    this.#lastThinking = open;
  }

  /** Claude sends an empty text in the place of thinking that it does not show, by default from Opus 4.7 on. */
  #think(open: OpenBlock, text: string): AnswerPiece[] {
    if (text === '') return [];
    if (!this.#thinks) this.#reasoningCount++;
    this.#thinks = true;
    open.reasoning ??= this.#reasoningCount - 1;
    return [this.#thinksInSummaries ? { type: 'reasoning', text } : { type: 'reasoning', text, isRaw: true }];
  }

  #text(open: OpenBlock, text: string): AnswerPiece[] {
    if (text === '') return [];
    this.#thinks = false;
    this.#textLength += text.length;
    open.to = this.#textLength;
    return [{ type: 'text', text }];
  }

  /** Takes the pieces of the block that were not said yet, so that each is said once. */
  #owedBy(open: OpenBlock): AnswerPiece[] {
    const { signature, reasoning, from, to } = open;
    this.#owing.delete(open);
    const cited = open.citations.splice(0).flatMap((citation) => citationOf(citation, { from, to }));
    if (open.isSigned) return cited;
    open.isSigned = true;
    const isLate = reasoning !== null && !(this.#thinks && reasoning === this.#reasoningCount - 1);
    if (!isLate) this.#thinks = false;
    return [...cited, { type: 'signature', signature, ...(isLate ? { ofReasoning: reasoning } : {}) }];
  }
}

interface OpenBlock {
  /** The number of its call; `null`: it is none. */
  call: number | null;
  /** A call is made with it if no pieces of it come. */
  input: AnswerPiece | null;
  /** The text of its input so far, of which some servers repeat all in each piece. */
  given: CallArguments;
  /** It is the call of a tool that the provider runs itself, or another block that is not shown. */
  isOfServer: boolean;
  isThinking: boolean;
  /** The number of the part of reasoning that its text is in; `null`: it has none. */
  reasoning: number | null;
  /** The signature of its reasoning, so far. */
  signature: string;
  /** The signature was said. */
  isSigned: boolean;
  citations: Record<string, unknown>[];
  /** The place of its text in the text of the answer. */
  from: number;
  to: number;
}

type Members = Readonly<Record<string, unknown>>;

const CHANGING = [changingAt('delta', 'text'), changingAt('delta', 'thinking')];
const isPieceOfText = ({ type, delta }: Members): boolean =>
  type === 'content_block_delta' && PIECES_OF_TEXT.has(recordOf(delta).type);
const PIECES_OF_TEXT: ReadonlySet<unknown> = new Set(['text_delta', 'thinking_delta']);
const BLOCK_EVENT = /^content_block_/;

const argumentsOf = ({ call }: OpenBlock, json: string): AnswerPiece[] =>
  call === null || json === '' ? [] : [{ type: 'arguments', index: call, json }];

function finishOf(
  { stop_reason: reason, stop_sequence: sequence }: Readonly<Record<string, unknown>>,
  hasCalls: boolean,
): AnswerPiece[] {
  if (textOf(reason) === '') return [];
  const stopSequence = textOf(sequence) || null;
  return [{ type: 'finish', reason: endOfMessage(textOf(reason), hasCalls), stopSequence }];
}
