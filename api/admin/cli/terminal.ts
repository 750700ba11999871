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

export interface Column<Row> {
  title: string;
  text: (row: Row) => string;
  /** Numbers stand under their ends. */
  right?: true;
  style?: (row: Row) => Style | null;
}

/** Lines of a table with as much room as its widest cells need. */
export function formatTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  paint: Paint,
): string[] {
  const cells = rows.map((row) => columns.map((column) => printable(column.text(row))));
  const widths = columns.map(({ title }, index) =>
    Math.max(title.length, ...cells.map((line) => widthOf(line[index] ?? ''))),
  );
  const join = (line: readonly string[]): string => line.join('  ');
  const pad = (text: string, index: number): string => {
    const room = ' '.repeat((widths[index] ?? 0) - widthOf(text));
    if (columns[index]?.right) return room + text;
    return index === columns.length - 1 ? text : text + room;
  };
  const head = join(columns.map(({ title }, index) => paint('bold', pad(title, index))));
  const body = cells.map((line, rowIndex) =>
    join(
      line.map((text, index) => {
        const row = rows[rowIndex];
        const style = row === undefined ? null : columns[index]?.style?.(row);
        return style ? paint(style, pad(text, index)) : pad(text, index);
      }),
    ),
  );
  return [head, ...body];
}

/** `name  value` lines. */
export function formatFacts(facts: readonly (readonly [string, string])[], paint: Paint): string[] {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `${paint('dim', name.padEnd(width))}  ${printable(value)}`);
}

const widthOf = (text: string): number => [...text].length;
