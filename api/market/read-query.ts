import {
  BOOK_DEPTH_DEFAULT,
  BOOK_DEPTH_MAX,
  CANDLES_DEFAULT,
  CANDLES_MAX,
  MARKET_WEIGHTS,
  SHALLOW_BOOK_DEPTH,
} from '#core/limits.ts';
import { type CandleInterval, candleIntervals } from '#core/market/candle.ts';
import { type MarketError, marketError } from '../contract/market-errors.ts';

/** What one read asks for. `refused`: by a value, which is found out after its weight is counted. */
export interface MarketQuery<Asked> {
  weight: number;
  asked: Asked | MarketError;
}

export interface AskedBook {
  depth: number;
}

export interface AskedCandles {
  interval: CandleInterval;
  limit: number;
}

/** A parameter that the endpoint does not take, or one sent twice, is refused before anything is counted. */
export function readListQuery(query: string): MarketQuery<object> | MarketError {
  const values = readParameters(query, []);
  return 'refused' in values ? values : { weight: MARKET_WEIGHTS.list, asked: {} };
}

export function readBookQuery(query: string): MarketQuery<AskedBook> | MarketError {
  const values = readParameters(query, ['depth']);
  if ('refused' in values) return values;
  const depth = wholeNumber(values.depth, BOOK_DEPTH_DEFAULT, BOOK_DEPTH_MAX);
  if (depth === null) return { weight: MARKET_WEIGHTS.book, asked: marketError('invalid_depth') };
  return {
    weight: depth > SHALLOW_BOOK_DEPTH ? MARKET_WEIGHTS.deepBook : MARKET_WEIGHTS.book,
    asked: { depth },
  };
}

export function readCandlesQuery(query: string): MarketQuery<AskedCandles> | MarketError {
  const values = readParameters(query, ['interval', 'limit']);
  if ('refused' in values) return values;
  const { interval = '1h' } = values;
  const limit = wholeNumber(values.limit, CANDLES_DEFAULT, CANDLES_MAX);
  return { weight: MARKET_WEIGHTS.candles, asked: askedCandles(interval, limit) };
}

function askedCandles(interval: string, limit: number | null): AskedCandles | MarketError {
  if (!isInterval(interval)) return marketError('invalid_interval');
  return limit === null ? marketError('invalid_limit') : { interval, limit };
}

const isInterval = (text: string): text is CandleInterval => Object.hasOwn(candleIntervals, text);

/** Plain digits alone: what `Number` reads as one besides, such as `1e1`, `0x5` or ` 5`, is somebody's mistake. */
function wholeNumber(text: string | undefined, missing: number, max: number): number | null {
  if (text === undefined) return missing;
  const value = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0;
  return value >= 1 && value <= max ? value : null;
}

type Parameters<Name extends string> = Partial<Record<Name, string>>;

function readParameters<Name extends string>(
  query: string,
  names: readonly Name[],
): Parameters<Name> | MarketError {
  const values: Parameters<Name> = {};
  if (query === '') return values;
  for (const [sent, value] of new URLSearchParams(query)) {
    const name = names.find((each) => each === sent);
    if (name === undefined || values[name] !== undefined) return unknownParameter(names);
    values[name] = value;
  }
  return values;
}

function unknownParameter(names: readonly string[]): MarketError {
  const taken = names.map((name) => `\`${name}\``).join(' and ');
  const message =
    names.length === 0
      ? 'This endpoint takes no query parameters.'
      : `This endpoint takes ${taken} alone, each once.`;
  return marketError('unknown_parameter', { message });
}
