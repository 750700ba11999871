import { LABEL_CHARS_MAX } from './limits.ts';

/** Ends of lines, other controls, halves of letters, and what turns the direction of the text around it. */
const NOT_IN_A_LINE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** Blanks, and what shows nothing at all: a list would have a nameless line. */
const NOTHING_TO_SEE = /^[\s\p{Default_Ignorable_Code_Point}]*$/u;

/** Spec: Limits, label length: one line, up to 60 characters. Names that the operator gives follow it. */
export function isLabel(text: string): boolean {
  if (NOTHING_TO_SEE.test(text) || NOT_IN_A_LINE.test(text)) return false;
  return [...text].length <= LABEL_CHARS_MAX;
}
