import { DAY_MS, startOfDayMs } from '#core/clock.ts';
import { SHARDS, shardOfAgent, shardOfKeyHash } from '#core/ledger/cluster/shards.ts';
import type { Command, Reserve, Settle } from '#core/ledger/command.ts';
import { callEnd, callFacts, keyLimits, MINUTES_13, savedPrice } from '../ledger/commands.ts';

/** What makes an agent with a key and with credit that no bench uses up. */
export function openingOf(agentId: number, nowMs: number): Command[] {
  return [
    {
      ...{ type: 'set_agent', agentId, mode: 'create', status: 'active', name: 'Ada', token: null },
      ...{ source: 'bench', sourceVersion: 1 },
    },
    {
      ...{ type: 'put_key', readVersion: null, agentId, keyId: agentId, label: 'k', prefix: 'fg_prefix000' },
      ...{ hash: hashOf(agentId), limit: null, actingKeyId: null, madeOverMcp: false, limits: keyLimits },
    },
    {
      ...{ type: 'grant', agentId, grantId: `g${agentId}`, nanoUsd: 10n ** 14n },
      expiresAtMs: startOfDayMs(nowMs) + 8 * DAY_MS,
    },
  ];
}

export function reserveOf(agentId: number, callId: number, nowMs: number, model = callFacts.model): Reserve {
  return {
    ...{ type: 'reserve', agentId, keyId: agentId, callId, nonce: 'bench', kind: 'text', nanoUsd: 100n },
    ...{ timeLimitMs: MINUTES_13, callerNowMs: nowMs, call: { ...callFacts, model }, price: savedPrice },
    limits: { callsPerMinute: 600_000, burst: 100_000, runningCalls: 10_000, dailyShareNanoUsd: null },
  };
}

export const settleOf = (agentId: number, callId: number): Settle => ({
  ...{ type: 'settle', agentId, callId, costNanoUsd: 7n, end: callEnd, cause: 'end' },
});

/** Of a key that falls into its agent's shard, as every key does. */
function hashOf(agentId: number): string {
  for (let draw = 0; ; draw++) {
    const hash = `hash ${agentId} ${draw}`;
    if (shardOfKeyHash(hash, SHARDS) === shardOfAgent(agentId, SHARDS)) return hash;
  }
}
