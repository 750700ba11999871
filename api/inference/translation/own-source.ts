import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import type { OwnEvent, OwnReader } from '#core/conversation/own-format.ts';
import { isErrorEvent } from '../formats/chat-answer.ts';
import { ChatUsage } from '../formats/chat-usage.ts';
import { CountedElsewhere } from '../formats/counted-elsewhere.ts';
import { answerBounds, readJsonObject } from '../json/json-object.ts';
import { AnswerText } from '../price/answer-text.ts';
import { addPiece, bringsText } from './add-piece.ts';
import type { AnswerSource, ReadPieces } from './answer-source.ts';

/** Reads the stream of a provider whose kind has a format of its own. */
export class OwnSource extends CountedElsewhere implements AnswerSource {
  readonly #reader: OwnReader;
  protected readonly counter = new ChatUsage();
  readonly text = new AnswerText();

  constructor(reader: OwnReader) {
    super();
    this.#reader = reader;
  }

  read(data: Buffer, eventName: string): ReadPieces {
    const read = readJsonObject(data, answerBounds);
    if (typeof read === 'string') return { kind: isErrorEvent(data, null) ? 'error' : 'malformed' };
    if (isErrorEvent(data, read.object)) return { kind: 'error' };
    const event = this.#readEvent(read.value, eventName);
    if (event === null) return { kind: 'malformed' };
    const { pieces, usage, isLast } = event;
    for (const piece of pieces) addPiece(this.text, piece);
    const hasText = pieces.some(bringsText);
    if (usage !== null || isLast) {
      const records = usage === null ? [] : [Buffer.from(JSON.stringify(usage))];
      this.counter.add(records, { isLast: isLast || (!hasText && this.isComplete()), hasText });
    } else if (hasText) this.counter.textFollows();
    return { kind: 'pieces', pieces };
  }

  /** `null`: the kind's reader knows no such event, and has thrown. */
  #readEvent(event: Readonly<Record<string, unknown>>, name: string): OwnEvent | null {
    try {
      return this.#reader.read(event, name);
    } catch {
      return null;
    }
  }

  rest(): readonly AnswerPiece[] {
    return [];
  }

  /** Every answer in such a format is asked for as a stream. */
  readWhole(): never {
    throw new Error('An answer in a format of its own came whole.');
  }
}
