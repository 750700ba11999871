import { randomBytes } from 'node:crypto';
import type { Registry } from 'prom-client';
import { BillWatch } from '#core/bills/bill-watch.ts';
import { observeBills } from '#core/bills/observe-bills.ts';
import { RecordedCosts } from '#core/bills/recorded-costs.ts';
import { createLookUpPrice } from '#core/calls/look-up-price.ts';
import { Capacity } from '#core/capacity/capacity.ts';
import { EventLoopLag } from '#core/capacity/event-loop-lag.ts';
import type { LoopDelay } from '#core/capacity/loop-delay.ts';
import { createCatalog, type LiveCatalog } from '#core/catalog/create-catalog.ts';
import { createFetchProviderJson } from '#core/catalog/fetch-provider-json.ts';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { sweepFiles } from '#core/files/sweep-files.ts';
import { createIdSource } from '#core/ids.ts';
import type { Log } from '#core/log.ts';
import { createProbe } from '#core/provider-health/probe-provider.ts';
import { GcraBuckets } from '#core/rates/gcra.ts';
import type { StartWaits } from '#core/start-waits.ts';
import type { TrustedClock } from '#core/trusted-clock.ts';
import { type EmbeddedMarket, startEmbeddedMarket } from '../workers/market/embedded-market.ts';
import { Settlement } from '../workers/settlement/settlement.ts';
import { createVideoMetrics } from '../workers/video/video-metrics.ts';
import { VideoWorker, type VideoWorkerOptions } from '../workers/video/video-worker.ts';
import { type LiveConfig, watchConfig } from './config/watch-config.ts';
import type { Config } from './config.ts';
import { waitForClockMs } from './describe-times.ts';
import { openEmbeddedStore } from './embedded-store.ts';
import { ConnectionLimit } from './http/connection-limit.ts';
import { type CallMetrics, createCallMetrics } from './inference/hold/call-metrics.ts';
import type { Gateway } from './inference/hold/gateway.ts';
import { LedgerRetries } from './inference/hold/ledger-retries.ts';
import { OpenCalls } from './inference/hold/open-calls.ts';
import { createFetchPicture, systemConnect } from './inference/linked-images/fetch-picture.ts';
import { systemResolve } from './inference/linked-images/public-link.ts';
import { createEndpointHealth } from './inference/routing/endpoint-health.ts';
import { UpstreamPools } from './inference/upstream/upstream-pools.ts';
import { type Files, openFiles } from './open-files.ts';
import { observeProcess } from './process-metrics.ts';
import type { Store } from './store.ts';

/** Everything that is built once, and how it ends. */
export interface Deps {
  clock: TrustedClock;
  log: Log;
  config: LiveConfig;
  registry: Registry;
  store: Store;
  catalog: LiveCatalog;
  gateway: Gateway;
  /** `null` in a cluster, where a worker does it. */
  settlement: Settlement | null;
  /** `null` in a cluster, too, and where no files are kept. */
  videoWorker: VideoWorker | null;
  /** `null` in a cluster, too, and where there are no markets. */
  market: EmbeddedMarket | null;
  bills: BillWatch;
  /** The limit of the public port. `null`: an address may have any number of connections. */
  connectionLimit: ConnectionLimit | null;
  /** `null`: this gateway keeps none. */
  files: Files | null;
  /** After the last call has ended. */
  close(): Promise<void>;
}

export interface DepsOptions {
  registry: Registry;
  waits: StartWaits;
  config: Config;
  clock: TrustedClock;
  log: Log;
  /** Where the simulator of this process listens; `null` where none runs. */
  bundledSimulatorUrl: string | null;
  loopDelay: LoopDelay;
  /** As callers see it; known once the port is. */
  publicUrl: () => string;
}

export async function buildDeps({
  registry,
  waits,
  config: started,
  clock,
  log,
  bundledSimulatorUrl,
  loopDelay,
  publicUrl,
}: DepsOptions): Promise<Deps> {
  const metrics = createCallMetrics(registry);
  const store = await openStore(started, { clock, log, metrics, waits });
  const { ledger } = store;

  const fetchJson = createFetchProviderJson(clock);
  const catalog = createCatalog({ settings: started, clock, log, fetchJson, bundledSimulatorUrl });
  const config = watchConfig({
    config: started,
    clock,
    onChange: (changed) => catalog.apply(changed),
    onReload: ({ ok, message }) =>
      ok
        ? log.info('configuration reloaded', { cause: message })
        : log.error('configuration not reloaded', { cause: message }),
  });

  const costs = new RecordedCosts({ store: store.bills, clock, log });
  const bills = new BillWatch({
    store: store.bills,
    costs,
    providers: () => catalog.providers(),
    fetchJson,
    clock,
    log,
  });
  observeBills(registry, bills);
  const files = openFiles(started, { clock, publicUrl });
  const health = createEndpointHealth({
    clock,
    log,
    probe: createProbe(clock),
    current: (providerId) => catalog.provider(providerId),
  });
  const videoWorker =
    started.storage.mode === 'cluster' || files === null
      ? null
      : makeVideoWorker({ ledger, catalog, files, health: health.providers, clock, log }, registry, {
          loss: (cause, nanoUsd) => metrics.loss(cause, nanoUsd),
          charged: (nanoUsd) => metrics.priced(nanoUsd),
          cost: (...noted) => costs.note(...noted),
        });
  const market =
    started.storage.mode === 'cluster' || started.market === 'off'
      ? null
      : startEmbeddedMarket({ ...store.markets, ledger, registry, clock, log });
  const openCalls = new OpenCalls(clock, log);
  const settlement =
    started.storage.mode === 'cluster'
      ? null
      : new Settlement({
          ledger,
          clock,
          log,
          lookUp: createLookUpPrice(catalog, fetchJson),
          onLoss: (cause, nanoUsd) => metrics.loss(cause, nanoUsd),
          onPriced: (chargedNanoUsd) => metrics.priced(chargedNanoUsd),
          onCost: (providerId, nanoUsd, factorPpm) => costs.note(providerId, nanoUsd, factorPpm),
          logTimeMs: () => clock.now(),
          knownSinceMs: new Map(),
          sweepMs: HOUR_MS,
          // A machine that has just started may still learn the time, and what has expired stays so.
          firstSweepMs: 5 * MINUTE_MS,
          isOpen: (callId) => openCalls.has(callId) || (videoWorker?.has(callId) ?? false),
        });
  const upstreams = new UpstreamPools();
  const nonce = randomBytes(8).toString('hex');
  const limitsOfCapacity = () => config.current().capacity;
  const loopLag = new EventLoopLag({
    delay: loopDelay,
    clock,
    limitMs: () => limitsOfCapacity().eventLoopLagMs,
  });
  const capacity = new Capacity(limitsOfCapacity, loopLag, () => videoWorker?.heldNanoUsd ?? 0n);
  const sharing = store.share?.(capacity, nonce);
  const limits = () => config.current().limits;
  const gateway: Gateway = {
    clock,
    ids: createIdSource(clock),
    log,
    metrics,
    ledger,
    ledgerRetries: new LedgerRetries({ ledger, clock, log }),
    catalog,
    costs,
    capacity,
    refusedStarts: new GcraBuckets({
      ratePerMinute: () => limits().callsPerMinute,
      burst: () => limits().burst,
    }),
    health,
    openCalls,
    upstreams,
    files,
    fetchPicture: createFetchPicture({ clock, resolve: systemResolve, connect: systemConnect() }),
    limits,
    waitForClockMs: () => waitForClockMs(store.times()),
    dailyShareNanoUsd: () => limitsOfCapacity().dailySharePerAgentNanoUsd,
    callIdHeader: started.server.callIdHeader,
    nonce,
    watchPending: (agentId, callId) => void settlement?.watch(agentId, callId),
    watchVideo: (agentId, videoId) => void videoWorker?.watch(agentId, videoId),
  };
  const sweep = files === null ? null : sweepFiles({ files, clock, log });
  const { connectionsPerAddress: perAddress, trustedProxies } = started.server;
  const connectionLimit =
    perAddress === 0 ? null : new ConnectionLimit({ perAddress, trustedProxies, clock, log });
  observeProcess(registry, { clock, store, gateway, settlement, config, catalog, loopLag, connectionLimit });

  return {
    clock,
    log,
    config,
    registry,
    store,
    catalog,
    gateway,
    settlement,
    videoWorker,
    market,
    bills,
    connectionLimit,
    files,
    async close() {
      loopDelay.stop();
      health.close();
      config.close();
      catalog.close();
      settlement?.close();
      bills.stop();
      await costs.stop();
      await sharing?.stop();
      await sweep?.stop();
      await market?.stop();
      await store.close();
    },
  };
}

/** The folder is ours alone: who has claimed a video and is not this process has died. */
function makeVideoWorker(
  parts: Pick<VideoWorkerOptions, 'ledger' | 'catalog' | 'files' | 'health' | 'clock' | 'log'>,
  registry: Registry,
  told: Parameters<typeof createVideoMetrics>[1],
): VideoWorker {
  const metrics = createVideoMetrics(registry, told);
  const worker = new VideoWorker({
    ...parts,
    claimGraceMs: 0,
    isOurs: () => true,
    onEnded: metrics.onEnded,
  });
  metrics.observe(worker);
  return worker;
}

async function openStore(
  { storage }: Config,
  { metrics, waits, ...options }: { clock: TrustedClock; log: Log; metrics: CallMetrics; waits: StartWaits },
): Promise<Store> {
  if (storage.mode === 'cluster') {
    // Its drivers would cost a gateway by itself 20 MB and a part of its start.
    const { openClusterStore } = await import('./cluster-store.ts');
    return openClusterStore({ ...options, storage, waits });
  }
  const store = await openEmbeddedStore({ ...options, dataDir: storage.dataDir });
  // What the providers billed for them nobody can tell; the holds would say far too much.
  for (const _ of store.ledger.crashed) metrics.loss('crash', 0n);
  return store;
}
