import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { VideoJob } from '#core/videos/video-job.ts';
import { createDraw, type Draw } from '../ledger/history/random.ts';
import type { Caller } from './kill-gateway.ts';
import { openVideoGateway, VIDEO_NANO_USD, type VideoGateway } from './video-gateway.ts';

/*
 * The promise: whatever a kill cuts off, the provider makes no video twice, each order ends once, made and charged or failed
 * and free, none stays open, and every made one has its file.
 */

export interface VideoKillSummary {
  kills: number;
  orders: number;
  made: number;
  unknown: number;
  failed: number;
  /** At the provider: the same, but for those of unknown submissions. */
  jobs: number;
}

interface Ordered {
  caller: Caller;
  prompt: string;
  /** null: the kill cut its answer off, so that only a repeat tells whether there is a video. */
  videoId: string | null;
}

type Known = Ordered & { videoId: string };

const ORDERERS = 3;

/** Kills a gateway that makes videos `kills` times. Throws with the seed at the first broken promise. */
export async function killVideos(kills: number, seed: number): Promise<VideoKillSummary> {
  const draw = createDraw(seed);
  await using gateway = await openVideoGateway();
  try {
    const ordered: Ordered[] = [];
    for (let kill = 0; kill < kills; kill++) await loadAndKill(gateway, draw, ordered, kill);
    // Most videos have outlived every process so far: fetched as slowly as while they were killed, the last would wait for minutes.
    gateway.provider.reset();
    await gateway.start();
    const known: Known[] = [];
    for (const { caller, prompt, videoId } of ordered)
      known.push({ caller, prompt, videoId: videoId ?? (await orderAgain(gateway, prompt, caller)) });
    for (const { videoId, caller } of known) await gateway.ended(videoId, caller);
    await gateway.kill();
    return await compare(gateway, kills, known);
  } catch (error) {
    throw new Error(`seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

async function loadAndKill(
  gateway: VideoGateway,
  draw: Draw,
  ordered: Ordered[],
  kill: number,
): Promise<void> {
  const { provider } = gateway;
  provider.reset();
  // Every part of a video's life has its share of the time in which the kill may fall.
  provider.always({
    path: '/videos',
    headersDelayMs: draw(40),
    video: { pendingMs: draw(200), inProgressMs: 0 },
  });
  provider.always({
    path: '/videos/{id}/content',
    headersDelayMs: draw(40),
    writeBytes: 2_000,
    gapMs: draw(20),
  });
  await gateway.start();
  let killed = false;
  const loops = gateway.callers.slice(0, ORDERERS).map(async (caller) => {
    for (let n = 0; !killed; n++) {
      const prompt = `${kill} ${caller.agentId} ${n}`;
      const answer = await gateway.order(prompt, caller).catch(() => null);
      ordered.push({ caller, prompt, videoId: answer?.status === 202 ? answer.job.id : null });
      await new Promise((resolve) => setTimeout(resolve, draw(60)));
    }
  });
  // Real time on purpose: the kill has to fall anywhere in the life of a video.
  await new Promise((resolve) => setTimeout(resolve, 100 + draw(1_500)));
  killed = true;
  await gateway.kill();
  await Promise.all(loops);
}

/** With the key of the first time: the video that the first order began, or one that it never did. */
async function orderAgain(gateway: VideoGateway, prompt: string, caller: Caller): Promise<string> {
  const { status, job } = await gateway.order(prompt, caller);
  if (status !== 202) throw new Error(`the order of "${prompt}" was answered ${status}`);
  return job.id;
}

async function compare(
  gateway: VideoGateway,
  kills: number,
  ordered: readonly Known[],
): Promise<VideoKillSummary> {
  const jobs = new Map<string, number>();
  for (const { prompt } of gateway.provider.videos()) jobs.set(prompt, (jobs.get(prompt) ?? 0) + 1);
  for (const [prompt, count] of jobs) {
    if (count > 1) throw new Error(`the provider makes "${prompt}" ${count} times`);
  }
  const summary = { kills, orders: ordered.length, made: 0, unknown: 0, failed: 0, jobs: jobs.size };
  await gateway.audit(async (ledger) => {
    const open = await ledger.listOpenVideos();
    if (open === 'unavailable' || open.length > 0) throw new Error('videos are still open');
    for (const { agentId } of gateway.callers) {
      const agent = await ledger.readAgent(agentId);
      if (agent === null || agent === 'unavailable' || agent.holds.length > 0)
        throw new Error(`agent ${agentId}: a hold is stuck`);
    }
    for (const { caller, videoId, prompt } of ordered) {
      // Of many that have ended the ledger itself knows the newest.
      const job =
        (await ledger.readVideo(caller.agentId, videoId)) ??
        (await ledger.videos.find(caller.agentId, videoId));
      if (job === null || job === 'unavailable') throw new Error(`video ${videoId} is lost`);
      summary[endOf(gateway, job, jobs.has(prompt))]++;
    }
  });
  return summary;
}

function endOf(
  { dataDir }: VideoGateway,
  { videoId, end }: VideoJob,
  isMade: boolean,
): 'made' | 'unknown' | 'failed' {
  if (end === null) throw new Error(`video ${videoId} has not ended`);
  if (end.file === null) {
    if (end.chargedNanoUsd !== 0n) throw new Error(`video ${videoId} failed and was charged`);
    return end.errorCode === 'submission_unknown' ? 'unknown' : 'failed';
  }
  if (!isMade || end.chargedNanoUsd !== VIDEO_NANO_USD)
    throw new Error(`video ${videoId} was charged ${end.chargedNanoUsd}`);
  if (!existsSync(join(dataDir, 'files', end.file.path))) throw new Error(`video ${videoId} has no file`);
  return 'made';
}
