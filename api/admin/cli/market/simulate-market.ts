import { type Clock, DAY_MS, isoTime, SECOND_MS, startOfDayMs, wait } from '#core/clock.ts';
import { BOOK_TOPIC } from '#core/events/book-record.ts';
import { parseMarketId } from '#core/events/market-id.ts';
import { ADMIN_ROWS_MAX, FEED_RECORDS_AT_ONCE, LOT_DAYS_MAX } from '#core/limits.ts';
import { formatUsd, parseNanoUsd } from '#core/money.ts';
import { createMarketScript, type ScriptLine } from '../../../simulator/market/create-market-script.ts';
import { type MarketPoint, TRADE_NANO_USD_MAX } from '../../../simulator/market/simulated-market.ts';
import { AgentDetail, AgentList, CreditGrant } from '../../schemas/agent-record.ts';
import { type MarketState, MarketStateList } from '../../schemas/market-state.ts';
import { CliError, exitCodes, usageError } from '../cli-error.ts';
import type { GatewayClient } from '../gateway-client.ts';
import { createFeeder } from './create-feeder.ts';
import type { MarketTurn } from './market-turn.ts';

export interface Simulation {
  client: GatewayClient;
  clock: Clock;
  seed: number;
  market?: string | undefined;
  tradesPerSecond: number;
  changesPerSecond: number;
  /** `undefined`: until somebody ends the process. */
  forSeconds?: number | undefined;
  /** Ends the market with the turn in which it aborts. */
  signal?: AbortSignal | undefined;
  agents?: readonly number[] | undefined;
  /** Hears of each second. */
  tell(turn: MarketTurn): void;
}

/** As often as a changed book goes to its readers. */
const PAUSE_MS = SECOND_MS / 4;
/** What lies behind a market that begins, so that its charts are not empty. A market's credit is eight days old at most. */
const HISTORY_MS = DAY_MS;
const LIFE_MS = LOT_DAYS_MAX * DAY_MS;
const HISTORY_TRADES_PER_SECOND = 0.03;
const HISTORY_CHANGES_PER_SECOND = 1;

const OVER_KAFKA =
  'This gateway is one of a cluster, whose records of markets come over Kafka: a market is simulated in a gateway by itself.';

export async function simulateMarket(simulation: Simulation): Promise<void> {
  const { client, clock, seed, tradesPerSecond, changesPerSecond, forSeconds, signal, tell } = simulation;
  const startMs = clock.now();
  const market = simulation.market ?? `credit-${isoTime(startOfDayMs(startMs) + LIFE_MS).slice(0, 10)}`;
  const endsAtMs = endOf(market, startMs);
  const { markets, fed_by } = (await client.get(MarketStateList, '/markets')).value;
  // Before any agent is made and given credit for nothing.
  if (fed_by === 'kafka') throw new CliError(exitCodes.refused, OVER_KAFKA);
  const known = markets.find(({ id }) => id === market);
  const agents = simulation.agents ?? (await findDemoTraders(client, startMs, endsAtMs));
  const options = { seed, markets: [market], agents };
  const feeder = createFeeder(simulation, market, pointOf(known, startMs));
  if (known === undefined) {
    const history = createMarketScript({
      ...options,
      startAtMs: Math.max(startMs - HISTORY_MS, endsAtMs - LIFE_MS),
      changesPerSecond: HISTORY_CHANGES_PER_SECOND,
      tradesPerSecond: HISTORY_TRADES_PER_SECOND,
    });
    // A book of yesterday is of no use to anybody.
    const past = createTake(history)(startMs).filter(({ topic }) => topic !== BOOK_TOPIC);
    for (let from = 0; from < past.length; from += FEED_RECORDS_AT_ONCE) {
      await feeder.feed(past.slice(from, from + FEED_RECORDS_AT_ONCE));
      tell(feeder.endTurn(clock.now(), 0));
    }
  }

  const liveMs = clock.now();
  const script = createMarketScript({
    ...{ ...options, tradesPerSecond, changesPerSecond },
    startAtMs: liveMs,
    after: { [market]: feeder.point() },
    wanted: feeder.wanted,
  });
  const take = createTake(script);
  const endMs = Math.min(endsAtMs, forSeconds === undefined ? Infinity : liveMs + forSeconds * SECOND_MS);
  let toldMs = liveMs;
  for (;;) {
    const untilMs = Math.min(endMs, clock.now());
    await feeder.feed(take(untilMs));
    const isLast = untilMs === endMs || signal?.aborted === true;
    if (isLast || clock.now() - toldMs >= SECOND_MS) {
      toldMs = clock.now();
      tell(feeder.endTurn(toldMs, toldMs - untilMs));
    }
    if (isLast) return;
    await wait(clock, Math.min(PAUSE_MS, endMs - untilMs));
  }
}

/** Credit cannot end sooner than what is granted today, nor later. */
function endOf(market: string, nowMs: number): number {
  const endsAtMs = parseMarketId(market)?.endsAtMs;
  if (endsAtMs === undefined) {
    throw usageError('--market takes a name and a date, such as credit-2026-12-01.');
  }
  const days = (endsAtMs - startOfDayMs(nowMs)) / DAY_MS;
  if (days >= 2 && days <= LOT_DAYS_MAX) return endsAtMs;
  throw usageError(
    `A market that begins today ends 2 to ${LOT_DAYS_MAX} days from now, not on the date of ${market}.`,
  );
}

/**
 * Above every number that an earlier run may have used. A book's numbers may leap where a snapshot follows, so they
 * count the milliseconds since the market opened.
 */
function pointOf(known: MarketState | undefined, nowMs: number): MarketPoint {
  if (known === undefined) return { bookSeq: 1, tradeSeq: 0, price: null };
  const openMs = Math.max(0, nowMs - Date.parse(known.opens_at));
  return {
    bookSeq: Math.max(openMs, known.book_seq ?? 0) + 1,
    tradeSeq: known.trade_seq,
    price: known.last_price,
  };
}

/** Takes what is due; the first line that is not waits for the next time. */
function createTake(script: Generator<ScriptLine, never>): (untilMs: number) => ScriptLine[] {
  let next = script.next().value;
  return (untilMs) => {
    const due: ScriptLine[] = [];
    for (; next.atMs <= untilMs; next = script.next().value) due.push(next);
    return due;
  };
}

const NAMES = ['Market demo 1', 'Market demo 2'];
/** The credit of each demo agent. It sells at most what it has bought and one trade more, and many trades may be under way. */
const CREDIT_NANO_USD = 100n * TRADE_NANO_USD_MAX;

/** Two agents that have credit which ends at this time: those of an earlier run, else new ones. */
async function findDemoTraders(client: GatewayClient, nowMs: number, endsAtMs: number): Promise<number[]> {
  const known = await findByName(client);
  const ids: number[] = [];
  for (const name of NAMES) {
    const id = known.get(name);
    const agent = await (id === undefined
      ? client.post(AgentDetail, '/agents', { name, status: 'active' })
      : client.get(AgentDetail, `/agents/${id}`));
    const { expiring } = agent.value;
    const lot = expiring.find(({ at }) => at === isoTime(endsAtMs))?.usd ?? '0';
    const missing = CREDIT_NANO_USD - (parseNanoUsd(lot) ?? 0n);
    if (missing > 0n) {
      const days = (endsAtMs - startOfDayMs(nowMs)) / DAY_MS - 1;
      await client.post(CreditGrant, `/agents/${agent.value.id}/grants`, { usd: formatUsd(missing), days });
    }
    ids.push(agent.value.id);
  }
  return ids;
}

async function findByName(client: GatewayClient): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  let after: number | null = 0;
  while (after !== null && found.size < NAMES.length) {
    const query: Record<string, string> = { limit: String(ADMIN_ROWS_MAX), after: String(after) };
    const { value }: { value: AgentList } = await client.get(AgentList, '/agents', query);
    for (const { id, name, token } of value.agents) {
      if (token === null && NAMES.includes(name)) found.set(name, id);
    }
    after = value.next;
  }
  return found;
}
