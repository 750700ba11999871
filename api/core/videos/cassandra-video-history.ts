import type { Client } from 'cassandra-driver';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { answerInTime } from '../drivers/cassandra.ts';
import { inTime, type VideoHistory } from './video-history.ts';
import type { VideoJob } from './video-job.ts';
import { parseVideoJob, videoJobJson } from './video-job-json.ts';

export interface CassandraVideoHistory extends VideoHistory {
  /** All of an agent, in the order of their ids, in portions. Rejects where the store is away. */
  list(agentId: number): AsyncIterable<readonly VideoJob[]>;
}

/** Ended videos as the projector has written them to Cassandra. */
export function createCassandraVideoHistory(client: Client, clock: Clock): CassandraVideoHistory {
  async function find(agentId: number, videoId: string): Promise<VideoJob | null> {
    const [row] = (await client.execute(BY_ID, [BigInt(agentId), videoId])).rows;
    return row === undefined ? null : inTime(toJob(row.get('job')), clock.now());
  }

  async function findByKey(agentId: number, idempotencyKey: string): Promise<VideoJob | null> {
    const [row] = (await client.execute(BY_KEY, [BigInt(agentId), idempotencyKey])).rows;
    return row === undefined ? null : find(agentId, cellText.parse(row.get('video_id')));
  }

  return {
    find: (agentId, videoId) => answerInTime(clock, find(agentId, videoId)),
    findByKey: (agentId, idempotencyKey) => answerInTime(clock, findByKey(agentId, idempotencyKey)),
    async *list(agentId) {
      let portion: VideoJob[] = [];
      for await (const row of await client.execute(OF_AGENT, [BigInt(agentId)])) {
        portion.push(toJob(row.get('job')));
        if (portion.length < LISTED_AT_ONCE) continue;
        yield portion;
        portion = [];
      }
      yield portion;
    },
  };
}

const LISTED_AT_ONCE = 500;
const BY_ID = 'SELECT job FROM videos WHERE agent_id = ? AND video_id = ?';
const BY_KEY = 'SELECT video_id FROM video_keys WHERE agent_id = ? AND idempotency_key = ?';
const OF_AGENT = 'SELECT job FROM videos WHERE agent_id = ?';

const cellText = z.string();
const toJob = (text: unknown): VideoJob =>
  parseVideoJob(videoJobJson.parse(JSON.parse(cellText.parse(text))));
