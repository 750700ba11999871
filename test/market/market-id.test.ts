import { expect, it } from 'vitest';
import { parseMarketId } from '#core/events/market-id.ts';

it.each([
  ['credit-2026-11-30', Date.UTC(2026, 10, 30)],
  ['a-2028-02-29', Date.UTC(2028, 1, 29)],
  ['0-a--b-2026-12-31', Date.UTC(2026, 11, 31)],
])('the credit of %s ends on its date at 00:00 UTC', (text, endsAtMs) => {
  expect(parseMarketId(text)).toEqual({ text, endsAtMs });
});

it.each([
  ...[
    '',
    '2026-11-30',
    '-2026-11-30',
    'credit',
    'credit-2026-11-30 ',
    'credit-2026-11-3',
    'Credit-2026-11-30',
  ],
  ...[
    'credit-2026-02-29',
    'credit-2026-02-30',
    'credit-2026-11-31',
    'credit-2026-00-10',
    'credit-2026-13-01',
  ],
  ...['credit-2026-11-00', 'credit-2026-11-32', 'credit/2026-11-30', 'crédit-2026-11-30', '../a-2026-11-30'],
  ...[
    `${'a'.repeat(41)}-2026-11-30`,
    `${'a'.repeat(1_024)}-2026-11-30`,
    'credit-2026-11-30\n',
    'credit-٢٠٢٦-11-30',
  ],
])('no market can have the id %j', (text) => {
  expect(parseMarketId(text)).toBeNull();
});
