import { expect, test } from 'vitest';
import type { z } from 'zod';
import { bookRecord } from '#core/events/book-record.ts';
import { parseFeedRecord } from '#core/events/feed-record.ts';
import { marketListing } from '#core/events/market-listing.ts';
import { marketTrade } from '#core/events/market-trade.ts';
import { BOOK_RECORD_BYTES_MAX } from '#core/limits.ts';
import { bookChange, listing, snapshot, toBytes, trade } from './market-records.ts';

const MARKET = 'credit-2026-11-25';

interface Feed {
  schema: z.ZodType;
  good: Record<string, unknown>;
}
const listings: Feed = { schema: marketListing, good: listing(MARKET, { freshPrice: '0.95' }) };
const trades: Feed = { schema: marketTrade, good: trade(MARKET, 7) };
const snapshots: Feed = { schema: bookRecord, good: snapshot(MARKET, 7) };
const changes: Feed = { schema: bookRecord, good: bookChange(MARKET, 8) };
const feeds: [string, Feed][] = [
  ['a listing', listings],
  ['a trade', trades],
  ['a snapshot', snapshots],
  ['a change', changes],
];

const DIGITS = '1'.repeat(40);
const CANARY = 'canary-5e1f';

test.each(feeds)('%s as the exchange writes it is understood', (_, { schema, good }) => {
  expect(parseFeedRecord(schema, toBytes(good))).toMatchObject({ ok: true, record: { market: MARKET } });
});

test('prices and sizes are read as whole billionths', () => {
  const exact = trade(MARKET, 1, { price: '0.123456789', size: '1234567.000000001' });
  expect(parseFeedRecord(marketTrade, toBytes(exact))).toMatchObject({
    record: { price: 123_456_789n, size: 1_234_567_000_000_001n, at: Date.UTC(2026, 10, 17) },
  });
});

/** Of every feed. The reason says which field, and nothing of what stood in it. */
const wrongAnywhere: [string, object][] = [
  ['an unknown version', { v: 2 }],
  ['a version in words', { v: CANARY }],
  ['no version', { v: undefined }],
  ['an unknown type', { type: CANARY }],
  ['an unknown key', { [CANARY]: 1 }],
  ['a market that is no id', { market: `${CANARY}/../x` }],
  ['a market of another alphabet', { market: `crédit-${CANARY}-2026-11-25` }],
  ['a market of 1 KB', { market: `${CANARY.repeat(100)}-2026-11-25` }],
  ['a market on a day that does not exist', { market: 'credit-2026-02-30' }],
  ['a market that is a number', { market: 5 }],
];

const level = { price: '0.9', size: '1', orders: 1 };
const change = { side: 'bid', price: '0.9', size: '1', orders: 1 };
const wrongHere: [string, Feed, object][] = [
  ['a tick of 40 digits', listings, { priceTick: DIGITS }],
  ['a tick of nothing', listings, { priceTick: '0' }],
  ['a negative step', listings, { sizeStep: '-0.01' }],
  ['a fresh price in exponents', listings, { freshPrice: '1e0' }],
  ['a version of a half', listings, { version: 1.5 }],
  ['a version of nothing', listings, { version: 0 }],
  ['an opening that is no time', listings, { opensAt: CANARY }],
  ['a price of 40 digits', trades, { price: DIGITS }],
  ['a price of 40 digits behind the point', trades, { price: `0.${DIGITS}` }],
  ['a price of nothing', trades, { price: '0.000' }],
  ['a price that is a number', trades, { price: 0.9 }],
  ['a price with blanks', trades, { price: ' 0.9' }],
  ['a price of other digits', trades, { price: '٠.٩' }],
  ['a negative size', trades, { size: '-1' }],
  ['a size above all credit', trades, { size: '10000000' }],
  ['a seq of nothing', trades, { seq: 0 }],
  ['a seq beyond what a number holds', trades, { seq: 2 ** 60 }],
  ['a seq in words', trades, { seq: CANARY }],
  ['no id', trades, { tradeId: '' }],
  ['an id without end', trades, { tradeId: CANARY.repeat(100) }],
  ['a seller that is none', trades, { sellerAgentId: CANARY }],
  ['a buyer below nothing', trades, { buyerAgentId: -1 }],
  ['a buyer beyond all numbers of agents', trades, { buyerAgentId: Number.MAX_SAFE_INTEGER }],
  ['a seller beyond all numbers of agents', trades, { sellerAgentId: 1_000_000_000_000 }],
  ['a time without a zone', trades, { at: '2026-11-18T10:00:00' }],
  ['a level of 40 digits', snapshots, { bids: [{ ...level, price: DIGITS }] }],
  ['a level of nothing', snapshots, { asks: [{ ...level, size: '0' }] }],
  ['a level of a negative size', snapshots, { bids: [{ ...level, size: '-1' }] }],
  ['a level of more than a trillion', snapshots, { bids: [{ ...level, size: '1000000000000' }] }],
  ['a level without orders', snapshots, { bids: [{ ...level, orders: 0 }] }],
  ['a level with an unknown key', snapshots, { bids: [{ ...level, [CANARY]: 1 }] }],
  ['no asks', snapshots, { asks: undefined }],
  ['changes in a snapshot', snapshots, { changes: [change] }],
  ['a change of a negative size', changes, { changes: [{ ...change, size: '-1' }] }],
  ['a change of a third side', changes, { changes: [{ ...change, side: CANARY }] }],
  ['a change of 40 digits', changes, { changes: [{ ...change, price: DIGITS }] }],
  ['no changes', changes, { changes: [] }],
  ['levels in a change', changes, { bids: [level] }],
];

const wrong: [string, Feed, object][] = [
  ...feeds.flatMap(([of, feed]) =>
    wrongAnywhere.map(([what, more]): [string, Feed, object] => [`${of} with ${what}`, feed, more]),
  ),
  ...wrongHere,
];

test.each(wrong)('%s is refused with a reason that repeats nothing of it', (_, { schema, good }, more) => {
  const parsed = parseFeedRecord(schema, toBytes({ ...good, ...more }));
  if (parsed.ok) throw new Error('was taken');
  expect(parsed.reason).toMatch(/^[\w.]+: |^the record: /);
  expect(parsed.reason).not.toContain(CANARY);
  expect(parsed.reason).not.toContain('crédit');
  expect(parsed.reason).not.toContain(DIGITS);
  expect(parsed.reason).not.toContain('-1');
});

const notRecords: [string, Buffer][] = [
  ['no JSON', Buffer.from(`{"v":1,"${CANARY}`)],
  ['nothing', Buffer.alloc(0)],
  ['null', Buffer.from('null')],
  ['a list', Buffer.from(`["${CANARY}"]`)],
  ['a text', Buffer.from(`"${CANARY}"`)],
  ['half a character', Buffer.from([0x22, 0xc3, 0x22])],
  ['nesting without end', Buffer.from('['.repeat(60_000))],
];

test.each(notRecords)('%s is no record of any feed, and the reason does not repeat it', (_, bytes) => {
  for (const [, { schema }] of feeds) {
    const parsed = parseFeedRecord(schema, bytes);
    if (parsed.ok) throw new Error('was taken');
    expect(parsed.reason).not.toContain(CANARY);
  }
});

test('a record of 10 MB is refused unread, and a book of 5,000 levels a side fits', () => {
  const flood = Buffer.alloc(10 * 1024 * 1024, 0x20);
  for (const [, { schema }] of feeds) {
    expect(parseFeedRecord(schema, flood)).toEqual({ ok: false, reason: 'the record is too large' });
  }
  expect(parseFeedRecord(bookRecord, flood, BOOK_RECORD_BYTES_MAX)).toMatchObject({ ok: false });
  const side = Array.from({ length: 5_000 }, (_, i) => ({
    price: `1234567.${String(i).padStart(9, '0')}`,
    size: '1234567.123456789',
    orders: 1_000_000,
  }));
  const whole = toBytes(snapshot(MARKET, 1, { bids: side, asks: side }));
  expect(whole.length).toBeGreaterThan(64 * 1024);
  expect(parseFeedRecord(bookRecord, whole, BOOK_RECORD_BYTES_MAX)).toMatchObject({ ok: true });
});

test('the reason of a book of thousands of wrong levels is short', () => {
  const bids = Array.from({ length: 5_000 }, () => ({ ...level, price: '-1' }));
  const parsed = parseFeedRecord(bookRecord, toBytes(snapshot(MARKET, 1, { bids })), BOOK_RECORD_BYTES_MAX);
  if (parsed.ok) throw new Error('was taken');
  expect(parsed.reason.length).toBeLessThan(1_000);
});
