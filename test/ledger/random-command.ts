import { MINUTE_MS } from '#core/clock.ts';
import { SHARDS, shardOfAgent, shardOfKeyHash } from '#core/ledger/cluster/shards.ts';
import type { Command } from '#core/ledger/command.ts';
import { callIdAt, day, START_MS, type World } from './case.ts';
import {
  changeKey,
  claimVideo,
  expire,
  finish,
  grant,
  moveIn,
  moveOut,
  putKey,
  renew,
  reserve,
  reserveVideo,
  revokeKey,
  setAgent,
  settle,
  startUpload,
  submitVideo,
  videoFile,
  withdrawVideo,
} from './commands.ts';
import { type Draw, pick } from './history/random.ts';

/** In the hashes of the keys. */
export const PEPPER_ID = 'test';

/** One that a cluster could find: in the shard of its agent. */
export function hashOf(agentId: number, keyId: number): string {
  const known = hashes.get(keyId);
  if (known !== undefined) return known;
  for (let n = 0; ; n++) {
    const hash = `${PEPPER_ID}.${keyId}.${n}`;
    if (shardOfKeyHash(hash, SHARDS) !== shardOfAgent(agentId, SHARDS)) continue;
    hashes.set(keyId, hash);
    return hash;
  }
}
const hashes = new Map<number, string>();

/** Of three agents, their keys and forty calls whose ids were made at one time. */
export function randomCommand(random: Draw, world: World): Command {
  const agentId = 1 + random(3);
  const key = { agentId, keyId: agentId * 10 + random(2) };
  const call = random(40);
  const callId = callIdAt(START_MS + 8 * MINUTE_MS, call);
  const amount = BigInt(random(30));
  const operations = [
    () => reserve(call, amount, { ...key, callId, kind: random(9) === 0 ? 'video' : 'text' }),
    () => reserve(call, amount, { ...key, callId }),
    () => {
      const idempotencyKey = random(3) === 0 ? null : `order-${random(9)}`;
      return reserveVideo(call, amount, { idempotencyKey }, { ...key, callId });
    },
    () => reserve(call, amount, { ...key, callId, kind: 'image' }),
    () => claimVideo(call, { agentId, callId, nonce: `worker-${random(2)}` }),
    () => submitVideo(call, { agentId, callId, nonce: `worker-${random(2)}`, providerJobId: `job-${call}` }),
    () => withdrawVideo(call, { agentId, callId, nonce: `worker-${random(2)}` }),
    () => settle(call, amount, { agentId, callId }),
    () => settle(call, amount, { agentId, callId, video: videoFile, stored: { bytes: 9, untilMs: day(7) } }),
    () => finish(call, { agentId, callId }),
    () =>
      renew(call, {
        agentId,
        callId,
        generationId: random(2) === 0 ? null : `gen-${random(3)}`,
        holdsSlot: random(3) > 0,
      }),
    () => grant(amount + 1n, { agentId, grantId: `grant-${random(12)}`, expiresAtMs: day(1 + random(8)) }),
    () => moveOut(`trade-${random(9)}`, amount, { agentId, expiresAtMs: day(1 + random(8)) }),
    () => moveIn(`trade-${random(9)}`, amount, { agentId, expiresAtMs: day(random(9)) }),
    () => expire(agentId),
    () => putKey(key.keyId, { agentId, label: `label ${random(4)}`, hash: hashOf(agentId, key.keyId) }),
    () => {
      const limit = { limitNanoUsd: amount + 1n, reset: 'daily' } as const;
      const label = random(2) === 0 ? null : `label ${random(4)}`;
      return changeKey(key.keyId, { agentId, label, limit: pick(random, ['keep', 'keep', null, limit]) });
    },
    () => startUpload(`upl_${random(30)}`, { agentId, limits: { uploadsPerDay: 4 } }),
    () => (random(6) === 0 ? revokeKey(key.keyId, { agentId }) : renew(call, { agentId, callId })),
    () => setAgent({ agentId, sourceVersion: random(9), status: random(9) === 0 ? 'suspended' : 'active' }),
  ];
  return (operations[random(operations.length)] ?? (() => expire(1)))()(world);
}
