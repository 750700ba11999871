import { errorStatus, errorType } from '../../api/contract/error-body.ts';
import { errorCodes as codes, type ErrorCode } from '../../api/contract/errors.ts';
import { codeGrid, type Ways } from './code-grid.ts';
import { FORMATS } from './requests.ts';

/*
 * `node test/formats/print-codes-table.ts`: every code by every format, as JSON and in a stream, with the tests that
 * cover each cell (`every-code.test.ts` goes all of them in each format), or why it cannot be met. Markdown.
 */

const statusAndType = (code: ErrorCode): string => {
  const [chat, messages] = (['chat', 'messages'] as const).map(
    (shape) => `${errorStatus(code, shape)} ${errorType(code, shape)}`,
  );
  return chat === messages ? `${chat}` : `${chat}; messages: ${messages}`;
};

const cell = (ways: Ways): string =>
  typeof ways === 'string'
    ? `– ${ways}`
    : ways.map(({ when, kinds }) => `✓ ${when} (${kinds.join(', ')})`).join('<br>');

console.log(`By ${FORMATS.join(', ')} alike; in brackets the providers behind, native or translated.\n`);
console.log('| Code | Status and type | JSON, and a stream that has not begun | Inside a running stream |');
console.log('|---|---|---|---|');
for (const code of codes) {
  const { before, within } = codeGrid[code];
  console.log(`| ${code} | ${statusAndType(code)} | ${cell(before)} | ${cell(within)} |`);
}
