import type { AnswerPiece } from '#core/conversation/answer-piece.ts';
import { UPSTREAM_TEXT_CHARS_MAX } from '#core/limits.ts';
import type { UsageCounter } from '../formats/counted-elsewhere.ts';
import { numberOf, textOf } from '../formats/values.ts';
import type { AnswerText } from '../price/answer-text.ts';

/** Reads a provider's answer in another format than the caller's, streamed or in one piece. */
export interface AnswerSource extends UsageCounter {
  /**
   * The text of the events that were read, as a caller who speaks the provider's format is charged for it: some of it, such as the calls of
   * the provider's own tools, has no place in other formats.
   */
  readonly text: Pick<AnswerText, 'bytes'>;
  read(data: Buffer, eventName: string): ReadPieces;
  /** Of an answer in one piece, parsed, and known to be no error. */
  readWhole(bytes: Buffer, value: Readonly<Record<string, unknown>>): readonly AnswerPiece[];
  /** The pieces that it still keeps back where a stream is complete: a server may leave out the end of a call, or of the answer. */
  rest(): readonly AnswerPiece[];
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

/**
 * A citation of a page; places in documents that the caller sent have no address.
 *
 * @param span The characters of the answer's text that it proves; an empty span says nothing.
 */
export function citationOf({ url, title }: Record<string, unknown>, span: Span): AnswerPiece[] {
  if (textOf(url) === '') return [];
  const from = numberOf(span.from);
  const to = numberOf(span.to);
  const isSaid = from !== null && to !== null && from >= 0 && from < to;
  return [{ type: 'citation', url: textOf(url), title: textOf(title), ...(isSaid ? { from, to } : {}) }];
}

interface Span {
  from: unknown;
  to: unknown;
}
