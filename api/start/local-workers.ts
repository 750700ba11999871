import type { Registry } from 'prom-client';
import type { RecordedCosts } from '#core/bills/recorded-costs.ts';
import { createLookUpPrice } from '#core/calls/look-up-price.ts';
import type { LiveCatalog } from '#core/catalog/create-catalog.ts';
import type { FetchProviderJson } from '#core/catalog/import-source.ts';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { DirectFeeds } from '#core/market/direct-feeds.ts';
import type { NanoUsd } from '#core/money.ts';
import { readMetrics } from '#core/read-metrics.ts';
import type { TrustedClock } from '#core/trusted-clock.ts';
import { type EmbeddedMarket, startEmbeddedMarket } from '../../workers/market/embedded-market.ts';
import { Settlement } from '../../workers/settlement/settlement.ts';
import { createVideoMetrics } from '../../workers/video/video-metrics.ts';
import { VideoWorker } from '../../workers/video/video-worker.ts';
import type { Config } from '../config/config.ts';
import type { CallMetrics } from '../inference/hold/call-metrics.ts';
import type { OpenCalls } from '../inference/hold/open-calls.ts';
import type { EndpointHealth } from '../inference/routing/endpoint-health.ts';
import type { Files } from '../stores/open-files.ts';
import type { Store } from '../stores/store.ts';

/**
 * The workers of this process: settlement, videos and markets in an embedded gateway. In a cluster they are processes of
 * their own, and every method here does nothing.
 */
export interface LocalWorkers {
  /** Resolves once the calls and videos that were open before this start are watched. */
  start(): Promise<void>;
  /** Asks for the price of a call that has ended with its cost unknown. */
  watchPending(agentId: number, callId: number): void;
  /** Looks after a video that was ordered in this process. */
  watchVideo(agentId: number, videoId: string): void;
  /** What videos that are being made hold, in nano-dollars. */
  heldNanoUsd(): NanoUsd;
  /** Resolves when no video is being handed to its provider any more, at the latest after `sendingWaitMs`. */
  stopVideos(sendingWaitMs: number): Promise<void>;
  /** No price of a call is asked for after it. */
  stopSettlement(): void;
  /** Resolves after the last records that were fed to this process. */
  stopMarket(): Promise<void>;
  /** Where records of markets come in: a request to this process, Kafka, or nowhere. */
  feeds: DirectFeeds | 'kafka' | 'off';
}

export interface LocalWorkersParts {
  config: Pick<Config, 'storage' | 'market'>;
  registry: Registry;
  store: Pick<Store, 'ledger' | 'markets'>;
  catalog: LiveCatalog;
  fetchJson: FetchProviderJson;
  files: Files | null;
  health: EndpointHealth;
  openCalls: OpenCalls;
  metrics: CallMetrics;
  costs: RecordedCosts;
  clock: TrustedClock;
  log: Log;
}

export function createLocalWorkers(parts: LocalWorkersParts): LocalWorkers {
  const { config } = parts;
  return config.storage.mode === 'cluster'
    ? noLocalWorkers(config.market === 'off' ? 'off' : 'kafka')
    : new EmbeddedWorkers(parts);
}

const noLocalWorkers = (feeds: 'kafka' | 'off'): LocalWorkers => ({
  start: async () => {},
  watchPending() {},
  watchVideo() {},
  heldNanoUsd: () => 0n,
  stopVideos: async () => {},
  stopSettlement() {},
  stopMarket: async () => {},
  feeds,
});

class EmbeddedWorkers implements LocalWorkers {
  readonly feeds: DirectFeeds | 'off';
  readonly #settlement: Settlement;
  /** `null`: this gateway keeps no files, so it makes no videos. */
  readonly #videos: VideoWorker | null;
  readonly #market: EmbeddedMarket | null;

  constructor(parts: LocalWorkersParts) {
    const { config, registry, store, clock, log } = parts;
    this.#videos = createVideoWorker(parts);
    this.#market =
      config.market === 'off'
        ? null
        : startEmbeddedMarket({ ...store.markets, ledger: store.ledger, registry, clock, log });
    this.feeds = this.#market?.feeds ?? 'off';
    this.#settlement = createSettlement(parts, (callId) => this.#videos?.has(callId) ?? false);
    observePendingPrices(registry, () => this.#settlement.waiting);
  }

  async start(): Promise<void> {
    await this.#settlement.start();
    await this.#videos?.start();
  }

  watchPending(agentId: number, callId: number): void {
    void this.#settlement.watch(agentId, callId);
  }

  watchVideo(agentId: number, videoId: string): void {
    void this.#videos?.watch(agentId, videoId);
  }

  heldNanoUsd(): NanoUsd {
    return this.#videos?.heldNanoUsd ?? 0n;
  }

  async stopVideos(sendingWaitMs: number): Promise<void> {
    await this.#videos?.stop(sendingWaitMs);
  }

  stopSettlement(): void {
    this.#settlement.close();
  }

  async stopMarket(): Promise<void> {
    await this.#market?.stop();
  }
}

function createSettlement(
  { store, catalog, fetchJson, openCalls, metrics, costs, clock, log }: LocalWorkersParts,
  isVideo: (callId: number) => boolean,
): Settlement {
  return new Settlement({
    ledger: store.ledger,
    clock,
    log,
    lookUp: createLookUpPrice(catalog, fetchJson),
    onLoss: (cause, nanoUsd) => metrics.loss(cause, nanoUsd),
    onPriced: (chargedNanoUsd) => metrics.priced(chargedNanoUsd),
    onCost: (providerId, nanoUsd, factorPpm) => costs.note(providerId, nanoUsd, factorPpm),
    logTimeMs: () => clock.now(),
    knownSinceMs: new Map(),
    sweepMs: HOUR_MS,
    // A machine that has just started may still correct its clock, and expired credit never comes back.
    firstSweepMs: 5 * MINUTE_MS,
    isOpen: (callId) => openCalls.has(callId) || isVideo(callId),
  });
}

function createVideoWorker({
  registry,
  store,
  catalog,
  files,
  health,
  metrics,
  costs,
  clock,
  log,
}: LocalWorkersParts): VideoWorker | null {
  if (files === null) return null;
  const videoMetrics = createVideoMetrics(registry, {
    loss: (cause, nanoUsd) => metrics.loss(cause, nanoUsd),
    charged: (nanoUsd) => metrics.priced(nanoUsd),
    cost: (...noted) => costs.note(...noted),
  });
  const worker = new VideoWorker({
    ...{ ledger: store.ledger, catalog, files, health: health.providers, clock, log },
    // The data folder has one process, so a claim of any other process is from one that has died.
    claimGraceMs: 0,
    isOurs: () => true,
    onEnded: videoMetrics.onEnded,
  });
  videoMetrics.observe(worker);
  return worker;
}

export function observePendingPrices(registry: Registry, pending: () => number): void {
  readMetrics(registry).gauge('faregate_pending_prices', 'Ended calls whose cost is not known yet', pending);
}
