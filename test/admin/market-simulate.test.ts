import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { DAY_MS, HOUR_MS, isoTime, SECOND_MS } from '#core/clock.ts';
import { BOOK_TOPIC, bookRecord } from '#core/events/book-record.ts';
import { MARKETS_TOPIC, marketListing } from '#core/events/market-listing.ts';
import { type MarketTrade, marketTrade, TRADES_TOPIC } from '#core/events/market-trade.ts';
import { FEED_RECORDS_AT_ONCE } from '#core/limits.ts';
import { CliError } from '../../api/admin/cli/cli-error.ts';
import type { GatewayClient } from '../../api/admin/cli/gateway-client.ts';
import { type MarketTurn, turnLine } from '../../api/admin/cli/market/market-turn.ts';
import { type Simulation, simulateMarket } from '../../api/admin/cli/market/simulate-market.ts';
import { adminExamples } from '../../api/admin/examples.ts';
import type { MarketState } from '../../api/admin/schemas/market-state.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const NOW_MS = Date.parse('2026-11-23T20:00:00.000Z');
const NEWEST = 'credit-2026-12-01';
const schemas = { [MARKETS_TOPIC]: marketListing, [TRADES_TOPIC]: marketTrade, [BOOK_TOPIC]: bookRecord };

interface Fed {
  topic: string;
  record: z.infer<typeof marketListing> | MarketTrade | z.infer<typeof bookRecord>;
}

/** The operator's side of a gateway, as far as a simulated market needs it. */
function createFakeGateway(clock: { now(): number }) {
  const fake = {
    agents: [] as { id: number; name: string; credit: { at: string; usd: string }[] }[],
    grants: [] as { agentId: number; usd: string; days: number }[],
    states: [] as MarketState[],
    fedBy: 'requests',
    fed: [] as Fed[],
    bodies: [] as number[],
    /** What becomes of a record, if not that it is taken. */
    refuse: (_: Fed): { outcome: string; reason?: string } | null => null,
    /** Whether it waits for the whole book. */
    wants: () => false,
  };
  const detail = ({ id, name, credit }: (typeof fake.agents)[number]) => ({
    ...adminExamples.agentDetail,
    ...{ id, name, expiring: credit },
  });

  function answer(path: string, body: Record<string, unknown>): unknown {
    if (path === '/markets') return { markets: fake.states, fed_by: fake.fedBy };
    if (path === '/agents' && body.name === undefined) return { agents: fake.agents.map(detail), next: null };
    if (path === '/agents') {
      const agent = { id: fake.agents.length + 7, name: String(body.name), credit: [] };
      fake.agents.push(agent);
      return detail(agent);
    }
    const topic = /^\/feeds\/(.+)$/.exec(path)?.[1];
    if (topic !== undefined) return feed(topic, body.records as unknown[]);
    const agent = fake.agents.find(({ id }) => path.startsWith(`/agents/${id}`));
    if (agent === undefined) throw new Error(`nothing at ${path}`);
    if (!path.endsWith('/grants')) return detail(agent);
    const { usd, days } = z.object({ usd: z.string(), days: z.int() }).parse(body);
    fake.grants.push({ agentId: agent.id, usd, days });
    agent.credit.push({ at: isoTime(clock.now() - (clock.now() % DAY_MS) + (days + 1) * DAY_MS), usd });
    return { grant_id: 'x', repeated: false, agent: detail(agent) };
  }

  function feed(topic: string, records: readonly unknown[]): unknown {
    fake.bodies.push(records.length);
    const outcomes: { outcome: string; reason?: string }[] = [];
    for (const each of records) {
      const record = schemas[topic as keyof typeof schemas].parse(each);
      const refused = fake.refuse({ topic, record });
      outcomes.push(refused ?? { outcome: 'done' });
      if (refused?.outcome === 'try_again') break;
      if (refused === null) fake.fed.push({ topic, record });
    }
    return { outcomes, wanted_snapshots: fake.wants() ? [NEWEST] : [] };
  }

  const client: GatewayClient = {
    get: async (schema, path) => {
      const raw = answer(path, {});
      return { raw, value: schema.parse(raw) };
    },
    post: async (schema, path, body = {}) => {
      const raw = answer(path, { ...body });
      return { raw, value: schema.parse(raw) };
    },
  };
  return { ...fake, fake, client };
}

async function simulate(
  options: Partial<Simulation> & { gateway?: ReturnType<typeof createFakeGateway>; nowMs?: number } = {},
) {
  const clock = createFakeClock(options.nowMs ?? NOW_MS);
  const { fake, client } = options.gateway ?? createFakeGateway(clock);
  const turns: MarketTurn[] = [];
  let ended = false;
  const running = simulateMarket({
    ...{ client, clock, seed: 1, tradesPerSecond: 2, changesPerSecond: 20, forSeconds: 10 },
    ...options,
    tell: (turn) => turns.push(turn),
  }).finally(() => {
    ended = true;
  });
  // Time goes on only while the market waits for it.
  const played = (async () => {
    while (!ended) {
      await new Promise((resolve) => setImmediate(resolve));
      if (clock.pendingTimers() > 0) clock.advance(250);
    }
  })();
  await running;
  await played;
  const of = (topic: string) => fake.fed.filter((each) => each.topic === topic).map(({ record }) => record);
  return { fake, turns, clock, of, trades: of(TRADES_TOPIC) as MarketTrade[] };
}

describe('faregate market simulate', () => {
  it('lists a market that ends with the credit of today, and gives it a history of trades at once', async () => {
    const { of, trades, turns, fake } = await simulate();
    expect(of(MARKETS_TOPIC)).toMatchObject([{ market: NEWEST, opensAt: NOW_MS - 20 * HOUR_MS }]);
    const old = trades.filter(({ at }) => at < NOW_MS);
    expect(old.length).toBeGreaterThan(1_000);
    const ofHistory = turns.slice(0, turns.length - 10);
    expect(ofHistory.reduce((sum, turn) => sum + turn.trades, 0)).toBe(old.length);
    expect(ofHistory.every(({ market, changes }) => market === NEWEST && changes === 0)).toBe(true);
    expect(trades.map(({ seq }) => seq)).toEqual(trades.map((_, index) => index + 1));
    expect(Math.max(...fake.bodies)).toBeLessThanOrEqual(FEED_RECORDS_AT_ONCE);
  });

  it('then goes at the pace that was asked for, tells of each second, and ends when it was told to', async () => {
    const { turns, trades, of, clock } = await simulate({
      tradesPerSecond: 20,
      changesPerSecond: 50,
      forSeconds: 30,
    });
    const live = turns.slice(-30);
    expect(clock.now()).toBe(NOW_MS + 30 * SECOND_MS);
    const sum = (name: 'trades' | 'changes') => live.reduce((all, turn) => all + turn[name], 0);
    expect(sum('trades') / 30).toBeCloseTo(20, -1);
    expect(sum('changes') / 30).toBeGreaterThan(50);
    const lately = trades.filter(({ at }) => at >= NOW_MS);
    expect(sum('trades')).toBe(lately.length);
    expect(live.every(({ behind_ms }) => behind_ms === 0)).toBe(true);
    expect(live.at(-1)?.price).toBe(priceOf(lately.at(-1)));
    // The book begins with the whole of it, and nothing of yesterday's is sent.
    const books = of(BOOK_TOPIC) as z.infer<typeof bookRecord>[];
    expect(books[0]).toMatchObject({ type: 'book_snapshot', at: NOW_MS, seq: 1 });
    expect(books.map(({ seq }) => seq)).toEqual([...books.map(({ seq }) => seq)].sort((a, b) => a - b));
  });

  it('ends with the turn in which it is told to, and tells of that turn', async () => {
    const ending = new AbortController();
    const gateway = createFakeGateway({ now: () => NOW_MS });
    gateway.fake.refuse = ({ topic, record }) => {
      if (topic === TRADES_TOPIC && 'at' in record && record.at > NOW_MS + 3 * SECOND_MS) ending.abort();
      return null;
    };
    const { turns, trades, clock } = await simulate({
      gateway,
      forSeconds: undefined,
      signal: ending.signal,
    });
    expect(clock.now()).toBeLessThan(NOW_MS + 10 * SECOND_MS);
    expect(turns.reduce((sum, turn) => sum + turn.trades, 0)).toBe(trades.length);
  });

  it('feeds the same to the byte for a seed', async () => {
    const [one, again, other] = [await simulate(), await simulate(), await simulate({ seed: 2 })];
    expect(again.fake.fed).toEqual(one.fake.fed);
    expect(other.fake.fed).not.toEqual(one.fake.fed);
  });

  it('makes two agents with credit that ends with the market, once, and gives them what is missing the next time', async () => {
    const gateway = createFakeGateway({ now: () => NOW_MS });
    const { fake, trades } = await simulate({ gateway });
    expect(fake.agents.map(({ id }) => id)).toEqual([7, 8]);
    expect(fake.grants).toEqual([7, 8].map((agentId) => ({ agentId, usd: '15000', days: 7 })));
    for (const { sellerAgentId, buyerAgentId } of trades)
      expect([sellerAgentId, buyerAgentId].sort()).toEqual([7, 8]);
    for (const agent of fake.agents) agent.credit = [{ at: '2026-12-01T00:00:00.000Z', usd: '14900.5' }];
    await simulate({ gateway });
    expect(fake.agents).toHaveLength(2);
    expect(fake.grants.slice(2)).toEqual([7, 8].map((agentId) => ({ agentId, usd: '99.5', days: 7 })));
  });

  it('goes on with a market that is there: its next trades, about its last price, without a second history', async () => {
    const gateway = createFakeGateway({ now: () => NOW_MS });
    gateway.fake.states.push({
      ...adminExamples.market,
      ...{
        id: NEWEST,
        opens_at: isoTime(NOW_MS - HOUR_MS),
        last_price: '0.9123',
        book_seq: 77,
        trade_seq: 40,
      },
    });
    const { of, trades } = await simulate({ gateway, forSeconds: 20 });
    expect(of(MARKETS_TOPIC)).toEqual([]);
    expect(trades[0]).toMatchObject({ seq: 41 });
    expect(
      trades.every(({ at, price }) => at >= NOW_MS && price > 900_000_000n && price < 925_000_000n),
    ).toBe(true);
    // Above every number of an earlier run.
    expect(of(BOOK_TOPIC)[0]).toMatchObject({ type: 'book_snapshot', seq: HOUR_MS + 1 });
  });

  it('says which records the gateway did not take, and goes on', async () => {
    const gateway = createFakeGateway({ now: () => NOW_MS });
    gateway.fake.refuse = ({ topic, record }) =>
      topic === TRADES_TOPIC && 'at' in record && record.at >= NOW_MS
        ? { outcome: 'rejected', reason: 'seller_lacks_credit' }
        : null;
    const { turns } = await simulate({ gateway });
    const last = turns.findLast(({ trades }) => trades > 0);
    expect(last).toMatchObject({ refused: last?.trades, reasons: ['seller_lacks_credit'] });
    const [, line] = turnLine(last as MarketTurn, (_, text) => text);
    expect(line).toBe(`${last?.trades} records were not taken: seller_lacks_credit`);
  });

  it('sends again what the gateway cannot take now, with all behind it, in its order', async () => {
    const gateway = createFakeGateway({ now: () => NOW_MS });
    let refusals = 0;
    gateway.fake.refuse = () => (++refusals % 500 === 0 ? { outcome: 'try_again' } : null);
    const { trades, turns } = await simulate({ gateway });
    expect(refusals).toBeGreaterThan(1_000);
    expect(trades.map(({ seq }) => seq)).toEqual(trades.map((_, index) => index + 1));
    expect(turns.every(({ refused }) => refused === 0)).toBe(true);
  });

  it('sends the whole book when the gateway has none, and no more often than it is told so', async () => {
    const gateway = createFakeGateway({ now: () => NOW_MS });
    const books = () => gateway.fake.fed.filter(({ topic }) => topic === BOOK_TOPIC);
    const isWhole = ({ record }: Fed) => 'type' in record && record.type === 'book_snapshot';
    let wantedAt = 0;
    gateway.fake.wants = () => {
      const fed = books();
      // None before it was listed; then, as after a restart, none once more, until the next one.
      if (fed.length < 40) return !fed.some(isWhole);
      if (wantedAt === 0) wantedAt = fed.length;
      return !fed.slice(wantedAt).some(isWhole);
    };
    await simulate({ gateway });
    const whole = books().flatMap((each, i) => (isWhole(each) ? [i] : []));
    expect(whole).toHaveLength(2);
    expect(whole[0]).toBe(0);
    expect((whole[1] ?? 0) - wantedAt).toBeLessThanOrEqual(2);
    // The number of the change before it, as the feed has it.
    const seqs = books().map(({ record }) => ('seq' in record ? record.seq : 0));
    expect(seqs[whole[1] ?? 0]).toBe(seqs[(whole[1] ?? 0) - 1]);
  });

  it('stops waiting for a gateway that never takes them, and says so', async () => {
    const gateway = createFakeGateway({ now: () => NOW_MS });
    gateway.fake.refuse = ({ topic }) => (topic === TRADES_TOPIC ? { outcome: 'try_again' } : null);
    const { turns } = await simulate({ gateway });
    expect(turns[0]?.reasons).toEqual(['the gateway cannot take them now']);
  });

  it.each(['credit-2026-11-23', 'credit-2026-11-24', 'credit-2026-12-02', 'credit', 'credit-2026-02-30'])(
    'refuses %s, in which nobody could trade credit of today',
    async (market) => {
      const error = await simulate({ market }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CliError);
      expect(error).toMatchObject({ exitCode: 2 });
    },
  );

  it('makes no agents and grants no credit where records come over Kafka, and says so', async () => {
    const gateway = createFakeGateway({ now: () => NOW_MS });
    gateway.fake.fedBy = 'kafka';
    const error = await simulate({ gateway }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CliError);
    expect(error).toMatchObject({ exitCode: 1, message: expect.stringContaining('over Kafka') });
    const { agents, grants, fed } = gateway.fake;
    expect([agents, grants, fed]).toEqual([[], [], []]);
  });

  it('ends with its market', async () => {
    const endMs = Date.parse('2026-11-25T00:00:00.000Z');
    const { clock, trades } = await simulate({
      ...{ market: 'credit-2026-11-25', nowMs: endMs - 25 * HOUR_MS, forSeconds: 200_000 },
      ...{ tradesPerSecond: 0.01, changesPerSecond: 0.1 },
    });
    expect(clock.now()).toBe(endMs);
    expect(trades.every(({ at }) => at < endMs)).toBe(true);
  });
});

describe('the line of a second', () => {
  const turn: MarketTurn = {
    ...{ at: '2026-11-23T20:00:01.000Z', market: NEWEST, price: '0.955', price_before: '0.9551', trades: 3 },
    ...{ volume: '182.5', changes: 21, refused: 0, reasons: [], behind_ms: 12 },
  };
  const plain = (changes: Partial<MarketTurn> = {}) => turnLine({ ...turn, ...changes }, (_, text) => text);

  it('tells time, price and its way, trades and changes', () => {
    expect(plain()).toEqual([`20:00:01  ${NEWEST}  ▼ 0.9550     3 trades of    $182.5     21 changes`]);
    expect(plain({ price: '0.9552' })[0]).toContain('▲ 0.9552');
    expect(plain({ price_before: null })[0]).toContain('· 0.9550');
  });

  it('says so when the gateway cannot keep up', () => {
    expect(plain({ behind_ms: 3_450 })[0]).toContain('3.5 s behind');
  });

  it('lets no reason write to the terminal', () => {
    expect(plain({ refused: 1, reasons: ['\u001b[2J'] })[1]).toBe('1 records were not taken: \ufffd[2J');
  });
});

const priceOf = (trade: MarketTrade | undefined): string | null =>
  trade === undefined ? null : String(Number(trade.price) / 1e9);
