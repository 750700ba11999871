import { expect, test } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { ENDED_VIDEO_KEPT_MS } from '#core/limits.ts';
import type { VideoHistory } from '#core/videos/video-history.ts';
import { after, charged, does, ok, type Row, type World } from './case.ts';
import {
  agentWith,
  callEnd,
  claimVideo,
  grant,
  putKey,
  reserveVideo,
  setAgent,
  settle,
  submitVideo,
  videoFile,
} from './commands.ts';

/** A ledger without agents, and the history of the videos that end in it. */
export interface VideoWorld extends World {
  /** Answers with all that the ledger has told so far. */
  videos: VideoHistory;
}

const run = async (world: World, ...rows: readonly Row[]): Promise<void> => {
  for (const row of rows) await row(world);
};

const failed = { ...callEnd, outcome: 'failed', errorCode: 'timed_out' } as const;

/** What every history of videos promises. */
export function testVideoHistory(newWorld: () => Promise<VideoWorld>): void {
  test('a video that was made is found by its id and by its key, just as the ledger knew it', async () => {
    const world = await newWorld();
    await run(
      world,
      ...agentWith(100n),
      does(reserveVideo(1, 60n, { idempotencyKey: 'my-order' }), ok),
      after(MINUTE_MS),
      does(claimVideo(1), ok),
      does(submitVideo(1), ok),
      after(MINUTE_MS),
      does(settle(1, 25n, { video: videoFile }), charged(25n)),
    );
    const known = await world.ledger.readVideo(1, 'vid_1');
    expect(known).toMatchObject({ end: { chargedNanoUsd: 25n, errorCode: null, file: videoFile } });
    expect(await world.videos.find(1, 'vid_1')).toEqual(known);
    expect(await world.videos.findByKey(1, 'my-order')).toEqual(known);
  });

  test('a failed one is found, too, and without an Idempotency-Key by its id alone', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n), does(reserveVideo(1, 60n), ok));
    await run(world, does(settle(1, 0n, { end: failed }), charged(0n)));
    expect(await world.videos.find(1, 'vid_1')).toMatchObject({
      end: { chargedNanoUsd: 0n, errorCode: 'timed_out', file: null },
    });
    expect(await world.videos.findByKey(1, 'null')).toBeNull();
  });

  test('an open video, an unknown one and another agent’s are not found', async () => {
    const world = await newWorld();
    await run(
      world,
      ...agentWith(100n),
      does(setAgent({ agentId: 2 }), ok),
      does(reserveVideo(1, 10n, { idempotencyKey: 'my-order' }), ok),
      does(reserveVideo(2, 10n, { idempotencyKey: 'open-order' }), ok),
      does(settle(1, 0n, { end: failed }), charged(0n)),
    );
    expect(await world.videos.find(1, 'vid_2')).toBeNull();
    expect(await world.videos.findByKey(1, 'open-order')).toBeNull();
    expect(await world.videos.find(1, 'vid_3')).toBeNull();
    expect(await world.videos.find(2, 'vid_1')).toBeNull();
    expect(await world.videos.findByKey(2, 'my-order')).toBeNull();
    expect(await world.videos.find(1, 'vid_1')).toMatchObject({ videoId: 'vid_1' });
  });

  test('two agents use the same Idempotency-Key, each for its own video', async () => {
    const world = await newWorld();
    await run(
      world,
      ...agentWith(100n),
      does(setAgent({ agentId: 2 }), ok),
      does(putKey(2, { agentId: 2 }), ok),
      does(grant(100n, { agentId: 2 }), ok),
      does(reserveVideo(1, 10n, { idempotencyKey: 'my-order' }), ok),
      does(reserveVideo(2, 10n, { idempotencyKey: 'my-order' }, { agentId: 2, keyId: 2 }), ok),
      does(settle(1, 0n, { end: failed }), charged(0n)),
      does(settle(2, 3n, { agentId: 2, video: videoFile }), charged(3n)),
    );
    expect(await world.videos.findByKey(1, 'my-order')).toMatchObject({ agentId: 1, videoId: 'vid_1' });
    expect(await world.videos.findByKey(2, 'my-order')).toMatchObject({ agentId: 2, videoId: 'vid_2' });
  });

  test('of one Idempotency-Key, used again when the ledger had forgotten it, the newest video is found', async () => {
    const world = await newWorld();
    await run(
      world,
      ...agentWith(100n),
      does(reserveVideo(1, 10n, { idempotencyKey: 'my-order' }), ok),
      does(settle(1, 0n, { end: failed }), charged(0n)),
      after(ENDED_VIDEO_KEPT_MS),
      does(reserveVideo(2, 10n, { idempotencyKey: 'my-order' }), ok),
      does(settle(2, 0n, { end: failed }), charged(0n)),
    );
    expect(await world.videos.findByKey(1, 'my-order')).toMatchObject({ videoId: 'vid_2' });
    expect(await world.videos.find(1, 'vid_1')).toMatchObject({ videoId: 'vid_1' });
  });
}
