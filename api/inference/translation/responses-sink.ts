import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import type { AssistantPart, OwnToolType, TextPart, ToolCallPart } from '#core/conversation/conversation.ts';
import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import type { AnswerIdentity, StreamEndView } from '../formats/call-format.ts';
import { namedText } from '../formats/stream-text.ts';
import { responsesUsageText } from '../formats/usage-text.ts';
import { type AnswerSink, pieceBytes, type WrittenAnswer } from './answer-sink.ts';
import { diffOf } from './client-tools.ts';
import { customInput } from './custom-tools.ts';
import { responseText, statusOf } from './responses-frame.ts';
import {
  annotationOf,
  argumentsOf,
  contentOf,
  type ItemStatus,
  itemId,
  itemOf,
  statusOfItem,
} from './responses-items.ts';
import type { ToolNames } from './tool-names.ts';
import { WholeAnswer } from './whole-answer.ts';

/** How a caller of the responses format is shown the answer to its own request. */
export interface ShownResponse {
  /** JSON text of the members that repeat the request. */
  echo: string;
  names: ToolNames;
}

/**
 * Named events of the responses format, with the whole scaffold: the format's clients rely on every item and part being
 * added before its first piece and done after its last.
 */
export class ResponsesSink implements AnswerSink {
  readonly #identity: AnswerIdentity;
  readonly #shown: ShownResponse;
  readonly #whole = new WholeAnswer();
  #sequenceNumber = 0;
  #keptBytes = 0;
  /** Of `#whole.parts`, those that have begun. */
  #begun = 0;
  readonly #done = new Set<number>();
  readonly #calls = new Map<number, number>();

  constructor(identity: AnswerIdentity, shown: ShownResponse) {
    this.#identity = identity;
    this.#shown = shown;
  }

  /** All: the last event repeats it. */
  get keptBytes(): number {
    return this.#keptBytes;
  }

  get eventsWritten(): number {
    return this.#sequenceNumber;
  }

  write(piece: AnswerPiece): Buffer {
    // Clients fail at a piece of a part that was not added, and a part of nothing is none.
    if (piece.type === 'reasoning' && piece.text === '') return NOTHING;
    this.#keptBytes += pieceBytes(piece);
    this.#whole.add(piece);
    const begun = this.#begin();
    switch (piece.type) {
      case 'start': {
        const response = `"response":${this.#response(true, 'null')}`;
        return Buffer.concat([
          this.#rawEvent('response.created', response),
          this.#rawEvent('response.in_progress', response),
        ]);
      }
      case 'text':
        return Buffer.concat([
          begun,
          this.#event('response.output_text.delta', { ...this.#content(), delta: piece.text, logprobs: [] }),
        ]);
      case 'refusal':
        return Buffer.concat([
          begun,
          this.#event('response.refusal.delta', { ...this.#content(), delta: piece.text }),
        ]);
      case 'citation':
        return Buffer.concat([begun, this.#citation()]);
      case 'reasoning':
        return Buffer.concat([begun, this.#reasoning(piece.text)]);
      case 'tool_call':
        this.#calls.set(piece.index, this.#begun - 1);
        return begun;
      case 'arguments':
        return Buffer.concat([begun, this.#arguments(piece.index, piece.json)]);
      case 'signature':
        return Buffer.concat([begun, this.#signLate(this.#whole.reasoningPlace(piece))]);
      case 'encrypted':
      case 'call_signature':
      case 'finish':
        return begun;
    }
  }

  end({ identity, shown, tokens }: StreamEndView): Buffer {
    const open = this.#whole.parts.flatMap((_, index) =>
      this.#done.has(index) ? [] : [this.#finish(index, statusOfItem(this.#whole, index))],
    );
    const response = this.#response(false, responsesUsageText(tokens, shown), identity);
    const type = `response.${statusOf(this.#whole)}`;
    return Buffer.concat([...open, this.#rawEvent(type, `"response":${response}`)]);
  }

  /** The newest citation alone: to write all those before it again for each takes seconds where there are thousands. */
  #citation(): Buffer {
    const last = this.#whole.parts.at(-1);
    const [newest] = last?.type === 'text' ? (last.citations?.slice(-1) ?? []) : [];
    if (last?.type !== 'text' || newest === undefined) return NOTHING;
    return this.#event('response.output_text.annotation.added', {
      ...this.#content(),
      annotation_index: (last.citations?.length ?? 1) - 1,
      annotation: annotationOf(newest),
    });
  }

  #reasoning(delta: string): Buffer {
    const last = this.#whole.parts.at(-1);
    return last?.type === 'reasoning' && last.isRaw
      ? this.#event('response.reasoning_text.delta', { ...this.#content(), delta })
      : this.#event('response.reasoning_summary_text.delta', { ...this.#summary(), delta });
  }

  /** An item is shown again once its signature comes behind its end: clients keep the last of what they are told of an item. */
  #signLate(index: number | undefined): Buffer {
    const part = index === undefined ? undefined : this.#whole.parts[index];
    if (index === undefined || part === undefined || !this.#done.has(index)) return NOTHING;
    const item = itemOf(part, this.#itemId(index), 'completed', this.#shown.names);
    return this.#event('response.output_item.done', { output_index: index, item });
  }

  /** The text of a custom tool is known once all its JSON is here, and the items of some tools have no arguments as a text. */
  #arguments(call: number, delta: string): Buffer {
    const index = this.#calls.get(call);
    const part = index === undefined ? undefined : this.#whole.parts[index];
    if (index === undefined || part?.type !== 'tool_call' || this.#isShownWhole(part)) return NOTHING;
    return this.#event('response.function_call_arguments.delta', { ...this.#at(index), delta });
  }

  #isShownWhole({ name }: ToolCallPart): boolean {
    const tool = this.#shown.names.get(name);
    return tool !== undefined && (tool.isCustom || tool.ownType !== null);
  }

  /** What a piece has begun is added; what came before it is done, but for calls, which may come side by side. */
  #begin(): Buffer {
    const { parts } = this.#whole;
    if (parts.length === this.#begun) return NOTHING;
    const events: Buffer[] = [];
    const before = this.#begun - 1;
    const last = parts[before];
    if (last !== undefined && last.type !== 'tool_call') events.push(this.#finish(before, 'completed'));
    const index = this.#begun++;
    const part = parts[index];
    if (part === undefined) return NOTHING;
    const item = itemOf(part, this.#itemId(index), 'in_progress', this.#shown.names);
    events.push(
      this.#event('response.output_item.added', { output_index: index, item }),
      this.#addPart(part),
    );
    return Buffer.concat(events);
  }

  #addPart(part: AssistantPart): Buffer {
    if (part.type === 'tool_call') return NOTHING;
    if (part.type === 'text') {
      const added = contentOf({ ...part, text: '', citations: [] });
      return this.#event('response.content_part.added', { ...this.#content(), part: added });
    }
    if (part.text === '') return NOTHING;
    return part.isRaw
      ? this.#event('response.content_part.added', { ...this.#content(), part: RAW_REASONING })
      : this.#event('response.reasoning_summary_part.added', { ...this.#summary(), part: SUMMARY });
  }

  #finish(index: number, status: ItemStatus): Buffer {
    this.#done.add(index);
    const part = this.#whole.parts[index];
    if (part === undefined) return NOTHING;
    const item = itemOf(part, this.#itemId(index), status, this.#shown.names);
    return Buffer.concat([
      ...this.#donePart(part, this.#at(index), status),
      this.#event('response.output_item.done', { output_index: index, item }),
    ]);
  }

  #donePart(part: AssistantPart, at: object, status: ItemStatus): Buffer[] {
    switch (part.type) {
      case 'text':
        return this.#doneText(part, { ...at, content_index: 0 });
      case 'reasoning': {
        const { text } = part;
        if (text === '') return [];
        if (part.isRaw) {
          const where = { ...at, content_index: 0 };
          return [
            this.#event('response.reasoning_text.done', { ...where, text }),
            this.#event('response.content_part.done', { ...where, part: { ...RAW_REASONING, text } }),
          ];
        }
        const where = { ...at, summary_index: 0 };
        return [
          this.#event('response.reasoning_summary_text.done', { ...where, text }),
          this.#event('response.reasoning_summary_part.done', { ...where, part: { ...SUMMARY, text } }),
        ];
      }
      case 'tool_call': {
        const tool = this.#shown.names.get(part.name);
        if (tool !== undefined && tool.ownType !== null) return this.#doneOwnCall(tool.ownType, part, at);
        if (tool?.isCustom) {
          const input = customInput(part.argumentsJson);
          return [
            this.#event('response.custom_tool_call_input.delta', { ...at, delta: input }),
            this.#event('response.custom_tool_call_input.done', { ...at, input }),
          ];
        }
        const name = tool?.name ?? part.name;
        const json = argumentsOf(part, status);
        return [this.#event('response.function_call_arguments.done', { ...at, name, arguments: json })];
      }
    }
  }

  /** The item alone tells what is searched for, or run. */
  #doneOwnCall(type: OwnToolType, part: ToolCallPart, at: object): Buffer[] {
    const diff = type === 'tool_search' ? null : diffOf(type, part);
    if (diff === null) return [];
    return [
      this.#event('response.apply_patch_call_operation_diff.delta', { ...at, delta: diff }),
      this.#event('response.apply_patch_call_operation_diff.done', { ...at, diff }),
    ];
  }

  #doneText(part: TextPart, at: object): Buffer[] {
    const { text } = part;
    const said = part.isRefusal
      ? this.#event('response.refusal.done', { ...at, refusal: text })
      : this.#event('response.output_text.done', { ...at, text, logprobs: [] });
    return [said, this.#event('response.content_part.done', { ...at, part: contentOf(part) })];
  }

  #at(index: number): object {
    return { item_id: this.#itemId(index), output_index: index };
  }

  #content(): object {
    return { ...this.#at(this.#begun - 1), content_index: 0 };
  }

  #summary(): object {
    return { ...this.#at(this.#begun - 1), summary_index: 0 };
  }

  #itemId(index: number): string {
    return itemId(this.#whole, index, this.#shown.names);
  }

  #response(isRunning: boolean, usage: string, identity = this.#identity): string {
    const response = responseText(this.#whole, identity, { ...this.#shown, isRunning });
    return `${response.slice(0, -1)},"usage":${usage}}`;
  }

  #event(type: string, members: object): Buffer {
    return this.#rawEvent(type, JSON.stringify(members).slice(1, -1));
  }

  #rawEvent(type: string, members: string): Buffer {
    const text = `{"type":"${type}","sequence_number":${this.#sequenceNumber++},${members}}`;
    return namedText(type, text);
  }
}

const NOTHING = Buffer.alloc(0);
const SUMMARY = { type: 'summary_text', text: '' };
const RAW_REASONING = { type: 'reasoning_text', text: '' };

export function writeResponsesAnswer(
  whole: WholeAnswer,
  identity: AnswerIdentity,
  shown: ShownResponse,
): WrittenAnswer {
  const text = responseText(whole, identity, { ...shown, isRunning: false });
  const value = parseJson(text);
  return { value: isRecord(value) ? value : {}, bytes: Buffer.from(text) };
}
