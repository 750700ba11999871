import type { AnswerPiece, FinishReason } from '#core/conversation/answer-piece.ts';
import { isErrorEvent, isLastChunk } from '../formats/chat-answer.ts';
import { ChatUsage } from '../formats/chat-usage.ts';
import { CountedElsewhere } from '../formats/counted-elsewhere.ts';
import { isDone } from '../formats/stream-text.ts';
import { usageRecordsIn } from '../formats/usage-places.ts';
import { numberOf, recordOf, records, textOf } from '../formats/values.ts';
import { answerBounds, readJsonObject } from '../json/json-object.ts';
import { bringsText } from './add-piece.ts';
import { type AnswerSource, answerIdOf, citationOf, type ReadPieces } from './answer-source.ts';

/** Chunks of a chat, of which the first choice is read: a translated call asks for one. */
export class ChatSource extends CountedElsewhere implements AnswerSource {
  protected readonly counter = new ChatUsage();
  #started = false;
  #finished = false;
  readonly #calls = new Set<number>();
  /** Of the calls, by their ids. */
  readonly #indexes = new Map<string, number>();

  read(data: Buffer, eventName: string): ReadPieces {
    if (isDone(data)) return { kind: 'done' };
    if (eventName === 'error') return { kind: 'error' };
    const read = readJsonObject(data, answerBounds);
    if (typeof read === 'string') return { kind: isErrorEvent(data, null) ? 'error' : 'malformed' };
    const records = usageRecordsIn(read.object);
    const isError = isErrorEvent(data, read.object);
    const pieces = isError ? [] : this.#pieces(read.value);
    const hasText = pieces.some(bringsText);
    if (records.length > 0) this.counter.add(records, { isLast: isLastChunk(read.object), hasText });
    else if (hasText) this.counter.textFollows();
    return isError ? { kind: 'error' } : { kind: 'pieces', pieces };
  }

  readWhole(_bytes: Buffer, value: Readonly<Record<string, unknown>>): readonly AnswerPiece[] {
    return this.#pieces(value);
  }

  #pieces({ id, choices }: Record<string, unknown>): AnswerPiece[] {
    const pieces: AnswerPiece[] = [];
    if (!this.#started) {
      this.#started = true;
      pieces.push({ type: 'start', id: answerIdOf(id) });
    }
    const [choice] = records(choices);
    if (choice === undefined) return pieces;
    // Some servers send the whole message in their last chunk, or in their only one.
    const delta = recordOf(choice.delta ?? choice.message);
    const reasoning = textOf(delta.reasoning) || textOf(delta.reasoning_content);
    if (reasoning !== '') pieces.push({ type: 'reasoning', text: reasoning });
    const content = contentPieces(delta.content);
    for (const piece of content.length > 0 ? content : pieceOf('text', delta.refusal)) pieces.push(piece);
    for (const note of records(delta.annotations)) pieces.push(...citationOf(recordOf(note.url_citation)));
    for (const call of records(delta.tool_calls)) pieces.push(...this.#call(call));
    const reason = textOf(choice.finish_reason);
    if (reason !== '' && !this.#finished) {
      this.#finished = true;
      pieces.push({ type: 'finish', reason: this.#reason(reason), stopSequence: null });
    }
    return pieces;
  }

  /** An id belongs to its call from its first piece on, whatever later pieces say. */
  #call(call: Record<string, unknown>): AnswerPiece[] {
    const { name, arguments: json } = recordOf(call.function);
    const id = textOf(call.id);
    const index = numberOf(call.index) ?? this.#indexOf(id);
    const pieces: AnswerPiece[] = [];
    if (!this.#calls.has(index)) {
      const known = id || `call_${index}`;
      this.#calls.add(index);
      if (!this.#indexes.has(known)) this.#indexes.set(known, index);
      pieces.push({ type: 'tool_call', index, id: known, name: textOf(name) });
    }
    if (textOf(json) !== '') pieces.push({ type: 'arguments', index, json: textOf(json) });
    return pieces;
  }

  /** Servers that number no calls send each whole, or go on with the last. */
  #indexOf(id: string): number {
    const { size } = this.#calls;
    return this.#indexes.get(id) ?? (id === '' ? Math.max(0, size - 1) : size);
  }

  #reason(reason: string): FinishReason {
    // Some servers say `stop` after a call of a tool.
    if (reason === 'tool_calls' || reason === 'function_call' || (reason === 'stop' && this.#calls.size > 0))
      return 'tool_calls';
    return reason === 'length' || reason === 'content_filter' ? reason : 'stop';
  }
}

/** Reads a text, or a list of parts, in which one vendor sends reasoning, too. */
function contentPieces(content: unknown): AnswerPiece[] {
  if (typeof content === 'string') return pieceOf('text', content);
  return records(content).flatMap(({ type, text, thinking }) => {
    if (type === 'text') return pieceOf('text', text);
    if (type !== 'thinking') return [];
    const parts = typeof thinking === 'string' ? [{ text: thinking }] : records(thinking);
    return parts.flatMap((part) => pieceOf('reasoning', part.text));
  });
}

const pieceOf = (type: 'text' | 'reasoning', text: unknown): AnswerPiece[] =>
  textOf(text) === '' ? [] : [{ type, text: textOf(text) }];
