import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';

export interface Terminal {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable & { isTTY?: boolean };
}

export type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red';
/** Leaves the text as it is where nobody sees colours: a pipe, or NO_COLOR; FORCE_COLOR has them in a pipe, too. */
export type Paint = (style: Style, text: string) => string;

export const paintFor =
  (stream: Terminal['stdout']): Paint =>
  (style, text) =>
    styleText(style, text, { stream, validateStream: true });

/** Names come from far away: none may move the cursor, change colours or turn the line around. */
export const printable = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
