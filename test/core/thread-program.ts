import { getHeapSpaceStatistics } from 'node:v8';
import { isMainThread, parentPort } from 'node:worker_threads';
import { startThread } from '#core/drivers/start-thread.ts';

const OBJECTS = 20_000_000;
const KEPT = 100_000;

/** Prints how large the young generations of a process' own thread and of one that it has started become, in bytes. */
if (isMainThread) {
  const thread = startThread(new URL(import.meta.url), {});
  thread.once('message', (started: number) => console.log(JSON.stringify({ own: youngBytes(), started })));
} else parentPort?.postMessage(youngBytes());

function youngBytes(): number {
  const kept: object[] = [];
  for (let n = 0; n < OBJECTS; n++) kept[n % KEPT] = { n };
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return young?.space_size ?? Number.NaN;
}
