import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import type { Pepper } from '#core/accounts/api-key.ts';
import { hasPepper, loadOrCreatePepper } from '#core/accounts/pepper-file.ts';
import { createLookUpPrice } from '#core/calls/look-up-price.ts';
import { Capacity } from '#core/capacity/capacity.ts';
import { createCatalog, type LiveCatalog } from '#core/catalog/create-catalog.ts';
import { createFetchProviderJson } from '#core/catalog/fetch-provider-json.ts';
import type { Clock } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import { type EmbeddedLedger, openEmbeddedLedger } from '#core/ledger/embedded-ledger.ts';
import type { Log } from '#core/log.ts';
import { GcraBuckets } from '#core/rates/gcra.ts';
import { Settlement } from '../workers/settlement/settlement.ts';
import { type LiveConfig, watchConfig } from './config/watch-config.ts';
import type { Config } from './config.ts';
import { createCallMetrics } from './inference/call-metrics.ts';
import type { Gateway } from './inference/gateway.ts';
import { LedgerRetries } from './inference/ledger-retries.ts';
import { OpenCalls } from './inference/open-calls.ts';
import { UpstreamPools } from './inference/upstream-pools.ts';
import { observeProcess } from './process-metrics.ts';

/** Everything that is built once, and how it ends. */
export interface Deps {
  clock: Clock;
  log: Log;
  config: LiveConfig;
  registry: Registry;
  ledger: EmbeddedLedger;
  catalog: LiveCatalog;
  gateway: Gateway;
  settlement: Settlement;
  /** What keys are hashed with. */
  pepper: Pepper;
  /** After the last call has ended. */
  close(): Promise<void>;
}

export interface DepsOptions {
  config: Config;
  clock: Clock;
  log: Log;
  /** Where the simulator of this process listens; `null` where none runs. */
  bundledSimulatorUrl: string | null;
}

export async function buildDeps({
  config: started,
  clock,
  log,
  bundledSimulatorUrl,
}: DepsOptions): Promise<Deps> {
  const registry = new Registry();
  const metrics = createCallMetrics(registry);
  const { dataDir } = started.storage;
  // A pepper is made after its folder's journal: each of the two proves that the other has been there.
  const ledger = await openEmbeddedLedger({ dataDir, clock, log, mustExist: hasPepper(dataDir) });
  const pepper = await pepperBeside(ledger, dataDir);
  // What the providers billed for them nobody can tell; the holds would say far too much.
  for (const _ of ledger.crashed) metrics.loss('crash', 0n);

  const fetchJson = createFetchProviderJson(clock);
  const catalog = createCatalog({ settings: started, clock, fetchJson, bundledSimulatorUrl });
  const config = watchConfig({
    config: started,
    clock,
    onChange: (changed) => catalog.apply(changed),
    onReload: ({ ok, message }) =>
      ok
        ? log.info('configuration reloaded', { cause: message })
        : log.error('configuration not reloaded', { cause: message }),
  });

  const openCalls = new OpenCalls(clock, log);
  const settlement = new Settlement({
    ledger,
    clock,
    log,
    lookUp: createLookUpPrice(catalog, fetchJson),
    onLoss: (cause, nanoUsd) => metrics.loss(cause, nanoUsd),
    onPriced: (chargedNanoUsd) => metrics.priced(chargedNanoUsd),
    isOpen: (callId) => openCalls.has(callId),
  });
  const upstreams = new UpstreamPools();
  const limits = () => config.current().limits;
  const gateway: Gateway = {
    clock,
    ids: createIdSource(clock),
    log,
    metrics,
    ledger,
    ledgerRetries: new LedgerRetries({ ledger, clock, log }),
    catalog,
    capacity: new Capacity(() => config.current().capacity),
    refusedStarts: new GcraBuckets({
      ratePerMinute: () => limits().callsPerMinute,
      burst: () => limits().burst,
    }),
    openCalls,
    upstreams,
    limits,
    dailyShareNanoUsd: () => config.current().capacity.dailySharePerAgentNanoUsd,
    callIdHeader: started.server.callIdHeader,
    nonce: randomBytes(8).toString('hex'),
    watchPending: (agentId, callId) => void settlement.watch(agentId, callId),
  };
  observeProcess(registry, { ledger, gateway, settlement, config });

  return {
    clock,
    log,
    config,
    registry,
    ledger,
    catalog,
    gateway,
    settlement,
    pepper,
    async close() {
      config.close();
      catalog.close();
      settlement.close();
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
