import { expect, test } from 'vitest';
import { listVideos } from '#core/backup/list-videos.ts';
import { DAY_MS } from '#core/clock.ts';
import { newAgent } from '#core/ledger/machine/empty-ledger.ts';
import { ENDED_VIDEOS_KEPT_MAX } from '#core/limits.ts';
import type { VideoJob } from '#core/videos/video-job.ts';
import { START_MS } from '../ledger/case.ts';
import { videoFile } from '../ledger/commands.ts';

const video = (n: number, endedAtMs: number | null): VideoJob => ({
  videoId: `vid_${String(n).padStart(20, '0')}`,
  agentId: 1,
  keyId: 1,
  callId: 60 + n,
  idempotencyKey: `order-${n}`,
  model: 'acme/film',
  providerId: 'simulator',
  upstreamModel: 'film',
  orderFile: 'orders/1',
  estimatedNanoUsd: 5n,
  createdAtMs: START_MS,
  claim: null,
  submitted: null,
  end: endedAtMs === null ? null : { atMs: endedAtMs, chargedNanoUsd: 5n, errorCode: null, file: videoFile },
});

/** Of an agent that has ended so many, one a second, by a history that has more than the agent's fold. */
async function listed(endedCount: number): Promise<number[]> {
  const agent = newAgent(1, 'Ada', START_MS);
  const ended = Array.from({ length: endedCount }, (_, n) => video(n, START_MS + n * 1_000));
  const open = video(endedCount, null);
  for (const job of [...ended, open]) agent.videos.set(job);
  agent.videos.forgetMany();
  agent.prunedAtMs = START_MS + endedCount * 1_000;
  const older = video(endedCount + 1, START_MS - 2 * DAY_MS);
  const ahead = [video(endedCount, agent.prunedAtMs + 1), video(endedCount + 2, agent.prunedAtMs + 2)];
  async function* history() {
    yield [older, ...ended, ...ahead];
  }
  const all: number[] = [];
  for await (const portion of listVideos(agent, history()))
    all.push(...portion.map(({ videoId }) => Number(videoId.slice(4))));
  return all.sort((a, b) => a - b);
}

test.each([3, ENDED_VIDEOS_KEPT_MAX, ENDED_VIDEOS_KEPT_MAX + 5])(
  'a backup of an agent with %i videos of today has each once, and none that ended behind it',
  async (count) => {
    expect(await listed(count)).toEqual([...Array(count).keys(), count + 1]);
  },
);
