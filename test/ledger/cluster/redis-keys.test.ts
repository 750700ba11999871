import { expect, test } from 'vitest';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';

test('the keys of an agent’s calls are named after the agent and its shard', () => {
  const keys = new ShardKeys(7);
  for (let agentId = 71; agentId < 71 + 1_000 * 64; agentId += 64) {
    const { running, reserve, settle } = keys.ofCalls(agentId);
    const agent = `faregate:{s07}:a:${agentId}`;
    const own = [agent, `${agent}:holds`, `${agent}:ended`, `${agent}:slots`];
    expect(running).toEqual([keys.meta, keys.outbox, ...own]);
    expect(reserve).toEqual([...running, `${agent}:keys`, keys.open, `${agent}:given-up`]);
    const ofVideos = [keys.videos, `${agent}:videos`, `${agent}:videos-ended`];
    expect(settle).toEqual([...reserve, `${agent}:ended-at`, ...ofVideos]);
  }
});
