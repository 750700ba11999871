import { setTimeout as sleep } from 'node:timers/promises';
import { DAY_MS, isoTime } from '#core/clock.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { auditAgent } from '../../api/admin/audit-agent.ts';
import type { CallLoad, LoadAgent, Shown } from './call-load.ts';
import type { FaultCluster } from './fault-cluster.ts';
import { callName } from './log-book.ts';

/** No clock here is further from the right time. */
const CLOCK_DAYS = 4;

export interface Comparison {
  problems: string[];
  /** Calls whose charge ended below the cost that was shown: their process died before their settle was safe. */
  lower: number;
  /** Calls of killed processes, which hold their credit until the orphan rule frees it. */
  orphans: number;
}

/**
 * What is not as it has to be once everything is quiet: outbox, holds, and the money of each agent by Redis, by the log
 * and by Cassandra. Some of it only needs a moment more, so whoever asks asks again.
 */
export async function findProblems(
  cluster: FaultCluster,
  agents: readonly LoadAgent[],
  shown: ReadonlyMap<string, Shown>,
): Promise<Comparison> {
  const { book } = cluster;
  await book.readOn();
  const told = compareShown(cluster, shown);
  const problems = [...(await findWaitingEvents(cluster)), ...book.problems, ...told.problems];
  let orphans = 0;
  for (const agent of agents) {
    const compared = await compareAgent(cluster, agent);
    problems.push(...compared.problems.map((problem) => `agent ${agent.agentId}: ${problem}`));
    orphans += compared.orphans;
  }
  return { problems, lower: told.lower, orphans };
}

/** Rejects with what is still wrong. */
export async function untilMoneyIsRight(
  cluster: FaultCluster,
  agents: readonly LoadAgent[],
  { shown, surprises }: Pick<CallLoad, 'shown' | 'surprises'>,
  { withinMs = RIGHT_WITHIN_MS, mayHaveOrphans = true },
): Promise<Comparison> {
  const giveUpAtMs = performance.now() + withinMs;
  for (;;) {
    // A wrong answer does not become right by waiting. Other problems may need a moment, and would hide it here.
    if (surprises.length > 0) throw new Error(surprises.slice(0, 20).join('\n'));
    const found = await findProblems(cluster, agents, shown).catch(
      (error): Comparison => ({ problems: [`cannot be compared: ${error}`], lower: 0, orphans: 0 }),
    );
    const { problems } = found;
    if (found.orphans > 0 && !mayHaveOrphans) problems.push(`${found.orphans} orphans still hold`);
    if (problems.length === 0) return found;
    if (performance.now() > giveUpAtMs) throw new Error(problems.slice(0, 20).join('\n'));
    await sleep(POLL_MS);
  }
}

const RIGHT_WITHIN_MS = 60_000;
const POLL_MS = 200;

async function findWaitingEvents(cluster: FaultCluster): Promise<string[]> {
  return cluster.redis.ask('main', async (client) => {
    const lengths = await Promise.all(
      Array.from({ length: SHARDS }, (_, shard) => client.xlen(new ShardKeys(shard).outbox)),
    );
    return lengths.flatMap((length, shard) =>
      length === 0 ? [] : [`shard ${shard} has ${length} events in its outbox`],
    );
  });
}

/** Rule 8: what was shown is what was charged, or more than it where the process died before its settle was safe. */
function compareShown(
  cluster: FaultCluster,
  shown: ReadonlyMap<string, Shown>,
): { problems: string[]; lower: number } {
  const problems: string[] = [];
  let lower = 0;
  for (const [name, { costNanoUsd, api, atMs }] of shown) {
    const charged = cluster.book.charges.get(name);
    if (charged === costNanoUsd) continue;
    const isLower = charged === undefined || charged < costNanoUsd;
    if (isLower && cluster.diedAfter(api, atMs)) lower++;
    else problems.push(`call ${name} was shown ${costNanoUsd} and charged ${charged}`);
  }
  return { problems, lower };
}

async function compareAgent(
  cluster: FaultCluster,
  agent: LoadAgent,
): Promise<{ problems: string[]; orphans: number }> {
  const { agentId } = agent;
  const view = await cluster.ledger.readAgent(agentId);
  if (view === null || view === 'unavailable') return { problems: [`not readable: ${view}`], orphans: 0 };
  // At no time: how long a hold may stand is checked here by whose call it is.
  const problems = auditAgent(view, 0);
  const orphans = view.holds.filter((hold) => cluster.isOrphan(agent, hold));
  const stuck = view.holds.filter((hold) => !orphans.includes(hold));
  if (stuck.length > 0) problems.push(`${stuck.map((hold) => hold.callId)} still hold`);
  if (view.expiredNanoUsd > 0n) problems.push('credit expired before its day');

  const logged = cluster.book.agent(agentId);
  const settled = { calls: 0, nanoUsd: 0n };
  for (const [name, charged] of cluster.book.charges) {
    if (!name.startsWith(`${agentId}:`)) continue;
    settled.calls++;
    settled.nanoUsd += charged;
  }
  const charged = view.chargedNanoUsd;
  if (logged.version !== view.version || logged.chargedNanoUsd !== charged || settled.nanoUsd !== charged) {
    problems.push(`charged ${charged} by Redis, ${logged.chargedNanoUsd} and ${settled.nanoUsd} by the log`);
  }
  const calls = await cluster.history.list({ agentId, limit: settled.calls + 1 });
  const day = (atMs: number) => isoTime(atMs).slice(0, 10);
  const [fromDay, toDay] = [day(Date.now() - CLOCK_DAYS * DAY_MS), day(Date.now() + CLOCK_DAYS * DAY_MS)];
  const usage = await cluster.history.usage({ agentId, fromDay, toDay });
  if (calls === 'unavailable' || usage === 'unavailable') {
    problems.push('Cassandra does not answer');
    return { problems, orphans: orphans.length };
  }
  for (const { callId, chargedNanoUsd } of calls) {
    if (cluster.book.charges.get(callName(agentId, callId)) === chargedNanoUsd) continue;
    problems.push(`Cassandra has ${chargedNanoUsd} for call ${callId}`);
  }
  const counted = usage.reduce((sum, row) => sum + row.calls, 0);
  const used = usage.reduce((sum, row) => sum + row.chargedNanoUsd, 0n);
  if (calls.length !== settled.calls || counted !== settled.calls || used !== charged) {
    problems.push(
      `${settled.calls} calls for ${charged}, but Cassandra lists ${calls.length} and counts ${counted} for ${used}`,
    );
  }
  return { problems, orphans: orphans.length };
}
