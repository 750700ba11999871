import { crc32 } from 'node:zlib';

/** Fixed at install: an agent's shard is its place in Redis, in the log and in the history for ever. */
export const SHARDS = 64;

export const shardOfAgent = (agentId: number, shards: number): number => agentId % shards;

/**
 * Keys are drawn until their hash falls into their agent's shard, so that a key is made, found and revoked in one step
 * with its agent, behind the same fence.
 */
export const shardOfKeyHash = (hash: string, shards: number): number => crc32(hash) % shards;
