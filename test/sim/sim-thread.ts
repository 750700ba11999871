import { parentPort } from 'node:worker_threads';
import { type Job, runJob } from './run-job.ts';

/* One thread of `runJobs`: answers each job with what came of it. */

parentPort?.on('message', async (job: Job) => parentPort?.postMessage(await runJob(job)));
