import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import { CountedElsewhere } from '../formats/counted-elsewhere.ts';
import type { AnswerSource, ReadPieces } from './answer-source.ts';

/** A source whose pieces are changed on their way to the caller. */
export abstract class ChangedPieces extends CountedElsewhere implements AnswerSource {
  protected readonly counter: AnswerSource;

  constructor(source: AnswerSource) {
    super();
    this.counter = source;
  }

  protected abstract changed(pieces: readonly AnswerPiece[]): readonly AnswerPiece[];

  get text(): AnswerSource['text'] {
    return this.counter.text;
  }

  read(data: Buffer, eventName: string): ReadPieces {
    const read = this.counter.read(data, eventName);
    return read.kind === 'pieces' ? { ...read, pieces: this.changed(read.pieces) } : read;
  }

  readWhole(bytes: Buffer, value: Readonly<Record<string, unknown>>): readonly AnswerPiece[] {
    return this.changed(this.counter.readWhole(bytes, value));
  }

  rest(): readonly AnswerPiece[] {
    return this.changed(this.counter.rest());
  }
}
