import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatUsd } from '#core/money.ts';
import type { Agent } from '../bench/prepare-agents.ts';
import { describeMetrics, describeTable } from '../metrics/describe-metrics.ts';
import { until } from '../support/gateway.ts';
import { describeWith } from '../support/with-services.ts';
import { startBalancer } from './balancer.ts';
import { type DrainCluster, startDrainCluster } from './drain-cluster.ts';
import { startRollingLoad } from './rolling-load.ts';

const STREAM_MS = 3_000;
/** Several times as long as the balancer needs to notice on a busy machine, whose probes take seconds. */
const NOTICE = ', drainNoticeMs: 6000';

describeWith(['redis', 'kafka', 'cassandra'], 'API processes that are restarted', () => {
  let cluster: DrainCluster;
  beforeAll(async () => {
    cluster = await startDrainCluster();
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  /** Once nothing is held any more: what all of them paid. */
  async function chargedNanoUsd(agents: readonly Agent[]): Promise<bigint> {
    const views = () => Promise.all(agents.map((agent) => cluster.view(agent)));
    await until(async () => (await views()).every(({ holds }) => holds.length === 0), 30_000);
    return (await views()).reduce((sum, view) => sum + view.chargedNanoUsd, 0n);
  }

  test('three of them, one after the other, under load: no call fails, no stream is cut, the money is exact', async () => {
    const pods = await Promise.all([0, 1, 2].map((at) => cluster.startApi(`old-${at}`, NOTICE)));
    const [first] = pods;
    if (first === undefined) throw new Error('no process');
    const balancer = await startBalancer();
    for (const pod of pods) balancer.add(pod);
    await until(() => balancer.targets().length === pods.length);
    const agents = await cluster.newAgents(first, 4);
    const billedBefore = cluster.provider.billedNanoUsd();
    const load = startRollingLoad({
      ...{ url: balancer.url, agents, provider: cluster.provider, streamMs: STREAM_MS },
    });
    await load.begun;

    const began = performance.now();
    const drains: string[] = [];
    for (const [at, old] of pods.entries()) {
      const fresh = await cluster.startApi(`new-${at}`, NOTICE);
      balancer.add(fresh);
      await until(() => balancer.targets().includes(fresh.name));
      const open = await old.process.metric('faregate_open_streams');
      expect(open).toBeGreaterThan(0);
      const sentAt = performance.now();
      expect(await old.process.stop('SIGTERM')).toBe(0);
      drains.push(`${open} streams in ${Math.round(performance.now() - sentAt)} ms`);
    }
    const tookMs = performance.now() - began;
    const { calls, streams, failed, cut, shownNanoUsd } = await load.stop();
    await balancer.close();
    const charged = await chargedNanoUsd(agents);
    const billed = cluster.provider.billedNanoUsd() - billedBefore;
    console.log(
      `rolling restart of 3: ${calls} calls and ${streams} streams in ${Math.round(tookMs)} ms, ${failed.length} failed, ` +
        `${cut.length} cut; drained ${drains.join(', ')}; charged ${formatUsd(charged)}, shown ` +
        `${formatUsd(shownNanoUsd)}, billed ${formatUsd(billed)}`,
    );
    expect({ failed, cut }).toEqual({ failed: [], cut: [] });
    expect(charged).toBe(billed);
    expect(charged).toBe(shownNanoUsd);
  });

  test('one whose drain has no more time ends its streams by an error, and what it wrote is charged by the worker', async () => {
    const pod = await cluster.startApi('short', ', drainMs: 1000');
    const agents = await cluster.newAgents(pod, 1);
    const billedBefore = cluster.provider.billedNanoUsd();
    const load = startRollingLoad({
      ...{ url: `http://127.0.0.1:${pod.port}`, agents, provider: cluster.provider, streamMs: 60_000 },
    });
    await load.begun;
    const sentAt = performance.now();
    const exit = pod.process.stop('SIGTERM');
    const stopped = load.stop();
    expect(await exit).toBe(0);
    const tookMs = Math.round(performance.now() - sentAt);
    const { streams, cut } = await stopped;
    const charged = await chargedNanoUsd(agents);
    const billed = cluster.provider.billedNanoUsd() - billedBefore;
    console.log(`forced end: ${cut.length} of ${streams} streams ended in ${tookMs} ms, charged ${charged}`);
    expect(cut).toHaveLength(streams);
    for (const end of cut) expect(end).toMatch(/"code":"upstream_timeout"[^\n]*\n\ndata: \[DONE\]\n\n$/);
    expect(tookMs).toBeGreaterThan(1_000);
    expect(charged).toBe(billed);
    expect(await readFile(pod.output, 'utf8')).toContain('the drain has no more time');
  });

  test('the table of metrics is what an API process and its worker tell', async () => {
    const pod = await cluster.startApi('described');
    expect(await describeMetrics(pod.internalUrl)).toEqual(describeTable('api'));
    expect(await describeMetrics(cluster.worker.internalUrl)).toEqual(
      describeTable('settlement', 'projector'),
    );
    await pod.process.stop();
  });
});
