import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import type { AnswerText } from '../price/answer-text.ts';

/** Counts the text that a piece adds to the answer. */
export function addPiece(text: AnswerText, piece: AnswerPiece): void {
  switch (piece.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      text.add(piece.text);
      return;
    case 'tool_call':
      text.call(String(piece.index)).name(piece.name);
      return;
    case 'arguments':
      text.call(String(piece.index)).arguments(piece.json);
  }
}

export const bringsText = ({ type }: AnswerPiece): boolean => TEXT_TYPES.has(type);

const TEXT_TYPES: ReadonlySet<AnswerPiece['type']> = new Set([
  'text',
  'refusal',
  'reasoning',
  'tool_call',
  'arguments',
]);
