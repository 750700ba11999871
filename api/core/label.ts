import { LABEL_CHARS_MAX } from './limits.ts';

/** Ends of lines, other controls, halves of letters, and what turns the direction of the text around it. */
const NOT_IN_A_LINE = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** Spec: Limits, label length: one line, up to 60 characters. Names that the operator gives follow it. */
export function isLabel(text: string): boolean {
  if (text.trim() === '' || NOT_IN_A_LINE.test(text)) return false;
  return [...text].length <= LABEL_CHARS_MAX;
}
