import { z } from 'zod';
import { answerOrRefuse } from '../../contract/refusal.ts';
import { adminExamples } from '../examples.ts';
import { readMarkets } from '../read-markets.ts';
import { marketsUnavailable } from '../refusals.ts';
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
    errors: [],
    examples: { answer: { markets: [adminExamples.market] } },
  })
    .input(z.strictObject({}))
    .output(MarketStateList)
    .query(async ({ ctx }) => {
      const { log } = ctx.deps;
      const markets = await readMarkets(ctx.deps).catch((error: unknown) => {
        log.warn('markets not read', { error });
        return null;
      });
      return answerOrRefuse(markets === null ? marketsUnavailable() : { markets });
    }),
});
