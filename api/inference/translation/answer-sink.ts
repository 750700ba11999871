import type { StreamEndView } from '../formats/call-format.ts';
import type { AnswerPiece } from './answer-piece.ts';

/** Writes a stream of the caller's format, with all that the format's clients rely on. */
export interface AnswerSink {
  /** In memory, of what has come, until the end. */
  readonly keptBytes: number;
  /** Whole events; empty where a piece makes none. */
  write(piece: AnswerPiece): Buffer;
  /** What is still open is closed; then usage with its cost, and the end. */
  end(view: StreamEndView): Buffer;
}
