import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import type { StreamEndView } from '../formats/call-format.ts';

/** Writes a stream of the caller's format, with all that the format's clients rely on. */
export interface AnswerSink {
  /** In memory, of what has come, until the end. */
  readonly keptBytes: number;
  /** How many events it has written; `null`: they have no numbers. */
  readonly eventsWritten: number | null;
  /** Whole events; empty where a piece makes none. */
  write(piece: AnswerPiece): Buffer;
  /** What is still open is closed; then usage with its cost, and the end. */
  end(view: StreamEndView): Buffer;
}

/** A whole answer of the caller's format, without its usage. */
export interface WrittenAnswer {
  /** With marks in the place of numbers that a float would change. */
  value: Record<string, unknown>;
  bytes: Buffer;
}

/** Approximate memory of a buffered piece, in bytes. */
export function pieceBytes(piece: AnswerPiece): number {
  switch (piece.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return KEPT_BYTES + piece.text.length;
    case 'citation':
      return KEPT_BYTES + piece.url.length + piece.title.length;
    case 'signature':
    case 'call_signature':
      return KEPT_BYTES + piece.signature.length;
    case 'encrypted':
      return KEPT_BYTES + piece.data.length;
    case 'tool_call':
      return KEPT_BYTES + piece.id.length + piece.name.length;
    case 'arguments':
      return KEPT_BYTES + piece.json.length;
    case 'start':
    case 'finish':
      return KEPT_BYTES;
  }
}

/** Overhead of an object or of a concatenated string, in bytes. */
const KEPT_BYTES = 48;
