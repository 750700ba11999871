import { z } from 'zod';
import { answerOrRefuse } from '../../contract/refusal.ts';
import { adminExamples } from '../examples.ts';
import { readMarkets } from '../read-markets.ts';
import { marketsOff, marketsUnavailable } from '../refusals.ts';
import { MarketStateList } from '../schemas/market-state.ts';
import { operatorProcedure, t } from '../trpc.ts';

export const marketsRouter = t.router({
  list: operatorProcedure({
    method: 'GET',
    path: '/markets',
    operationId: 'listMarkets',
    tag: 'Markets',
    summary: 'List markets',
    description:
      'All that were ever listed, closed ones too, with their prices and how far their book has come.',
    errors: ['not_found'],
    examples: { answer: { markets: [adminExamples.market], fed_by: 'requests' } },
  })
    .input(z.strictObject({}))
    .output(MarketStateList)
    .query(async ({ ctx }) => {
      const { log, feeds } = ctx.deps;
      if (feeds === 'off') return answerOrRefuse<never>(marketsOff());
      const markets = await readMarkets(ctx.deps).catch((error: unknown) => {
        log.warn('markets not read', { error });
        return null;
      });
      return answerOrRefuse(
        markets === null
          ? marketsUnavailable()
          : { markets, fed_by: feeds === 'kafka' ? 'kafka' : 'requests' },
      );
    }),
});
