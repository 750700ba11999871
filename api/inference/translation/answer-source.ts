import type { StreamUsage, Usage } from '../price/usage.ts';
import type { AnswerPiece } from './answer-piece.ts';

/** Reads a provider's answer in another format than the caller's, streamed or in one piece. */
export interface AnswerSource {
  /** The usage records that came so far. */
  readonly records: StreamUsage;
  read(data: Buffer, eventName: string): ReadPieces;
  /** Of an answer in one piece, parsed, and known to be no error. */
  readWhole(bytes: Buffer, value: Readonly<Record<string, unknown>>): readonly AnswerPiece[];
  usage(deliveredTokens: number): Usage | null;
  /** It may close now without an end mark. */
  isComplete(): boolean;
}

export type ReadPieces =
  | { kind: 'pieces'; pieces: readonly AnswerPiece[] }
  | { kind: 'done' }
  | { kind: 'malformed' }
  | { kind: 'error' };
