import type { Command } from 'commander';
import { MARKETS_TOPIC } from '#core/events/market-listing.ts';
import { type MarketState, MarketStateList } from '../schemas/market-state.ts';
import { addExamples, dollars, type OpenContext, shortTime } from './cli-context.ts';
import { type Column, formatTable } from './terminal.ts';

export function addMarkets(program: Command, open: OpenContext): void {
  const list = program
    .command('markets')
    .description('in which credit is traded')
    .command('list')
    .description(
      'all markets, closed ones too, with their prices, how far their book has come, and since when nothing has changed in it',
    )
    .action(async () => {
      const { client, showAnswer } = open();
      showAnswer(await client.get(MarketStateList, '/markets'), ({ markets, fed_by }, paint) =>
        markets.length === 0
          ? [`No market was ever listed. ${hints[fed_by]}`]
          : formatTable(markets, columns, paint),
      );
    });
  addExamples(list, {
    'markets list': 'the one that ends last first',
    'markets list --json': 'for programs',
  });
}

const hints: Record<MarketStateList['fed_by'], string> = {
  requests: '"faregate market simulate" makes one that trades by itself.',
  kafka: `An exchange lists one by a record on the topic ${MARKETS_TOPIC}.`,
};

const columns: Column<MarketState>[] = [
  { title: 'MARKET', text: ({ id }) => id },
  {
    title: 'STATUS',
    text: (market) => statusOf(market)[0],
    style: (market) => statusOf(market)[1],
  },
  { title: 'OPENS (UTC)', text: ({ opens_at }) => shortTime(opens_at) },
  { title: 'ENDS (UTC)', text: ({ ends_at }) => shortTime(ends_at) },
  { title: 'LAST', text: ({ last_price }) => last_price ?? '-', right: true },
  { title: 'BID', text: ({ best_bid }) => best_bid ?? '-', right: true },
  { title: 'ASK', text: ({ best_ask }) => best_ask ?? '-', right: true },
  { title: 'FRESH', text: ({ fresh_price }) => fresh_price ?? '-', right: true },
  { title: '24 H', text: ({ volume_24h }) => dollars(volume_24h), right: true },
  { title: 'TRADES', text: ({ trade_seq }) => String(trade_seq), right: true },
  { title: 'BOOK', text: ({ book_seq }) => String(book_seq ?? '-'), right: true },
  {
    title: 'AGE',
    text: ({ book_age_seconds: age }) => (age === null ? '-' : `${age} s`),
    right: true,
  },
];

function statusOf({ open, newest, book_seq }: MarketState): [string, 'green' | 'yellow' | 'dim'] {
  if (!open) return ['closed', 'dim'];
  if (book_seq === null) return ['no book', 'yellow'];
  return [newest ? 'newest' : 'open', 'green'];
}
