import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '#core/clock.ts';
import { VIDEO_POLL_MS } from '#core/limits.ts';
import { videoBars } from './bars.ts';
import { cpuMs, peakRssMb } from './process-figures.ts';
import type { Bench } from './run-part.ts';
import { startVideoWorker } from './start-video-worker.ts';

/** Answers take their time, and what is due waits for the next tick: a poll each ten seconds is a little less than that. */
const POLLS_SHARE_MIN = 0.95;

/** A provider that never ends one: so many videos stay open, and each is asked after at its time. */
export async function runVideoPolls(bench: Bench, home: readonly string[]): Promise<void> {
  const { open, youngMs, pollsMs } = bench.sizes.videos;
  const worker = await startVideoWorker(bench, { open, bytes: null, home });
  await pause(youngMs);
  const before = { cpu: cpuMs(worker.pid), polls: await worker.polls(), ms: performance.now() };
  await pause(pollsMs);
  const elapsedMs = performance.now() - before.ms;
  const share = (cpuMs(worker.pid) - before.cpu) / elapsedMs;
  const perSecond = (((await worker.polls()) - before.polls) * SECOND_MS) / elapsedMs;
  const left = await worker.left();
  const what = `${open} open videos, one poll each ${VIDEO_POLL_MS / SECOND_MS} s`;
  const wanted = (open * SECOND_MS) / VIDEO_POLL_MS;
  bench.report.verdict({
    bar: `${what}: >= ${POLLS_SHARE_MIN * wanted} polls/s, all stay open`,
    measured: `${perSecond.toFixed(0)} polls/s over ${(elapsedMs / SECOND_MS).toFixed(0)} s, ${left.open} open`,
    met: perSecond >= POLLS_SHARE_MIN * wanted && left.open === open && left.ended.length === 0,
  });
  bench.report.verdict({
    bar: `${what}: <= ${100 * videoBars.pollsShareOfCore} % of a core`,
    measured: `${(100 * share).toFixed(1)} %, ${((share * SECOND_MS * SECOND_MS) / perSecond).toFixed(0)} us a poll`,
    met: share <= videoBars.pollsShareOfCore,
  });
  const peakMb = peakRssMb(worker.pid);
  bench.report.verdict({
    bar: `${what}: memory (peak RSS) <= ${videoBars.pollsMb} MB`,
    measured: `${peakMb.toFixed(0)} MB`,
    met: peakMb <= videoBars.pollsMb,
  });
}
