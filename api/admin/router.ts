import { agentsRouter } from './routes/agents.ts';
import { auditRouter } from './routes/audit.ts';
import { callsRouter } from './routes/calls.ts';
import { catalogRouter } from './routes/catalog.ts';
import { clockRouter } from './routes/clock.ts';
import { creditRouter } from './routes/credit.ts';
import { feedsRouter } from './routes/feeds.ts';
import { keysRouter } from './routes/keys.ts';
import { ledgerRouter } from './routes/ledger.ts';
import { marketsRouter } from './routes/markets.ts';
import { t } from './trpc.ts';

/** Everything below `/admin` on the internal port. */
export const adminRouter = t.router({
  agents: agentsRouter,
  credit: creditRouter,
  keys: keysRouter,
  catalog: catalogRouter,
  clock: clockRouter,
  ledger: ledgerRouter,
  markets: marketsRouter,
  feeds: feedsRouter,
  calls: callsRouter,
  audit: auditRouter,
});
