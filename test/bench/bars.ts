/** What `make bench` holds the gateway to. Ratios compare slices of one round; milliseconds subtract a direct call. */
export const bars = {
  smallCallRatio: 2.5,
  streamRatio: 1.6,
  firstByteAtOnceMs: 4,
  firstByteAfter50Ms: 1.5,
  memoryMb: 220,
} as const;

/** How much is run. The whole bench has to end within six minutes. */
export interface Sizes {
  rounds: number;
  sliceMs: number;
  /** Until V8 has compiled what is hot: the gateway has ten times the bare proxy's code, so it takes longer. */
  warmUpMs: number;
  callers: number;
  streamCallers: number;
  samples: number;
  sampleGapMs: number;
  openStreams: number;
}

export const fullSizes: Sizes = {
  rounds: 7,
  sliceMs: 2_000,
  warmUpMs: 20_000,
  callers: 64,
  streamCallers: 32,
  samples: 250,
  sampleGapMs: 10,
  openStreams: 1_000,
};

/** To see that the harness works, not to learn anything. */
export const quickSizes: Sizes = {
  rounds: 2,
  sliceMs: 300,
  warmUpMs: 200,
  callers: 8,
  streamCallers: 8,
  samples: 10,
  sampleGapMs: 1,
  openStreams: 20,
};

/** The gateway is alone on one core; load and provider share the other. */
export const cores = { underTest: 0, load: 1 } as const;
