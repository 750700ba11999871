import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { startTestGateway, type TestGateway, until } from '../support/gateway.ts';

const ORDER = {
  model: 'faregate-sim/clip',
  prompt: 'A cat that reads a newspaper',
  duration: 2,
  resolution: '480p',
  aspect_ratio: '16:9',
};

interface Job {
  id: string;
  status: string;
  unsigned_urls: string[];
  estimated_cost: number;
  usage: { cost: number } | null;
  error: { code: string } | null;
}

async function order(gateway: TestGateway): Promise<Job> {
  const answer = await gateway.post(ORDER, { path: '/videos' });
  expect(answer.status).toBe(202);
  return (await answer.json()) as Job;
}

async function read(gateway: TestGateway, id: string): Promise<Job> {
  const headers = { authorization: `Bearer ${gateway.agent.key}` };
  return (await (await fetch(`${gateway.baseUrl}/videos/${id}`, { headers })).json()) as Job;
}

async function ended(gateway: TestGateway, id: string): Promise<Job> {
  let job = await read(gateway, id);
  await until(async () => {
    const view = await gateway.view();
    return view.holds.length === 0;
  });
  job = await read(gateway, id);
  return job;
}

test('a video is ordered, made, kept, charged and downloaded', async () => {
  await using gateway = await startTestGateway();
  const job = await ended(gateway, (await order(gateway)).id);
  expect(job).toMatchObject({ status: 'completed', usage: { cost: 0.05 }, error: null });
  expect(gateway.provider.videos()).toHaveLength(1);
  expect(await gateway.view()).toMatchObject({ chargedNanoUsd: 50_000_000n });

  const headers = { authorization: `Bearer ${gateway.agent.key}` };
  const link = await fetch(job.unsigned_urls[0] ?? '', { headers, redirect: 'manual' });
  expect(link.status).toBe(302);
  const file = Buffer.from(await (await fetch(link.headers.get('location') ?? '')).arrayBuffer());
  expect(file.toString('latin1', 4, 8)).toBe('ftyp');
  const read = await gateway.running.deps.store.ledger.readVideo(gateway.agent.agentId, job.id);
  expect(read).toMatchObject({
    end: { file: { bytes: file.length, sha256: createHash('sha256').update(file).digest('hex') } },
  });
  const [call] = await gateway.calls();
  expect(call).toMatchObject({ call: { endpoint: 'videos' }, outcome: 'ok', errorCode: null });
  expect(await gateway.metric('faregate_videos_ended_total', { code: 'ok' })).toBe(1);
  // The worker lets go of a video a moment after its hold is gone.
  await until(async () => (await gateway.metric('faregate_open_videos')) === 0);
  expect(await gateway.metric('faregate_charged_usd_total')).toBeCloseTo(0.05);
});

test('a failed video is charged nothing, and says why', async () => {
  await using gateway = await startTestGateway();
  gateway.provider.next({
    path: '/videos',
    video: { end: 'failed', error: 'Refused by our content policy' },
  });
  const job = await ended(gateway, (await order(gateway)).id);
  expect(job).toMatchObject({ status: 'failed', usage: null, error: { code: 'content_refused' } });
  expect(await gateway.view()).toMatchObject({ chargedNanoUsd: 0n });
  const [call] = await gateway.calls();
  expect(call).toMatchObject({ outcome: 'failed', errorCode: 'content_refused' });
});

test('a submission whose answer is lost ends unknown, free and counted, and is never sent again', async () => {
  await using gateway = await startTestGateway();
  gateway.provider.next({ path: '/videos', cutAt: 'headers' });
  const job = await ended(gateway, (await order(gateway)).id);
  expect(job).toMatchObject({ status: 'failed', error: { code: 'submission_unknown' } });
  expect(gateway.provider.videos()).toHaveLength(1);
  expect(await gateway.metric('faregate_video_submissions_unknown_total')).toBe(1);
  expect(await gateway.view()).toMatchObject({ chargedNanoUsd: 0n });
});
