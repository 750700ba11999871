import type { Usage } from '../usage.ts';
import type { AnswerPiece } from './answer-piece.ts';

/** Reads a provider's stream of another format than the caller's. */
export interface AnswerSource {
  read(data: Buffer, eventName: string): ReadPieces;
  usage(deliveredTokens: number): Usage | null;
  /** It may close now without an end mark. */
  isComplete(): boolean;
}

export type ReadPieces =
  | { kind: 'pieces'; pieces: readonly AnswerPiece[] }
  | { kind: 'done' }
  | { kind: 'malformed' }
  | { kind: 'error' };
