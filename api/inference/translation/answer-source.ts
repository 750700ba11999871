import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import { UPSTREAM_TEXT_CHARS_MAX } from '#core/limits.ts';
import type { UsageCounter } from '../formats/counted-elsewhere.ts';
import { textOf } from '../formats/values.ts';

/** Reads a provider's answer in another format than the caller's, streamed or in one piece. */
export interface AnswerSource extends UsageCounter {
  read(data: Buffer, eventName: string): ReadPieces;
  /** Of an answer in one piece, parsed, and known to be no error. */
  readWhole(bytes: Buffer, value: Readonly<Record<string, unknown>>): readonly AnswerPiece[];
}

export type ReadPieces =
  | { kind: 'pieces'; pieces: readonly AnswerPiece[] }
  | { kind: 'done' }
  | { kind: 'malformed' }
  | { kind: 'error' };

/**
 * A provider's id for its answer; empty where it has none. Some formats repeat it in every event: one of a megabyte would
 * make gigabytes of an answer.
 */
export function answerIdOf(id: unknown): string {
  const text = textOf(id);
  return text.length > UPSTREAM_TEXT_CHARS_MAX ? '' : text;
}

/** Of a page; places in documents that the caller sent have no address. */
export function citationOf({ url, title }: Record<string, unknown>): AnswerPiece[] {
  return textOf(url) === '' ? [] : [{ type: 'citation', url: textOf(url), title: textOf(title) }];
}
