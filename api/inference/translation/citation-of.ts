import { textOf } from '../formats/values.ts';
import type { AnswerPiece } from './answer-piece.ts';

/** Of a page; places in documents that the caller sent have no address. */
export function citationOf({ url, title }: Record<string, unknown>): AnswerPiece[] {
  return textOf(url) === '' ? [] : [{ type: 'citation', url: textOf(url), title: textOf(title) }];
}
