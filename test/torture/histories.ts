import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { addCoverage, type Coverage, missing } from '../ledger/history/coverage.ts';
import { runHistories } from '../ledger/history/run-histories.ts';

export interface HistoriesReport {
  histories: number;
  firstSeed: number;
  durationMs: number;
  /** What happened, and how often. */
  coverage: Coverage;
}

const THREADS_MAX = 2;
/** Small enough that the first broken promise is told within half a minute. */
const BATCH = 25_000;

/**
 * Runs `count` histories from a seed, in one or two threads. Rejects at the first broken promise, whose message
 * holds the seed and the fewest steps that break it, and when something that must happen never did.
 */
export async function tortureHistories(options: {
  firstSeed: number;
  count: number;
  onProgress?: (done: number) => void;
}): Promise<HistoriesReport> {
  const startedAtMs = performance.now();
  const coverage: Coverage = new Map();
  const lastSeed = options.firstSeed + options.count;
  let nextSeed = options.firstSeed;
  let done = 0;

  async function runThread(): Promise<void> {
    while (nextSeed < lastSeed) {
      const batch = { seed: nextSeed, count: Math.min(BATCH, lastSeed - nextSeed) };
      nextSeed += batch.count;
      addCoverage(coverage, await runBatch(batch));
      done += batch.count;
      options.onProgress?.(done);
    }
  }

  const threads = Math.min(THREADS_MAX, availableParallelism());
  await Promise.all(Array.from({ length: threads }, runThread));
  const never = missing(coverage);
  if (never.length > 0)
    throw new Error(`these never happened, so nothing was proven of them: ${never.join('; ')}`);
  const durationMs = Math.round(performance.now() - startedAtMs);
  return { histories: done, firstSeed: options.firstSeed, durationMs, coverage };
}

interface Batch {
  seed: number;
  count: number;
}

function runBatch(batch: Batch): Promise<Coverage> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: batch });
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

if (!isMainThread && parentPort !== null) {
  const coverage: Coverage = new Map();
  runHistories(workerData.seed, workerData.count, coverage);
  parentPort.postMessage(coverage);
}
