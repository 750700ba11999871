import { Agent } from 'undici';
import { parseNanoUsd } from '#core/money.ts';
import { createDraw, type Draw } from '../ledger/history/random.ts';
import { until, usd } from '../support/gateway.ts';
import { askChat } from './ask-chat.ts';
import type { FaultCluster } from './fault-cluster.ts';

export interface StormSummary {
  rounds: number;
  started: number;
  refused: number;
  /** Refused, by status. */
  statuses: Record<number, number>;
  problems: string[];
}

const MODEL = 'faregate-sim/large';
const CREDIT_USD = '1';
const CALLS = 200;
/** With the prompt's bound they hold from $0.01 to $0.10. */
const TOKENS_MIN = 1_150;
const TOKENS_MAX = 12_200;
const LEAST_HOLD_NANO_USD = usd('0.01');
const MOST_HOLD_NANO_USD = usd('0.1');
const DECIDED_MS = 30_000;

/**
 * In each round an agent with $1.00, and 200 calls at once through all API processes; none of those that started ends
 * before all are decided. Every refusal for want of credit has to be one that the log justifies.
 */
export async function runStorm(cluster: FaultCluster, rounds: number, seed: number): Promise<StormSummary> {
  const draw = createDraw(seed);
  const dispatcher = new Agent({ connections: null });
  const summary: StormSummary = { rounds: 0, started: 0, refused: 0, statuses: {}, problems: [] };
  try {
    while (summary.rounds < rounds && summary.problems.length === 0) {
      await runRound({ cluster, dispatcher, draw, summary, name: `Storm ${seed}-${summary.rounds}:` });
      summary.rounds++;
    }
    return summary;
  } finally {
    await dispatcher.destroy();
  }
}

interface Round {
  cluster: FaultCluster;
  dispatcher: Agent;
  draw: Draw;
  summary: StormSummary;
  name: string;
}

async function runRound({ cluster, dispatcher, draw, summary, name }: Round): Promise<void> {
  const { provider, baseUrls } = cluster;
  const agent = await cluster.newAgent(usd(CREDIT_USD));
  provider.always({ prefix: name, gate: name, text: 'Done.' });
  let refused = 0;
  const sent = Array.from({ length: CALLS }, async (_, i) => {
    const api = i % baseUrls.length;
    const maxTokens = TOKENS_MIN + draw(TOKENS_MAX - TOKENS_MIN);
    const answer = await askChat({
      dispatcher,
      baseUrl: baseUrls[api] ?? '',
      key: agent.keys[api]?.key ?? '',
      body: { model: MODEL, messages: [{ role: 'user', content: `${name} hello` }], max_tokens: maxTokens },
    });
    if (answer.status !== 200) refused++;
    return answer;
  });
  await until(() => refused + provider.waitingAt(name) === CALLS, DECIDED_MS);
  const view = await cluster.ledger.readAgent(agent.agentId);
  provider.release(name);
  const answers = await Promise.all(sent);

  const problem = (text: string) => void summary.problems.push(`${name} ${text}`);
  if (view === null || view === 'unavailable') return problem('the agent could not be read');
  const heldNanoUsd = view.holds.reduce((sum, hold) => sum + hold.nanoUsd, 0n);
  if (heldNanoUsd > usd(CREDIT_USD)) problem(`${heldNanoUsd} was held`);
  for (const { nanoUsd } of view.holds) {
    if (nanoUsd < LEAST_HOLD_NANO_USD || nanoUsd > MOST_HOLD_NANO_USD) problem(`a call held ${nanoUsd}`);
  }
  await cluster.book.readOn();
  const spendable = cluster.book.spendable(agent.agentId);
  for (const { status, text } of answers) {
    if (status === 200) summary.started++;
    else {
      summary.refused++;
      summary.statuses[status] = (summary.statuses[status] ?? 0) + 1;
      if (![402, 429, 503].includes(status)) problem(`answered ${status}: ${text}`);
      if (status === 402 && !isJustified(text, spendable)) problem(`the log does not justify: ${text}`);
    }
  }
  const [firstProblem] = cluster.book.problems;
  if (firstProblem !== undefined) problem(firstProblem);
}

/** It names what the call would hold and what was free, and the log says that there was so much, and no more, at one time. */
function isJustified(text: string, spendable: ReadonlySet<bigint>): boolean {
  const found = /would hold \$([\d.]+), but \$([\d.]+) is spendable/.exec(text);
  const [hold, free] = [parseNanoUsd(found?.[1] ?? ''), parseNanoUsd(found?.[2] ?? '')];
  return hold !== null && free !== null && hold > free && spendable.has(free);
}
