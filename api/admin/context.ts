import type { Pepper } from '#core/accounts/api-key.ts';
import type { AuditLog } from '#core/audit-log/audit-log.ts';
import type { BillWatch } from '#core/bills/bill-watch.ts';
import type { CallHistory } from '#core/calls/call-history.ts';
import type { LiveCatalog } from '#core/catalog/create-catalog.ts';
import type { IdSource } from '#core/ids.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import type { Log } from '#core/log.ts';
import type { DirectFeeds } from '#core/market/direct-feeds.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import type { TrustedClock } from '#core/trusted-clock.ts';
import type { LiveConfig } from '../config/watch-config.ts';
import type { CallContext } from '../contract/route.ts';

/** What the operator's routes work with. Built once, in `build-admin.ts`. */
export interface AdminDeps {
  ledger: Ledger;
  history: CallHistory;
  catalog: LiveCatalog;
  markets: { store: MarketStore; live: LiveMarkets };
  /** Where records of markets come from, if not from whoever sends them here. */
  feeds: DirectFeeds | 'kafka' | 'off';
  bills: Pick<BillWatch, 'readNow'>;
  config: Pick<LiveConfig, 'current' | 'reload' | 'lastReload'>;
  /** The one that new keys are hashed with. */
  pepper: Pepper;
  ids: IdSource;
  clock: TrustedClock;
  log: Log;
  audit: AuditLog;
}

/** Who sent the admin token. */
export interface Operator {
  /** As the command names its user: the token is all that is proven. */
  name: string;
  /** Of the connection: behind a proxy, the proxy's. */
  address: string;
}

export type AdminContext = CallContext<AdminDeps, Operator>;

/** What the operator says of an agent's status is said by this source. */
export const OPERATOR_SOURCE = 'operator';
