import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import { BOOK_TOPIC } from '#core/events/book-record.ts';
import { MARKETS_TOPIC } from '#core/events/market-listing.ts';
import { TRADES_TOPIC } from '#core/events/market-trade.ts';
import { checkIdentity } from '#core/ledger/machine/check-identity.ts';
import { createMemoryLiveMarkets } from '#core/market/memory-live-markets.ts';
import { checkMarket } from '#core/market/rebuild-market.ts';
import { startEmbeddedMarket } from '../../workers/market/embedded-market.ts';
import { day, START_MS } from '../ledger/case.ts';
import { createDraw, type Draw, pick } from '../ledger/history/random.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { createMemoryMarketStore } from '../support/memory-market-store.ts';
import { bookChange, listing, marketOf, snapshot, trade } from './market-records.ts';

const REQUESTS = 1_500;
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

const deep: unknown = JSON.parse(`${'{"1":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
const topics = [MARKETS_TOPIC, TRADES_TOPIC, BOOK_TOPIC] as const;
const hostile: readonly unknown[] = [
  ...[null, true, -1, 0, 1.5, 1e300, Number.MAX_SAFE_INTEGER, 2 ** 53, [], {}, [[]], deep],
  ...['', ' ', '0', '-1', '1e3', '9'.repeat(40), `0.${'1'.repeat(40)}`, '9999999.999999999', '0.000000001'],
  ...['\u0000', '\ud800', '__proto__', 'constructor', '../..', 'x'.repeat(1_024), '0001.5', '٣'],
  ...['0000-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z', '2026-02-29T00:00:00Z'],
  ...['a-9999-12-31', 'a-0000-01-01', 'credit-2026-02-30', 1_000_000_000_000, 2, 3],
];

/** A record with some of it replaced by what nobody should write, at any depth. */
function spoil(draw: Draw, value: unknown): unknown {
  if (draw(6) === 0 || typeof value !== 'object' || value === null) return pick(draw, hostile);
  if (Array.isArray(value)) return value.map((each) => (draw(3) === 0 ? spoil(draw, each) : each));
  const entries = Object.entries(value);
  const spoiled = draw(entries.length);
  const changed = entries.map(([name, each], i) => [name, i === spoiled ? spoil(draw, each) : each]);
  if (draw(10) === 0) changed.push([pick(draw, ['__proto__', 'toJSON', 'more']), pick(draw, hostile)]);
  return Object.fromEntries(changed);
}

test(`whatever is fed, each record is answered, and books, candles and credit stay right (seed ${seed})`, async () => {
  const draw = createDraw(seed);
  const clock = createFakeClock(START_MS);
  const ledger = createMemoryLedger({ clock });
  const store = createMemoryMarketStore();
  const live = createMemoryLiveMarkets(clock);
  const errors: string[] = [];
  const log = { info() {}, warn() {}, error: (event: string) => void errors.push(event) };
  const { feeds, stop } = startEmbeddedMarket({ store, live, ledger, registry: new Registry(), clock, log });
  for (const agentId of [1, 2, 3]) {
    for (const days of [1, 3, 8]) {
      const grant = { agentId, grantId: `g${days}`, expiresAtMs: day(days), nanoUsd: 50_000_000_000n };
      await ledger.execute({ type: 'grant', ...grant });
    }
  }
  const markets = [1, 3, 8].map((days) => marketOf(clock.now(), days));
  const outcomes = new Set<string>();
  let seq = 0;
  for (let i = 0; i < REQUESTS; i++) {
    const market = pick(draw, markets);
    const between = { sellerAgentId: 1 + draw(3), buyerAgentId: 1 + draw(3), size: `0.${1 + draw(9)}` };
    const kinds = {
      [MARKETS_TOPIC]: () => listing(market, { version: seq }),
      [TRADES_TOPIC]: () => trade(market, Math.max(1, seq - draw(3)), between),
      [BOOK_TOPIC]: () => (draw(3) === 0 ? snapshot(market, seq) : bookChange(market, seq)),
    };
    const topic = pick(draw, topics);
    const make = () => {
      seq += 1;
      const good = kinds[draw(30) === 0 ? pick(draw, topics) : topic]();
      return draw(2) === 0 ? good : spoil(draw, good);
    };
    const made = Array.from({ length: 1 + draw(4) }, make);
    const fed = await feeds.feed(topic, made);
    if (fed === 'unknown_topic') throw new Error(topic);
    expect(fed).toHaveLength(made.length);
    for (const { outcome } of fed) outcomes.add(outcome);
    clock.advance(draw(60_000));
    if (draw(1_000) === 0) clock.advance(DAY_MS / 4);
  }
  await stop();
  expect(errors).toEqual([]);
  let inTransit = 0n;
  for (const agent of ledger.state.agents.values()) {
    expect(checkIdentity(agent)).toBeNull();
    inTransit += agent.movedOutNanoUsd - agent.movedInNanoUsd;
  }
  expect(inTransit).toBe(0n);
  for (const market of markets) expect((await checkMarket(store, market))?.differing).toBe(0);
  expect([...outcomes]).toEqual(expect.arrayContaining(['dead_letter', 'done']));
  // Nothing is away here: what is to come again would do so for ever.
  expect(outcomes).not.toContain('try_again');
});
