import { beforeEach, expect, test } from 'vitest';
import { createCassandraHistoryStore } from '#core/calls/cassandra-history-store.ts';
import { VIDEO_JOB_KEPT_MS } from '#core/limits.ts';
import { createCassandraVideoHistory } from '#core/videos/cassandra-video-history.ts';
import type { VideoHistory } from '#core/videos/video-history.ts';
import { useCassandra } from '../support/cassandra-node.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryAgentStates } from '../support/memory-agent-states.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { openProjection, ProjectedShard, readAll } from '../support/projected-shard.ts';
import { describeWith } from '../support/with-services.ts';
import { charged, does, ok, START_MS } from './case.ts';
import { agentWith, reserveVideo, settle, videoFile } from './commands.ts';
import { testVideoHistory, type VideoWorld } from './video-history-contract.ts';

describeWith(['cassandra'], 'the history of videos in Cassandra', () => {
  const node = useCassandra();
  beforeEach(async () => {
    for (const table of ['videos', 'video_keys']) {
      await node.client.execute(`TRUNCATE ${table}`, [], { prepare: false });
    }
  });

  /** All that the ledger has journaled is projected before anything is read. */
  async function newWorld(): Promise<VideoWorld> {
    const clock = createFakeClock(START_MS);
    const ledger = createMemoryLedger({ clock });
    const history = createCassandraHistoryStore(node.client);
    const projection = await openProjection(0, { states: createMemoryAgentStates(), history });
    const shard = new ProjectedShard(0);
    const read = createCassandraVideoHistory(node.client, clock);
    let seq = 0;
    const projected = async (): Promise<VideoHistory> => {
      shard.append(...ledger.journal.slice(seq));
      seq = ledger.journal.length;
      await readAll(projection, shard);
      return read;
    };
    return {
      ledger,
      clock,
      callIds: new Map(),
      videos: {
        find: async (agentId, videoId) => (await projected()).find(agentId, videoId),
        findByKey: async (agentId, key) => (await projected()).findByKey(agentId, key),
      },
    };
  }

  testVideoHistory(newWorld);

  test('a video is readable for 120 days from its end, to the millisecond, and its rows go by themselves', async () => {
    const world = await newWorld();
    for (const row of [
      ...agentWith(100n),
      does(reserveVideo(1, 10n, { idempotencyKey: 'my-order' }), ok),
      does(settle(1, 3n, { video: videoFile }), charged(3n)),
    ]) {
      await row(world);
    }
    world.clock.set(START_MS + VIDEO_JOB_KEPT_MS - 1);
    expect(await world.videos.find(1, 'vid_1')).toMatchObject({ videoId: 'vid_1' });
    expect(await world.videos.findByKey(1, 'my-order')).toMatchObject({ videoId: 'vid_1' });
    world.clock.set(START_MS + VIDEO_JOB_KEPT_MS);
    expect(await world.videos.find(1, 'vid_1')).toBeNull();
    expect(await world.videos.findByKey(1, 'my-order')).toBeNull();
    for (const [table, column] of [
      ['videos', 'job'],
      ['video_keys', 'video_id'],
    ]) {
      const [row] = (await node.client.execute(`SELECT ttl(${column}) AS left FROM ${table}`)).rows;
      expect(row?.get('left')).toBeGreaterThan(VIDEO_JOB_KEPT_MS / 1_000 - 60);
    }
  });
});
