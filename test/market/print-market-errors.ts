import type { ErrorRow } from '../../api/contract/errors.ts';
import { marketErrorTable } from '../../api/contract/market-errors.ts';
import { marketRefusals } from './market-errors.ts';

/*
 * `node test/market/print-market-errors.ts`: every request for market data that is refused, with what, and what it weighs
 * (`market-errors.test.ts` sends each of them). Markdown.
 */
console.log('| Code | HTTP | Refused because it is | Request | Weight | Message |');
console.log('|---|---|---|---|---|---|');
for (const { code, wrong, method = 'GET', path, usedWeight, message } of marketRefusals) {
  const row: ErrorRow = marketErrorTable[code];
  const short = path.length > 80 ? `${path.slice(0, 60)}…` : path;
  const weight = code === 'rate_limited' ? 'none' : (usedWeight ?? 'none');
  console.log(
    `| \`${code}\` | ${row.status} | ${wrong} | \`${method} ${short}\` | ${weight} | ${message ?? row.message} |`,
  );
}
