import { setTimeout as pause } from 'node:timers/promises';
import { SECOND_MS } from '#core/clock.ts';
import { VIDEO_DOWNLOADS_AT_ONCE } from '#core/limits.ts';
import { videoBars } from './bars.ts';
import { filmBytes, sha256Of } from './film-bytes.ts';
import { cpuMs, peakRssMb } from './process-figures.ts';
import type { Bench } from './run-part.ts';
import { startVideoWorker } from './start-video-worker.ts';
import type { VideosLeft } from './video-worker.ts';

export interface VideoHome {
  name: string;
  /** For the worker. */
  args: readonly string[];
  read(path: string): Promise<AsyncIterable<Uint8Array>>;
}

const POLL_MS = 50;
const PATIENCE_MS = 300_000;

/** As many at once as a worker fetches; at the end each has to stand in its home as the provider sent it. */
export async function runVideoDownloads(bench: Bench, home: VideoHome): Promise<void> {
  const { bytes } = bench.sizes.videos;
  const open = VIDEO_DOWNLOADS_AT_ONCE;
  const worker = await startVideoWorker(bench, { open, bytes, home: home.args });
  const before = { cpu: cpuMs(worker.pid), ms: performance.now() };
  const elapsedMs = () => performance.now() - before.ms;
  let left: VideosLeft;
  do {
    await pause(POLL_MS);
    left = await worker.left();
  } while (left.ended.length < open && elapsedMs() < PATIENCE_MS);
  const megabytes = bytes / 1e6;
  const perSecond = (open * megabytes * SECOND_MS) / elapsedMs();
  const cpuMsOfOne = (cpuMs(worker.pid) - before.cpu) / open;
  const peakMb = peakRssMb(worker.pid);
  bench.report.line(
    `${home.name}: ${perSecond.toFixed(0)} MB/s in all, ${cpuMsOfOne.toFixed(0)} ms of the worker's CPU a video`,
  );
  const whole = await countWhole(left, home, await sha256Of(filmBytes(bytes)));
  bench.report.verdict({
    bar: `${open} downloads of ${megabytes} MB at once, ${home.name}: memory (peak RSS) <= ${videoBars.downloadMb} MB`,
    measured: `${peakMb.toFixed(0)} MB, ${whole} stored as sent`,
    met: peakMb <= videoBars.downloadMb && whole === open,
  });
}

async function countWhole({ ended }: VideosLeft, home: VideoHome, sha256: string): Promise<number> {
  let whole = 0;
  for (const { file } of ended) {
    if (file?.sha256 === sha256 && (await sha256Of(await home.read(file.path))) === sha256) whole++;
  }
  return whole;
}
