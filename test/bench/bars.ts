import type { FormatName } from '#core/catalog/catalog.ts';
import { benchModels } from './canned-answers.ts';

/** What `make bench` holds the gateway to. Ratios compare slices of one round; milliseconds subtract a direct call. */
export const bars = {
  firstByteAtOnceMs: 4,
  firstByteAfter50Ms: 1.5,
  memoryMb: 220,
} as const;

/** Of what the same call costs the tree before, where two are compared. */
export const beforeRatioMax = 1.03;

export interface CpuRun {
  what: string;
  model: string;
  stream: boolean;
  format?: FormatName;
  /** At once, each with one call after the other. */
  callers: number;
  /** Of the bare proxy's CPU; `null`: printed, held to nothing. */
  ratioMax: number | null;
}

/**
 * Tokens come one after the other, each in a packet of its own: that is the stream that the bar holds for. All at
 * once, as a cache answers, is one read and one write for fifty events, which hides everything but a call's fixed
 * cost.
 */
export const cpuRuns: readonly CpuRun[] = [
  { what: 'small JSON call', model: benchModels.atOnce, stream: false, callers: 64, ratioMax: 2.5 },
  { what: '50-chunk stream', model: benchModels.paced, stream: true, callers: 128, ratioMax: 1.6 },
  { what: '50 chunks at once', model: benchModels.atOnce, stream: true, callers: 32, ratioMax: null },
];

/** How much is run. The whole bench has to end within twelve minutes, its embedded part within six. */
export interface Sizes {
  rounds: number;
  sliceMs: number;
  /** Until V8 has compiled what is hot: the gateway has ten times the bare proxy's code, so it takes longer. */
  warmUpMs: number;
  /** A cluster whose stores all share one core gives its gateway a tenth of the calls to compile by. */
  clusterWarmUpMs: number;
  callersMax: number;
  samples: number;
  sampleGapMs: number;
  openStreams: number;
  liveSeconds: number;
  publisherRounds: number;
  /** In each of them. */
  publishedCalls: number;
  recoveryRounds: number;
  shardEvents: number;
  /** Of all shards. */
  totalEvents: number;
  projectedCalls: { cassandra: number; sqlite: number };
  moves: { cluster: number; embedded: number };
  /** Of one agent. */
  keptCalls: { cassandra: number; sqlite: number };
  /** Of each kind. */
  historyReads: number;
  bookSeconds: number;
  candles: { trades: number; warmUpReads: number; reads: number };
  capacity: { agents: number; holds: number; calls: number };
  videos: {
    open: number;
    /** Until none is young any more: those are asked after more often. */
    youngMs: number;
    pollsMs: number;
    bytes: number;
  };
}

export const fullSizes: Sizes = {
  rounds: 7,
  sliceMs: 2_000,
  warmUpMs: 20_000,
  clusterWarmUpMs: 40_000,
  callersMax: 256,
  samples: 250,
  sampleGapMs: 10,
  openStreams: 1_000,
  liveSeconds: 10,
  publisherRounds: 3,
  publishedCalls: 16_000,
  recoveryRounds: 2,
  shardEvents: 100_000,
  totalEvents: 1_000_000,
  projectedCalls: { cassandra: 6_400, sqlite: 50_000 },
  moves: { cluster: 10_000, embedded: 50_000 },
  keptCalls: { cassandra: 100_000, sqlite: 1_000_000 },
  historyReads: 500,
  bookSeconds: 10,
  candles: { trades: 50_000, warmUpReads: 4_000, reads: 500 },
  capacity: { agents: 1_000, holds: 2_000, calls: 8_000 },
  videos: { open: 10_000, youngMs: 45_000, pollsMs: 60_000, bytes: 500_000_000 },
};

/** To see that the harness works, not to learn anything. */
export const quickSizes: Sizes = {
  rounds: 2,
  sliceMs: 300,
  warmUpMs: 200,
  clusterWarmUpMs: 200,
  callersMax: 8,
  samples: 10,
  sampleGapMs: 1,
  openStreams: 20,
  liveSeconds: 1,
  publisherRounds: 2,
  publishedCalls: 1_280,
  recoveryRounds: 1,
  shardEvents: 2_000,
  totalEvents: 20_000,
  projectedCalls: { cassandra: 640, sqlite: 1_000 },
  moves: { cluster: 500, embedded: 1_000 },
  keptCalls: { cassandra: 5_000, sqlite: 20_000 },
  historyReads: 40,
  bookSeconds: 1,
  candles: { trades: 2_000, warmUpReads: 20, reads: 20 },
  capacity: { agents: 200, holds: 400, calls: 2_000 },
  videos: { open: 200, youngMs: 1_000, pollsMs: 2_000, bytes: 20_000_000 },
};

/** The gateway is alone on one core; load and provider share the other. */
export const cores = { underTest: 0, load: 1 } as const;

/** The embedded gateway's, on a cluster: so many callers that waiting for a log does not leave a process idle. */
export const clusterCpuRun = {
  what: 'small JSON call',
  model: benchModels.atOnce,
  stream: false,
  callers: 256,
} as const satisfies Omit<CpuRun, 'ratioMax'>;

/** So many times what a call of the gateway's costs, a peer's costs at least. */
export const peerBars = { timesCheaper: 4 } as const;

/** A peer sleeps for 25 ms in each stream: with fewer callers its core would idle. */
export const peerRuns: readonly Omit<CpuRun, 'ratioMax'>[] = [
  { what: 'small JSON call', model: benchModels.atOnce, stream: false, callers: 64 },
  { what: '50-chunk burst stream', model: benchModels.atOnce, stream: true, callers: 64 },
];

/** Of a chat by a provider that speaks it. */
export const formatBars = {
  native: 1.15,
  translatedCall: 1.6,
  translatedStream: 2,
  memoryMb: 220,
  /** A catalogue of many models, to one of few: what differs less cannot be told from nothing. */
  manyModels: 1.05,
} as const;
export const catalogueSizes = { few: 5, many: 500 } as const;

/** Of a bare `node:http` answer of the same bytes. */
export const accountBars = { balance: 3, mcpBalance: 12 } as const;

export const videoBars = {
  /** Of a bare `node:http` answer of the same bytes. */
  read: 3,
  /** Of the core that a worker's process has, and of its memory. */
  pollsShareOfCore: 0.25,
  pollsMb: 200,
  downloadMb: 150,
} as const;

/** Of reads through the ports that `list_calls` and `get_usage` read by. */
export const historyBars = { readMs: 20 } as const;

export const marketBars = {
  /** Of a bare `node:http` answer of the same bytes. */
  read: 1.3,
  /** Both at once are of one core: a host that is slow today must not be told from code that is slow. */
  bookChangesPerSecond: 10_000,
  tradesPerSecond: 5_000,
  sharesOfCore: 1,
  bookAgeMs: 1_000,
  coldCandlesMs: 30,
  /** Of credit that changes hands: both halves of a trade, each in the journal. */
  movesPerSecond: { cluster: 200, embedded: 1_000 },
} as const;

export const clusterBars = {
  /** Of the bare proxy's CPU for a whole call: a whole call, and its reserve and settle alone. */
  callRatio: 2.7,
  stepsRatio: 1.2,
  gateMs: { p50: 12, p99: 40 },
  /** What a provider's timer resolves: less cannot be told from nothing. */
  gateHiddenMs: 1,
  publishedPerSecond: 5_000,
  projectedPerSecond: { cassandra: 300, sqlite: 2_500 },
  shardRecoveryMs: 5_000,
  totalRecoveryMs: 90_000,
} as const;
