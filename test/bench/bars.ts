import { benchModels } from './canned-answers.ts';

/** What `make bench` holds the gateway to. Ratios compare slices of one round; milliseconds subtract a direct call. */
export const bars = {
  firstByteAtOnceMs: 4,
  firstByteAfter50Ms: 1.5,
  memoryMb: 220,
} as const;

export interface CpuRun {
  what: string;
  model: string;
  stream: boolean;
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

/** How much is run. The whole bench has to end within six minutes. */
export interface Sizes {
  rounds: number;
  sliceMs: number;
  /** Until V8 has compiled what is hot: the gateway has ten times the bare proxy's code, so it takes longer. */
  warmUpMs: number;
  callersMax: number;
  samples: number;
  sampleGapMs: number;
  openStreams: number;
}

export const fullSizes: Sizes = {
  rounds: 7,
  sliceMs: 2_000,
  warmUpMs: 20_000,
  callersMax: 128,
  samples: 250,
  sampleGapMs: 10,
  openStreams: 1_000,
};

/** To see that the harness works, not to learn anything. */
export const quickSizes: Sizes = {
  rounds: 2,
  sliceMs: 300,
  warmUpMs: 200,
  callersMax: 8,
  samples: 10,
  sampleGapMs: 1,
  openStreams: 20,
};

/** The gateway is alone on one core; load and provider share the other. */
export const cores = { underTest: 0, load: 1 } as const;
