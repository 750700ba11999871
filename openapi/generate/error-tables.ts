import { type ErrorRow, errorTable } from '../../api/contract/errors.ts';
import { marketErrorTable } from '../../api/contract/market-errors.ts';
import { markdownTable } from './markdown-table.ts';

/** Every code that a call can be refused with, for the guide of errors. */
export const callErrors = (): string =>
  markdownTable(
    ['`code`', 'HTTP', '`type`', 'do', 'cost', 'what it says when nothing more precise is known'],
    Object.entries<ErrorRow>(errorTable).map(([code, row]) => [
      `\`${code}\``,
      both(row.status, row.messages?.status),
      both(`\`${row.type}\``, row.messages?.type === undefined ? undefined : `\`${row.messages.type}\``),
      advice(row),
      row.cost === 'free' ? 'free' : 'what the provider recorded, usually nothing',
      row.message,
    ]),
  );

export const marketErrors = (): string =>
  markdownTable(
    ['`code`', 'HTTP', 'do', 'what it says'],
    Object.entries<ErrorRow>(marketErrorTable).map(([code, row]) => [
      `\`${code}\``,
      String(row.status),
      advice(row),
      row.message,
    ]),
  );

/** In the shape of chat completions and responses, and in that of messages where it differs. */
const both = (usual: string | number, inMessages: string | number | undefined): string =>
  inMessages === undefined || inMessages === usual ? String(usual) : `${usual}; on messages ${inMessages}`;

const advice = ({ retry, longWait }: ErrorRow): string => {
  if (longWait) return 'wait, maybe for hours';
  return { fix_first: 'fix first', after_wait: 'retry after the wait', retry: 'retry' }[retry];
};
