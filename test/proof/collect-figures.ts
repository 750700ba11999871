import type { NanoUsd } from '#core/money.ts';
import type { LoadAgent } from '../cluster/call-load.ts';
import type { FaultCluster } from '../cluster/fault-cluster.ts';
import type { Callers } from './callers.ts';
import type { ProofFigures } from './judge.ts';

/** What the ledger, the log, the callers and the provider say, each for itself. */
export async function collectFigures(sources: {
  cluster: FaultCluster;
  agent: LoadAgent;
  callers: Callers;
  grantedNanoUsd: NanoUsd;
  problems: readonly string[];
}): Promise<ProofFigures> {
  const { cluster, callers, grantedNanoUsd } = sources;
  const { agentId } = sources.agent;
  const view = await cluster.ledger.readAgent(agentId);
  if (view === null || view === 'unavailable') throw new Error(`The agent cannot be read: ${view}`);
  const { charges } = cluster.book;
  const bills = new Map(cluster.provider.billed().map((bill) => [bill.generationId, bill.costNanoUsd]));
  const answers = Array.from(callers.shown, ([name, { costNanoUsd, generationId, api, atMs }]) => ({
    name,
    shownNanoUsd: costNanoUsd,
    chargedNanoUsd: charges.get(name) ?? null,
    billedNanoUsd: bills.get(generationId ?? '') ?? null,
    wasKilled: cluster.diedAfter(api, atMs),
  }));
  const ofAgent = [...charges].filter(([name]) => name.startsWith(`${agentId}:`));
  const unseen = ofAgent.filter(([name]) => !callers.shown.has(name));
  const billedNanoUsd = sumOf([...bills.values()]);
  return {
    grantedNanoUsd,
    freeNanoUsd: sumOf(view.lots.map((lot) => lot.freeNanoUsd)),
    heldNanoUsd: sumOf(view.holds.map((hold) => hold.nanoUsd)),
    chargedNanoUsd: view.chargedNanoUsd,
    expiredNanoUsd: view.expiredNanoUsd,
    lowestNanoUsd: least(cluster.book.spendable(agentId)),
    holds: view.holds.length,
    answers,
    unseen: {
      calls: unseen.length,
      chargedNanoUsd: sumOf(unseen.map(([, nanoUsd]) => nanoUsd)),
      billedNanoUsd: billedNanoUsd - sumOf(answers.map((answer) => answer.billedNanoUsd ?? 0n)),
    },
    problems: [...new Set([...sources.problems, ...callers.surprises])],
  };
}

export const sumOf = (amounts: readonly NanoUsd[]): NanoUsd =>
  amounts.reduce<NanoUsd>((sum, amount) => sum + amount, 0n);

const least = (amounts: ReadonlySet<NanoUsd>): NanoUsd =>
  [...amounts].reduce((min, amount) => (amount < min ? amount : min));
