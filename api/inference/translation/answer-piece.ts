import type { AnswerText } from '../price/answer-text.ts';

/** A provider's answer as it comes, in no format's words. */
export type AnswerPiece =
  /** The provider's id for the answer. Comes first, once. */
  | { type: 'start'; id: string }
  | { type: 'text'; text: string }
  /** A page that the text so far rests on. */
  | { type: 'citation'; url: string; title: string }
  | { type: 'reasoning'; text: string }
  /**
   * Of the thought before it, whole, with which the provider takes it back in a later call. Some models show nothing of
   * what they have thought, and sign it all the same.
   */
  | { type: 'signature'; signature: string }
  /** Thought that nobody but the provider can read. */
  | { type: 'encrypted'; data: string }
  | { type: 'tool_call'; index: number; id: string; name: string }
  /** A piece of the JSON text that the call of this index is made with. */
  | { type: 'arguments'; index: number; json: string }
  | { type: 'finish'; reason: FinishReason; stopSequence: string | null };

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Counts what a piece brings of the answer's text. */
export function addPiece(text: AnswerText, piece: AnswerPiece): void {
  switch (piece.type) {
    case 'text':
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
