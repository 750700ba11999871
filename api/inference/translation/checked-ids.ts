import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import { madeCallId } from '../formats/call-numbers.ts';
import { type Hidden, repeatsHidden } from '../scrub/scrub-words.ts';
import type { AnswerSource } from './answer-source.ts';
import { ChangedPieces } from './changed-pieces.ts';

/**
 * A source whose ids may be shown. The id of an answer stands in each of its events and in the ids that are made of it, and a call's id
 * in its result, so each is checked once, before it is written: one that repeats the provider's key or address counts as none.
 */
export class CheckedIds extends ChangedPieces {
  readonly #provider: Hidden['provider'];

  constructor(source: AnswerSource, provider: Hidden['provider']) {
    super(source);
    this.#provider = provider;
  }

  protected changed(pieces: readonly AnswerPiece[]): readonly AnswerPiece[] {
    return pieces.some((piece) => this.#tells(piece))
      ? pieces.map((piece) => this.#withoutId(piece))
      : pieces;
  }

  #tells(piece: AnswerPiece): boolean {
    return (piece.type === 'start' || piece.type === 'tool_call') && repeatsHidden(piece.id, this.#provider);
  }

  #withoutId(piece: AnswerPiece): AnswerPiece {
    if (!this.#tells(piece)) return piece;
    if (piece.type === 'start') return { ...piece, id: '' };
    return piece.type === 'tool_call' ? { ...piece, id: madeCallId('', piece.index) } : piece;
  }
}
