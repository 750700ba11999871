import { type Command, InvalidArgumentError } from 'commander';
import { systemClock } from '#core/clock.ts';
import { addExamples, type OpenContext, parseId } from './cli-context.ts';
import { turnLine } from './market/market-turn.ts';
import { simulateMarket } from './market/simulate-market.ts';
import { addMarketRebuild } from './market-rebuild.ts';

interface SimulateOptions {
  seed: number;
  market?: string;
  tradesPerSecond: number;
  changesPerSecond: number;
  for?: number;
  agents?: readonly number[];
}

export function addMarket(program: Command, open: OpenContext): void {
  const market = program.command('market').description('a market of credit');
  const simulate = market
    .command('simulate')
    .description(
      'let a market trade by itself until Ctrl-C, for demos and load; a new one begins with up to a day of trades',
    )
    .option('--seed <number>', 'the same market for the same number', parseWhole, 1)
    .option(
      '--market <id>',
      'a name and the date on which its credit ends; without it, eight days from today',
    )
    .option('--trades-per-second <number>', 'on the average', parseRate, 1)
    .option('--changes-per-second <number>', 'of prices in the book, on the average', parseRate, 20)
    .option('--for <seconds>', 'end by itself after so long', parseRate)
    .option(
      '--agents <ids>',
      'who trade, two or more; they need credit that ends with the market. Without it, two that it makes',
      parseAgents,
    )
    .action(async ({ for: forSeconds, ...options }: SimulateOptions) => {
      const { client, show, paint } = open();
      await simulateMarket({
        ...options,
        forSeconds,
        client,
        clock: systemClock,
        tell: (turn) => show(turn, () => turnLine(turn, paint)),
      });
    });
  addExamples(simulate, {
    'market simulate': 'then look at the market page of the console',
    'market simulate --seed 7 --trades-per-second 20 --for 60': 'a busy minute',
    'market simulate --market credit-2026-12-01 --agents 2,3': 'between agents of yours',
  });
  addMarketRebuild(market, open);
}

const RATE_MAX = 100_000;

function parseRate(text: string): number {
  const rate = /^\d{1,6}(\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (rate > 0 && rate <= RATE_MAX) return rate;
  throw new InvalidArgumentError(`It has to be a number above 0 and up to ${RATE_MAX}.`);
}

function parseWhole(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It has to be a whole number of at most nine digits.');
}

function parseAgents(text: string): readonly number[] {
  const ids = new Set(text.split(',').map((each) => Number(parseId(each.trim()))));
  if (ids.size >= 2) return [...ids];
  throw new InvalidArgumentError('It has to be two ids or more, such as 2,3.');
}
