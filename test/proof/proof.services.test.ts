import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { type MachineClock, MINUTE_MS, SECOND_MS, systemClock } from '#core/clock.ts';
import { SHARDS, shardOfAgent } from '#core/ledger/cluster/shards.ts';
import { Settlement } from '../../workers/settlement/settlement.ts';
import type { LoadAgent } from '../cluster/call-load.ts';
import type { FaultCluster } from '../cluster/fault-cluster.ts';
import { describeWith } from '../support/with-services.ts';
import { judge } from './judge.ts';
import { runProof } from './run-proof.ts';
import type { Story } from './story.ts';

const CALLS = Number(process.env.CALLS || 100);
const SEED = Number(process.env.SEED || Date.now() % 1_000_000);
/** Past the two minutes of the orphan rule, and not yet so far that a clock is taken for wrong. */
const AHEAD_MS = 4 * MINUTE_MS;
/** Also where no clock can be moved. */
const TIMEOUT_MS = 8 * MINUTE_MS;

describeWith(['redis', 'kafka', 'cassandra'], `a small proof (seed ${SEED})`, () => {
  test(
    'of $1.00 and many calls at once through processes that are killed and a Redis that is flushed, every promise is kept',
    async () => {
      const told: string[] = [];
      const figures = await runProof({ calls: CALLS, seed: SEED, story: noteIn(told), passTime });
      const verdicts = judge(figures);
      console.log(
        [...told, ...verdicts.map(({ promise, measured }) => `${promise}: ${measured}`)].join('\n'),
      );
      expect(verdicts.filter(({ isKept }) => !isKept)).toEqual([]);
      // A kill that met nothing, or credit that nobody wanted more of, proves nothing.
      expect(figures.unseen.calls).toBeGreaterThan(0);
      expect(told.join('\n')).toMatch(/[1-9]\d* are told that too little is free/);
      const shown = verdicts.map(({ promise, measured }) => `kept ${promise} ${measured}`);
      expect([...told, ...shown].map(shapeOf)).toEqual(await storyOfReadme());
    },
    TIMEOUT_MS,
  );
});

/** Without its figures, and without what only happens in some runs. */
const shapeOf = (line: string): string =>
  line
    .replaceAll(/, \d+ to come again \(503\)| \((?:[\w ]+ \d+(?:, )?)*\)$/g, '')
    .replaceAll(/\$?\d+(?:\.\d+)?/g, 'N')
    .replaceAll(/ +/g, ' ');

/** What the README says that it tells, below its title. */
async function storyOfReadme(): Promise<string[]> {
  const [, block = ''] = /^```text\n([\s\S]*?)^```/m.exec(await readFile('README.md', 'utf8')) ?? [];
  const lines = block.split('\n').filter((line) => line !== '');
  expect(lines).toHaveLength(20);
  return lines.slice(1).map((line) => shapeOf(line.replace(/^ +[\d.]+ s +/, '')));
}

const noteIn = (told: string[]): Story => ({
  title: (text) => void told.push(text),
  tell: (line) => void told.push(line),
  during: (_, work) => work,
  judge: () => undefined,
});

/** Redis' clock goes four minutes ahead, and a settlement loop of our own looks each second, not each minute. */
async function passTime(cluster: FaultCluster, { agentId }: LoadAgent): Promise<AsyncDisposable> {
  cluster.redisClock.aheadBy(cluster.redisClock.moves ? AHEAD_MS / SECOND_MS : 0);
  const clock: MachineClock = { ...systemClock, now: () => systemClock.now() + AHEAD_MS };
  const settlement = new Settlement({
    ledger: cluster.ledger.ofShard(shardOfAgent(agentId, SHARDS)),
    clock,
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    lookUp: async () => null,
    onLoss: () => undefined,
    onCost: () => undefined,
    onPriced: () => undefined,
    logTimeMs: clock.now,
    sweepMs: SECOND_MS,
    firstSweepMs: SECOND_MS,
    knownSinceMs: new Map(),
    isOpen: () => false,
  });
  await settlement.start();
  return { [Symbol.asyncDispose]: async () => settlement.close() };
}
