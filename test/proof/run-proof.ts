import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND_MS } from '#core/clock.ts';
import { ORPHAN_GRACE_MS } from '#core/limits.ts';
import { formatUsd } from '#core/money.ts';
import type { LoadAgent } from '../cluster/call-load.ts';
import { FaultCluster } from '../cluster/fault-cluster.ts';
import { findProblems } from '../cluster/find-problems.ts';
import { createDraw } from '../ledger/history/random.ts';
import { until, usd } from '../support/gateway.ts';
import { type CallerCounts, type Callers, startCallers } from './callers.ts';
import { collectFigures, sumOf } from './collect-figures.ts';
import type { ProofFigures } from './judge.ts';
import type { Story } from './story.ts';

export interface ProofOptions {
  calls: number;
  seed: number;
  story: Story;
  /** Ends everything and rejects. */
  signal?: AbortSignal;
  /** What a test does so that the two minutes of the orphan rule go by at once. */
  passTime?: (cluster: FaultCluster, agent: LoadAgent) => Promise<AsyncDisposable>;
}

const CREDIT_NANO_USD = usd('1');
/** A call's time limit, which the rule for holds of dead processes waits for. Every answer here is shorter. */
const TIME_LIMIT_MS = 10 * SECOND_MS;
const DECIDED_WITHIN_MS = 60 * SECOND_MS;
/** Two minutes behind time limit and flush, a look each minute, and a busy machine. */
const SETTLED_WITHIN_MS = 2 * ORPHAN_GRACE_MS + 2 * TIME_LIMIT_MS;
const POLL_MS = 500;

/** Starts a whole cluster, tells what becomes of it, and answers what its stores, its callers and the provider say. */
export async function runProof(options: ProofOptions): Promise<ProofFigures> {
  const { story, signal } = options;
  const starting = FaultCluster.start({ streamMs: TIME_LIMIT_MS });
  const what =
    'Redis, Kafka, Cassandra, 3 API processes and 2 workers start (Kafka and Cassandra are fetched once)';
  await using cluster = await story.during(() => what, starting);
  signal?.throwIfAborted();
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return await Promise.race([prove(cluster, options), aborted]);
}

async function prove(cluster: FaultCluster, options: ProofOptions): Promise<ProofFigures> {
  const { calls, seed, story, passTime } = options;
  const draw = createDraw(seed);
  const agent = await cluster.newAgent(CREDIT_NANO_USD);
  const { apis, workers } = cluster;
  story.tell(
    `${apis.length} API processes, ${workers.length} workers, real Redis, Kafka and Cassandra are ready`,
  );

  await using callers = startCallers({ cluster, agent, calls, draw });
  const first = await story.during(
    () => `${calls} calls are decided`,
    untilAllTried(cluster, agent, callers, calls),
  );
  const most = first.reduce((max, { nanoUsd }) => (nanoUsd > max ? nanoUsd : max), 0n);
  story.tell(
    `An agent with $${formatUsd(CREDIT_NANO_USD)} sent ${calls} calls at once, which cost up to $${formatUsd(most * BigInt(calls))}`,
  );
  const { refused: tooLittle } = callers.counts;
  const unheard = unavailableOf(callers.counts);
  story.tell(
    `${first.length} run and hold $${formatUsd(sumOf(first.map(({ nanoUsd }) => nanoUsd)))}; ` +
      `${tooLittle} are told that too little is free${unheard > 0 ? `, ${unheard} to come again (503)` : ''}, and ask again`,
  );

  await sleep(draw(SECOND_MS));
  const running = await holdsOf(cluster, agent);
  const victim = apiWithMost(running, agent);
  story.tell(`kill -9 of API process ${victim + 1}, with ${countOf(running, agent, victim)} calls running`);
  const killedAtMs = performance.now();
  await cluster.killApi(victim);
  await cluster.apis[victim]?.start();
  await again(story, callers, 'It was started anew', killedAtMs);

  await sleep(draw(SECOND_MS));
  story.tell(
    `FLUSHALL: Redis forgets all it knew, with ${(await holdsOf(cluster, agent)).length} calls running`,
  );
  const flushedAtMs = performance.now();
  await cluster.redis.ask('main', (client) => client.flushall());
  await again(story, callers, "Redis was rebuilt from Kafka's log", flushedAtMs);

  // By then no killed call is within its time limit: whoever leads its shard from here on frees its hold at the second look.
  await sleep(Math.max(draw(SECOND_MS), killedAtMs + TIME_LIMIT_MS - performance.now()));
  story.tell(
    `kill -9 of all workers, with ${(await holdsOf(cluster, agent)).length} calls running: nobody writes the log`,
  );
  const leftAtMs = performance.now();
  await Promise.all(workers.map((worker) => worker.stop('SIGKILL')));
  await Promise.all(workers.map((_, worker) => cluster.startWorker(worker)));
  await again(story, callers, 'They were started anew', leftAtMs);

  await story.during(() => 'The last calls end', callers.stop());
  const { answered, cut, neverLetIn, refused, unavailableBy } = callers.counts;
  const codes = Object.entries(unavailableBy).map(([code, count]) => `${code} ${count}`);
  story.tell(
    `The callers leave: ${answered} answered with their cost, ${cut} cut off, ${neverLetIn} never let in`,
  );
  story.tell(
    `On the way: ${refused} refusals for want of free credit, ${unavailableOf(callers.counts)} while something was away (${codes.join(', ')})`,
  );
  await using _ = await passTime?.(cluster, agent);
  const problems = await untilSettled(cluster, agent, callers, story);
  story.tell('No event waits, no call runs: the accounts are closed');
  return collectFigures({ cluster, agent, callers, grantedNanoUsd: CREDIT_NANO_USD, problems });
}

const unavailableOf = ({ unavailableBy }: CallerCounts): number =>
  Object.values(unavailableBy).reduce((sum, count) => sum + count, 0);

async function holdsOf(cluster: FaultCluster, { agentId }: LoadAgent) {
  const view = await cluster.ledger.readAgent(agentId);
  return view === null || view === 'unavailable' ? [] : view.holds;
}

type Holds = Awaited<ReturnType<typeof holdsOf>>;

/** Resolves with what is held once every caller has been answered, refused or let in. */
async function untilAllTried(
  cluster: FaultCluster,
  agent: LoadAgent,
  callers: Callers,
  calls: number,
): Promise<Holds> {
  let holds: Holds = [];
  await until(async () => {
    holds = await holdsOf(cluster, agent);
    return holds.length > 0 && callers.counts.triedOnce + holds.length >= calls;
  }, DECIDED_WITHIN_MS);
  return holds;
}

/** Waits until each API process has decided a call that was sent from now on, and says how long after the fault that is. */
async function again(story: Story, callers: Callers, what: string, faultAtMs: number): Promise<void> {
  await story.during(() => `${what}; calls wait to be decided`, callers.untilDecided(DECIDED_WITHIN_MS));
  const tookMs = performance.now() - faultAtMs;
  story.tell(`${what}: every API process decides calls ${(tookMs / SECOND_MS).toFixed(1)} s after the fault`);
}

const countOf = (holds: Holds, agent: LoadAgent, api: number): number =>
  holds.filter(({ keyId }) => keyId === agent.keys[api]?.keyId).length;

function apiWithMost(holds: Holds, agent: LoadAgent): number {
  const counts = agent.keys.map((_, api) => countOf(holds, agent, api));
  return counts.indexOf(Math.max(...counts));
}

/** Answers what is still wrong when it has waited long enough. */
async function untilSettled(
  cluster: FaultCluster,
  agent: LoadAgent,
  { shown }: Callers,
  story: Story,
): Promise<readonly string[]> {
  let orphans = 0;
  let problems: readonly string[] = [];
  const settled = until(async () => {
    await sleep(POLL_MS);
    const found = await findProblems(cluster, [agent], shown).catch((error: unknown) => ({
      problems: [`cannot be compared: ${error}`],
      orphans: 0,
    }));
    ({ orphans, problems } = found);
    return problems.length === 0 && orphans === 0;
  }, SETTLED_WITHIN_MS).catch(() => undefined);
  const waiting = () =>
    orphans > 0
      ? `${orphans} holds of the killed process wait for the rule that frees them: two minutes past their time limit`
      : 'The last events go to the log and to Cassandra';
  await story.during(waiting, settled);
  return problems;
}
