import { randomBytes } from 'node:crypto';
import type { Registry } from 'prom-client';
import { BillWatch } from '#core/bills/bill-watch.ts';
import { observeBills } from '#core/bills/observe-bills.ts';
import { RecordedCosts } from '#core/bills/recorded-costs.ts';
import { Capacity } from '#core/capacity/capacity.ts';
import { EventLoopLag } from '#core/capacity/event-loop-lag.ts';
import type { LoopDelay } from '#core/capacity/loop-delay.ts';
import { createCatalog, type LiveCatalog } from '#core/catalog/create-catalog.ts';
import { createFetchProviderJson } from '#core/catalog/fetch-provider-json.ts';
import { sweepFiles } from '#core/files/sweep-files.ts';
import { createIdSource } from '#core/ids.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { GATE_TIMEOUT_MS } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import { createProbe } from '#core/provider-health/probe-provider.ts';
import { GcraBuckets } from '#core/rates/gcra.ts';
import type { StartWaits } from '#core/start-waits.ts';
import type { TrustedClock } from '#core/trusted-clock.ts';
import type { Config } from './config/config.ts';
import { type LiveConfig, watchConfig } from './config/watch-config.ts';
import { ConnectionLimit } from './http/connection-limit.ts';
import { type CallMetrics, createCallMetrics } from './inference/hold/call-metrics.ts';
import type { Gateway } from './inference/hold/gateway.ts';
import { LedgerRetries } from './inference/hold/ledger-retries.ts';
import { OpenCalls } from './inference/hold/open-calls.ts';
import { createFetchImage, systemConnect } from './inference/linked-images/fetch-image.ts';
import { systemResolve } from './inference/linked-images/public-link.ts';
import { createEndpointHealth } from './inference/routing/endpoint-health.ts';
import { UpstreamPools } from './inference/upstream/upstream-pools.ts';
import { placeInlineImage } from './media/keep-inline-image.ts';
import { observeProcess } from './metrics/process.ts';
import { waitForClockMs } from './start/describe-times.ts';
import { createLocalWorkers, type LocalWorkers } from './start/local-workers.ts';
import { openEmbeddedStore } from './stores/embedded-store.ts';
import { type Files, openFiles } from './stores/open-files.ts';
import type { Store } from './stores/store.ts';

/** Everything that is built once, and how it ends. */
export interface Deps {
  clock: TrustedClock;
  log: Log;
  config: LiveConfig;
  registry: Registry;
  store: Store;
  catalog: LiveCatalog;
  gateway: Gateway;
  workers: LocalWorkers;
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

export async function buildDeps(options: DepsOptions): Promise<Deps> {
  const { registry, config: started, clock, log, bundledSimulatorUrl, loopDelay, publicUrl } = options;
  const metrics = createCallMetrics(registry);
  const store = await openStore(options, metrics);

  const fetchJson = createFetchProviderJson(clock);
  const catalog = createCatalog({ settings: started, clock, log, fetchJson, bundledSimulatorUrl });
  const config = followConfig(options, catalog);
  const costs = new RecordedCosts({ store: store.bills, clock, log });
  const providers = () => catalog.providers();
  const bills = new BillWatch({ store: store.bills, costs, providers, fetchJson, clock, log });
  observeBills(registry, bills);
  const files = openFiles(started, { clock, publicUrl });
  const current = (providerId: string) => catalog.provider(providerId);
  const health = createEndpointHealth({ clock, log, probe: createProbe(clock), current });
  const openCalls = new OpenCalls(clock, log);
  const workers = createLocalWorkers({
    ...{ config: started, registry, store, catalog, fetchJson, files, health, openCalls, metrics, costs },
    clock,
    log,
  });
  const capacityLimits = () => config.current().capacity;
  const loopLag = new EventLoopLag({
    delay: loopDelay,
    clock,
    limitMs: () => capacityLimits().eventLoopLagMs,
  });
  const capacity = new Capacity(capacityLimits, loopLag, () => workers.heldNanoUsd());
  const nonce = randomBytes(8).toString('hex');
  const sharing = store.share?.(capacity, nonce);
  const gateway = createGateway(
    {
      ...{ clock, log, metrics, catalog, costs, capacity, health, openCalls, files, nonce },
      placeImage: placeImages({ files, clock, ledger: store.ledger }, config),
    },
    { store, config, workers },
  );
  const sweep = files === null ? null : sweepFiles({ files, clock, log });
  const { connectionsPerAddress: perAddress, trustedProxies } = started.server;
  const connectionLimit =
    perAddress === 0 ? null : new ConnectionLimit({ perAddress, trustedProxies, clock, log });
  observeProcess(registry, { clock, store, gateway, config, catalog, loopLag, connectionLimit });

  return {
    ...{ clock, log, config, registry, store, catalog, gateway, workers, bills, connectionLimit, files },
    async close() {
      loopDelay.stop();
      health.close();
      config.close();
      catalog.close();
      workers.stopSettlement();
      bills.stop();
      await costs.stop();
      await sharing?.stop();
      await sweep?.stop();
      // Late, because it waits for records that were fed: if it hangs, the costs are stored already.
      await workers.stopMarket();
      await store.close();
    },
  };
}

/** Applies each change of the configuration file to the catalogue, and logs it. */
const followConfig = ({ config, clock, log }: DepsOptions, catalog: LiveCatalog): LiveConfig =>
  watchConfig({
    config,
    clock,
    onChange: (changed) => catalog.apply(changed),
    onReload: ({ ok, message }) =>
      ok
        ? log.info('configuration reloaded', { cause: message })
        : log.error('configuration not reloaded', { cause: message }),
  });

type SharedParts = Pick<
  Gateway,
  | 'clock'
  | 'log'
  | 'metrics'
  | 'catalog'
  | 'costs'
  | 'capacity'
  | 'health'
  | 'openCalls'
  | 'files'
  | 'placeImage'
  | 'nonce'
>;

/** Images in requests are kept there, if the operator wants them kept. */
function placeImages(
  { files, ...parts }: { files: Files | null; clock: TrustedClock; ledger: Ledger },
  config: LiveConfig,
): Gateway['placeImage'] {
  const limits = () => config.current().limits;
  return (agentId) =>
    files === null || config.current().media.inline === 'refuse'
      ? null
      : (image) => placeInlineImage({ ...parts, files, limits }, agentId, image);
}

function createGateway(
  parts: SharedParts,
  { store, config, workers }: Pick<Deps, 'store' | 'config' | 'workers'>,
): Gateway {
  const { clock, log } = parts;
  const { ledger } = store;
  const limits = () => config.current().limits;
  return {
    ...parts,
    ids: createIdSource(clock),
    ledger,
    ledgerRetries: new LedgerRetries({ ledger, clock, log }),
    refusedStarts: new GcraBuckets({
      ratePerMinute: () => limits().callsPerMinute,
      burst: () => limits().burst,
    }),
    upstreams: new UpstreamPools(),
    fetchImage: createFetchImage({ clock, resolve: systemResolve, connect: systemConnect() }),
    limits,
    gateTimeoutMs: config.current().storage.gateTimeoutMs ?? GATE_TIMEOUT_MS,
    waitForClockMs: () => waitForClockMs(store.times()),
    dailyShareNanoUsd: () => config.current().capacity.dailySharePerAgentNanoUsd,
    callIdHeader: config.current().server.callIdHeader,
    watchPending: (agentId, callId) => workers.watchPending(agentId, callId),
    watchVideo: (agentId, videoId) => workers.watchVideo(agentId, videoId),
  };
}

async function openStore(
  { config: { storage }, waits, clock, log }: DepsOptions,
  metrics: CallMetrics,
): Promise<Store> {
  if (storage.mode === 'cluster') {
    // Its drivers would cost a gateway by itself 20 MB and a part of its start.
    const { openClusterStore } = await import('./stores/cluster-store.ts');
    return openClusterStore({ storage, waits, clock, log });
  }
  const store = await openEmbeddedStore({ ...storage, clock, log });
  // What the providers billed for them nobody can tell; the holds would say far too much.
  for (const _ of store.ledger.crashed) metrics.loss('crash', 0n);
  return store;
}
