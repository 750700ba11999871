import type { RecordedCosts } from '#core/bills/recorded-costs.ts';
import type { Capacity } from '#core/capacity/capacity.ts';
import type { Catalog } from '#core/catalog/catalog.ts';
import type { Clock } from '#core/clock.ts';
import type { FileStore } from '#core/files/file-store.ts';
import type { IdSource } from '#core/ids.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import type { Limits } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import type { NanoUsd } from '#core/money.ts';
import type { GcraBuckets } from '#core/rates/gcra.ts';
import type { PlaceImage } from '../admit/place-inline-images.ts';
import type { FetchImage } from '../linked-images/fetch-image.ts';
import type { EndpointHealth } from '../routing/endpoint-health.ts';
import type { UpstreamPools } from '../upstream/upstream-pools.ts';
import type { CallMetrics } from './call-metrics.ts';
import type { LedgerRetries } from './ledger-retries.ts';
import type { OpenCalls } from './open-calls.ts';

/** Everything that a call needs, built once. */
export interface Gateway {
  clock: Clock;
  ids: IdSource;
  log: Log;
  metrics: CallMetrics;
  ledger: Ledger;
  ledgerRetries: LedgerRetries;
  catalog: Catalog;
  /** What providers took, whoever paid for it. */
  costs: Pick<RecordedCosts, 'note'>;
  capacity: Capacity;
  /** A caller's refused starts have a bucket of their own: a broke agent cannot send 4 MB bodies without end. */
  refusedStarts: GcraBuckets;
  /** Of the providers' endpoints, as this process has found them. */
  health: EndpointHealth;
  openCalls: OpenCalls;
  upstreams: UpstreamPools;
  /** Where agents keep images that models look at; `null`: nowhere. */
  files: Pick<FileStore, 'parseLink' | 'size' | 'read'> | null;
  fetchImage: FetchImage;
  /** Says where an image that stands in a request is kept; `null`: such images are refused. */
  placeImage: (agentId: number) => PlaceImage | null;
  limits: () => Limits;
  /** How long a call waits for its hold to become durable. Then it is given up. */
  gateTimeoutMs: number;
  /** Milliseconds until the ledger's time lets calls start; 0 where it does now. */
  waitForClockMs: () => number;
  dailyShareNanoUsd: () => NanoUsd | null;
  /** The service's own name for the header that carries the call's id. */
  callIdHeader: string;
  /** Tells this process's call ids from another's. */
  nonce: string;
  /** Told of every call that ended with its cost unknown. */
  watchPending: (agentId: number, callId: number) => void;
  /** Told of every video that was ordered. */
  watchVideo: (agentId: number, videoId: string) => void;
}
