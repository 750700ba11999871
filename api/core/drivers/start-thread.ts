import { setFlagsFromString } from 'node:v8';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/**
 * A thread that keeps little in memory. The flag that gives the process' own thread a large young generation would hold
 * for each other one, too, and overrule `resourceLimits`: a thread of a file would grow by 64 MB that it has no use for,
 * and push what calls need out of the processor's cache. A heap reads the flag when it is made, so no other changes.
 */
export function startThread(module: URL, options: WorkerOptions): Worker {
  setFlagsFromString(`--max-semi-space-size=${THREAD_SEMI_SPACE_MB}`);
  return new Worker(module, options);
}

const THREAD_SEMI_SPACE_MB = 1;
