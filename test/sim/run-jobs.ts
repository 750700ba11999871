import { Worker } from 'node:worker_threads';
import type { Job } from './run-job.ts';
import type { Summary } from './summary.ts';

const THREADS = 2;

/** On two cores, each job by whichever thread is free; what came of them, in their order. */
export async function runJobs(jobs: readonly Job[]): Promise<Summary[]> {
  const done: Summary[] = [];
  let next = 0;
  const run = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(new URL('./sim-thread.ts', import.meta.url));
      let at = next;
      const give = (): void => {
        at = next++;
        const job = jobs[at];
        if (job === undefined) void worker.terminate().then(() => resolve());
        else worker.postMessage(job);
      };
      worker.on('message', (summary: Summary) => {
        done[at] = summary;
        give();
      });
      worker.on('error', reject);
      give();
    });
  await Promise.all(Array.from({ length: THREADS }, run));
  return done;
}

/** Rough histories `first`, `first + 1`, …, in portions. */
export function roughJobs(first: number, count: number): Job[] {
  const jobs: Job[] = [];
  for (let at = 0; at < count; at += PORTION) {
    jobs.push({ kind: 'rough', first: first + at, count: Math.min(PORTION, count - at) });
  }
  return jobs;
}

const PORTION = 25;
