import { join } from 'node:path';
import type { Pepper } from '#core/accounts/api-key.ts';
import { hasPepper, loadOrCreatePepper } from '#core/accounts/pepper-file.ts';
import { AUDIT_FILE } from '#core/audit-log/sqlite-audit-file.ts';
import { openSqliteAuditLog } from '#core/audit-log/sqlite-audit-log.ts';
import { finishRestore } from '#core/backup/finish-restore.ts';
import { openFileBillStore } from '#core/bills/file-bill-store.ts';
import { type EmbeddedLedger, openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import type { Log } from '#core/log.ts';
import { createMemoryLiveMarkets } from '#core/market/memory-live-markets.ts';
import { MARKETS_FILE, openSqliteMarketStore } from '#core/market/sqlite-market-store.ts';
import { createLocalAddressWeights } from '#core/rates/address-weights.ts';
import { createLocalRateLimiter } from '#core/rates/rate-limiter.ts';
import type { TrustedClock } from '#core/trusted-clock.ts';
import { observeJournal } from './observe-store.ts';
import type { Store } from './store.ts';

export interface EmbeddedStore extends Store {
  ledger: EmbeddedLedger;
}

/** One folder of this process: the journal with its history, and the pepper beside it. */
export async function openEmbeddedStore(options: {
  dataDir: string;
  clock: TrustedClock;
  log: Log;
  gateTimeoutMs?: number;
}): Promise<EmbeddedStore> {
  const { dataDir, clock } = options;
  finishRestore(dataDir);
  // A pepper is made after its folder's journal: each of the two proves that the other has been there.
  const ledger = await openEmbeddedLedger({ ...options, mustExist: hasPepper(dataDir) });
  clock.followLedger(() => ledger.stats().timeMs);
  const pepper = await pepperBeside(ledger, dataDir);
  const audit = openSqliteAuditLog(join(dataDir, AUDIT_FILE));
  const marketStore = openSqliteMarketStore(join(dataDir, MARKETS_FILE));
  return {
    ledger,
    history: ledger.history,
    videos: ledger.videos,
    audit,
    peppers: [pepper],
    bills: openFileBillStore(dataDir),
    markets: { store: marketStore, live: createMemoryLiveMarkets(clock) },
    countWeights: (weightPerMinute) => createLocalAddressWeights(clock, weightPerMinute),
    limitRate: (_name, rate) => createLocalRateLimiter(clock, rate),
    isReady: () => ledger.stats().state === 'open',
    times() {
      const aheadMs = Math.max(0, ledger.stats().timeMs - clock.now());
      return { aheadMs, leastAheadMs: aheadMs, apartMs: 0 };
    },
    lag: () => {
      const { lagEvents, lagMs } = ledger.stats();
      return { events: lagEvents, ms: lagMs };
    },
    share: null,
    observe: (registry) => observeJournal(registry, ledger),
    async close() {
      await marketStore.close();
      await audit.close();
      await ledger.close();
    },
  };
}

async function pepperBeside(ledger: EmbeddedLedger, dataDir: string): Promise<Pepper> {
  try {
    return loadOrCreatePepper(dataDir, { ledgerInUse: ledger.stats().lastSeq > 0 });
  } catch (error) {
    await ledger.close();
    throw error;
  }
}
