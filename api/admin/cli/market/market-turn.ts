import { isoTime } from '#core/clock.ts';
import { parseNanoUsd } from '#core/money.ts';
import { dollars } from '../cli-context.ts';
import { type Paint, printable } from '../terminal.ts';

/** What a simulated market did in a second, or at its beginning. */
export interface MarketTurn {
  at: string;
  market: string;
  /** `null`: nothing was traded yet. */
  price: string | null;
  /** The one of the turn before. */
  price_before: string | null;
  trades: number;
  volume: string;
  changes: number;
  /** Records that the gateway did not take, and why, each reason once. */
  refused: number;
  reasons: readonly string[];
  /** How far what was sent last is behind the time. */
  behind_ms: number;
}

/** From then on the gateway is too slow for what was asked of it. */
const BEHIND_MS = 2_000;

export function turnLine(turn: MarketTurn, paint: Paint): string[] {
  const { at, market, price, price_before, trades, volume, changes, refused, reasons, behind_ms } = turn;
  const moved = price === null || price_before === null ? 0n : nano(price) - nano(price_before);
  const style = moved > 0n ? 'green' : moved < 0n ? 'red' : 'dim';
  const words = [
    paint('dim', isoTime(Date.parse(at)).slice(11, 19)),
    market,
    paint(style, `${moved > 0n ? '▲' : moved < 0n ? '▼' : '·'} ${(price ?? '-').padEnd(6, '0')}`),
    `${String(trades).padStart(4)} trades of ${dollars(volume).padStart(9)}`,
    `${String(changes).padStart(5)} changes`,
    ...(behind_ms > BEHIND_MS ? [paint('yellow', `${(behind_ms / 1_000).toFixed(1)} s behind`)] : []),
  ];
  const refusal = `${refused} records were not taken: ${reasons.map(printable).join('; ')}`;
  return [words.join('  '), ...(refused === 0 ? [] : [paint('red', refusal)])];
}

const nano = (price: string): bigint => parseNanoUsd(price) ?? 0n;
