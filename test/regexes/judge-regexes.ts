import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import type { Diagnostics, Parameters } from 'recheck';

/*
 * recheck, in its build of plain JavaScript: it starts no other program and asks nobody. It decides by automata where it can,
 * and otherwise looks for an attack with a seed of its own, so that its answer is the same each time.
 */

export interface Pattern {
  source: string;
  flags: string;
}

/** `linear`: no text costs more than its length. Else what the worst text costs, or why nobody could tell. */
export type Verdict = { linear: true } | { linear: false; because: string };

type CheckSync = (source: string, flags: string, options?: Parameters) => Diagnostics;

/** By steps and not by time, so that a busy machine does not change the answer; a pattern takes two seconds at the most. */
const OPTIONS: Parameters = {
  timeout: 300_000,
  attackLimit: 50_000_000,
  attackTimeout: null,
  incubationTimeout: null,
};

export function judge({ source, flags }: Pattern): Verdict {
  const require = createRequire(import.meta.url);
  const { checkSync }: { checkSync: CheckSync } = require('recheck/lib/browser.js');
  const found = checkSync(source, flags, OPTIONS);
  if (found.status === 'safe') return { linear: true };
  if (found.status === 'vulnerable') return { linear: false, because: `${found.complexity.summary} time` };
  return { linear: false, because: 'nobody could tell what it costs' };
}

/** Of all patterns, in their order; those that were judged before are read from the cache. */
export async function judgeAll(patterns: readonly Pattern[], cacheFile: string): Promise<Verdict[]> {
  const cache = readCache(cacheFile);
  const pending = new Map(patterns.map((each) => [keyOf(each), each]));
  for (const key of cache.keys()) pending.delete(key);
  if (pending.size > 0) {
    await judgeInThreads(pending, cache);
    mkdirSync(dirname(cacheFile), { recursive: true });
    writeFileSync(cacheFile, JSON.stringify(Object.fromEntries(cache)));
  }
  return patterns.map((each) => cache.get(keyOf(each)) ?? { linear: false, because: 'nobody judged it' });
}

const VERSION: string = createRequire(import.meta.url)('recheck/package.json').version;

const keyOf = ({ source, flags }: Pattern): string =>
  createHash('sha256').update(`${VERSION}\n${flags}\n${source}`).digest('hex');

function readCache(file: string): Map<string, Verdict> {
  try {
    return new Map(Object.entries<Verdict>(JSON.parse(readFileSync(file, 'utf8'))));
  } catch {
    return new Map();
  }
}

/** A judgement takes from a millisecond to seconds, so each thread takes the next as soon as it is done. */
async function judgeInThreads(
  pending: ReadonlyMap<string, Pattern>,
  verdicts: Map<string, Verdict>,
): Promise<void> {
  const queue = [...pending];
  const threads = Array.from({ length: Math.min(availableParallelism(), queue.length) }, () =>
    runThread(queue, verdicts),
  );
  await Promise.all(threads);
}

async function runThread(queue: [key: string, Pattern][], verdicts: Map<string, Verdict>): Promise<void> {
  const worker = new Worker(fileURLToPath(import.meta.url));
  try {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const [key, pattern] = next;
      worker.postMessage(pattern);
      const [verdict]: Verdict[] = await once(worker, 'message');
      if (verdict !== undefined) verdicts.set(key, verdict);
    }
  } finally {
    await worker.terminate();
  }
}

if (!isMainThread) parentPort?.on('message', (pattern: Pattern) => parentPort?.postMessage(judge(pattern)));
