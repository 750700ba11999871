import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import { PRUNE_PAUSE_MS } from '#core/ledger/embedded/journal-pruning.ts';
import { ENDED_VIDEO_KEPT_MS, SNAPSHOT_MS, VIDEO_JOB_KEPT_MS } from '#core/limits.ts';
import { after, charged, does, findsVideoByKey, listsOpenVideos, ok, refused, seesVideo } from './case.ts';
import {
  agentWith,
  claimVideo,
  reserveVideo,
  setAgent,
  settle,
  submitVideo,
  videoFile,
  withdrawVideo,
} from './commands.ts';
import { copyFiles, type EmbeddedWorld, openWorld, restart, run, until } from './embedded-harness.ts';
import { testVideoHistory, type VideoWorld } from './video-history-contract.ts';

const withVideos = (world: EmbeddedWorld): EmbeddedWorld & VideoWorld => ({
  ...world,
  videos: world.ledger.videos,
});

const newWorld = async () => withVideos(await openWorld());

testVideoHistory(newWorld);

async function afterACrash(world: EmbeddedWorld): Promise<EmbeddedWorld & VideoWorld> {
  const again = await openWorld({ dataDir: copyFiles(world), clock: world.clock });
  again.callIds = world.callIds;
  return withVideos(again);
}

/** One of each state: ordered, claimed, submitted, made. */
async function fourVideos(): Promise<EmbeddedWorld & VideoWorld> {
  const world = await newWorld();
  await run(
    world,
    ...agentWith(100n),
    ...[1, 2, 3, 4].map((call) => does(reserveVideo(call, 5n, { idempotencyKey: `order-${call}` }), ok)),
    ...[2, 3, 4].map((call) => does(claimVideo(call), ok)),
    ...[3, 4].map((call) => does(submitVideo(call, { providerJobId: `job-${call}` }), ok)),
    does(settle(4, 4n, { video: videoFile }), charged(4n)),
  );
  return world;
}

test('after a kill at any step every video is as it was, and its worker goes on with it', async () => {
  const before = await fourVideos();
  const jobs = await before.ledger.listOpenVideos();
  const world = await afterACrash(before);
  expect(world.ledger.crashed).toEqual([]);
  expect(await world.ledger.listOpenVideos()).toEqual(jobs);
  await run(
    world,
    does(claimVideo(2, { nonce: 'worker-2' }), refused('claimed')),
    does(claimVideo(3, { nonce: 'worker-2' }), refused('submitted')),
    does(claimVideo(1, { nonce: 'worker-2' }), ok),
    does(withdrawVideo(2), ok),
    does(settle(3, 5n, { video: videoFile }), charged(5n)),
    listsOpenVideos('vid_1', 'vid_2'),
    ...[1, 2, 3, 4].map((call) => findsVideoByKey(`order-${call}`, `vid_${call}`)),
  );
  expect(await world.videos.find(1, 'vid_4')).toEqual(await before.ledger.readVideo(1, 'vid_4'));
});

test('videos are the same behind a snapshot', async () => {
  const before = await fourVideos();
  const known = await Promise.all([1, 2, 3, 4].map((call) => before.ledger.readVideo(1, `vid_${call}`)));
  const commits = before.ledger.stats().commits;
  before.clock.advance(SNAPSHOT_MS);
  await until(() => before.ledger.stats().commits > commits);
  const world = await afterACrash(before);
  const read = await Promise.all([1, 2, 3, 4].map((call) => world.ledger.readVideo(1, `vid_${call}`)));
  expect(read).toEqual(known);
  await run(world, does(submitVideo(2), ok), does(settle(2, 1n, { video: videoFile }), charged(1n)));
});

test('a video that the ledger has forgotten is in the history still, for 120 days from its end', async () => {
  const world = await fourVideos();
  const known = await world.ledger.readVideo(1, 'vid_4');
  await run(
    world,
    after(ENDED_VIDEO_KEPT_MS),
    does(setAgent({ sourceVersion: 2 }), ok),
    seesVideo('vid_4', null),
  );
  expect(await world.videos.find(1, 'vid_4')).toEqual(known);
  const endedAtMs = known === null || known === 'unavailable' ? 0 : (known.end?.atMs ?? 0);
  const prunedAt = async (nowMs: number) => {
    world.clock.set(nowMs - MINUTE_MS);
    const again = withVideos(await restart(world));
    world.clock.advance(MINUTE_MS);
    for (let slice = 0; slice < 20; slice++) {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      world.clock.advance(PRUNE_PAUSE_MS);
    }
    const found = await again.videos.findByKey(1, 'order-4');
    world.ledger = again.ledger;
    return found;
  };
  expect(await prunedAt(endedAtMs + VIDEO_JOB_KEPT_MS - MINUTE_MS)).toEqual(known);
  expect(await prunedAt(endedAtMs + VIDEO_JOB_KEPT_MS + 1)).toBeNull();
});

test('a file of a release before videos opens, with all that was in it, and takes videos from then on', async () => {
  const world = await newWorld();
  await run(world, ...agentWith(100n));
  await world.ledger.close();
  const db = new DatabaseSync(join(world.dataDir, 'ledger.sqlite'));
  db.exec('DROP TABLE videos; ALTER TABLE calls DROP COLUMN tokens_estimated; PRAGMA user_version = 2');
  db.close();
  const again = withVideos(await openWorld({ dataDir: world.dataDir, clock: world.clock }));
  expect(await again.ledger.readAgent(1)).toMatchObject({ grantedNanoUsd: 100n, version: 3 });
  await run(again, does(reserveVideo(1, 5n), ok), does(settle(1, 4n, { video: videoFile }), charged(4n)));
  expect(await again.videos.find(1, 'vid_1')).toMatchObject({ end: { chargedNanoUsd: 4n } });
  await withVideos(await restart(again));
});

test('a video is found by an index, whatever the table holds', async () => {
  const world = await newWorld();
  const db = new DatabaseSync(join(world.dataDir, 'ledger.sqlite'), { readOnly: true });
  const plan = (where: string) =>
    db
      .prepare(`EXPLAIN QUERY PLAN SELECT job FROM videos WHERE ${where}`)
      .all()
      .map((row) => row.detail);
  expect(plan('agent_id = 1 AND video_id = 2')).toEqual([
    'SEARCH videos USING PRIMARY KEY (agent_id=? AND video_id=?)',
  ]);
  expect(plan("agent_id = 1 AND idempotency_key = 'a' ORDER BY ended_at_ms DESC")).toEqual([
    'SEARCH videos USING INDEX videos_by_key (agent_id=? AND idempotency_key=?)',
  ]);
  expect(plan('ended_at_ms < 5 ORDER BY ended_at_ms')).toEqual([
    'SEARCH videos USING INDEX videos_by_end (ended_at_ms<?)',
  ]);
  db.close();
});
