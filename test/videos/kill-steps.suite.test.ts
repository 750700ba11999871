import { once } from 'node:events';
import { existsSync, watch } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { killVideos } from '../support/kill-videos.ts';
import {
  openVideoGateway,
  VIDEO_NANO_USD,
  type VideoAnswer,
  type VideoGateway,
} from '../support/video-gateway.ts';

// One kill -9 of a real gateway at each step of a video; the next process has only the folder to go by.

const MADE = { status: 'completed', usage: { cost: 0.05 }, error: null };
const UNKNOWN = { status: 'failed', usage: null, error: { code: 'submission_unknown' } };

const posts = ({ provider }: VideoGateway) =>
  provider.requests().filter(({ method, path }) => method === 'POST' && path.endsWith('/videos')).length;

/** After the kill: the next process ends it so, and leaves nothing behind. */
async function goesOn(gateway: VideoGateway, { id }: VideoAnswer, expected: object): Promise<void> {
  await gateway.start();
  expect(await gateway.ended(id)).toMatchObject(expected);
  await gateway.kill();
  await gateway.audit(async (ledger) => {
    expect(await ledger.listOpenVideos()).toEqual([]);
    expect(await ledger.listHolds()).toEqual([]);
    const agent = await ledger.readAgent(1);
    const charged = expected === MADE ? VIDEO_NANO_USD : 0n;
    expect(agent).toMatchObject({ chargedNanoUsd: charged });
    const job = await ledger.readVideo(1, id);
    if (job === null || job === 'unavailable') throw new Error('the video is lost');
    if (job.end?.file != null)
      expect(existsSync(join(gateway.dataDir, 'files', job.end.file.path))).toBe(true);
  });
}

test('after the claim, before it is sent: unknown, free, never sent', async () => {
  await using gateway = await openVideoGateway();
  // It takes connections and never says a word of TLS: the order waits, claimed, for a connection.
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const connected = once(silent, 'connection');
  await gateway.start(`https://127.0.0.1:${(silent.address() as AddressInfo).port}/api/v1`);
  const { job } = await gateway.order('claimed');
  const [socket] = await connected;
  await gateway.kill();
  socket.destroy();
  silent.close();
  await goesOn(gateway, job, UNKNOWN);
  expect(posts(gateway)).toBe(0);
});

test('after it was sent, before its answer: unknown, free, never sent again', async () => {
  await using gateway = await openVideoGateway();
  gateway.provider.next({ path: '/videos', gate: 'post', gateAt: 5 });
  await gateway.start();
  const { job } = await gateway.order('sent');
  await gateway.provider.reached('post');
  await gateway.kill();
  await goesOn(gateway, job, UNKNOWN);
  expect(posts(gateway)).toBe(1);
  expect(gateway.provider.videos()).toHaveLength(1);
});

test('between submission and poll: made', async () => {
  await using gateway = await openVideoGateway();
  gateway.provider.next({ path: '/videos/{id}', gate: 'poll' });
  await gateway.start();
  const { job } = await gateway.order('polled');
  await gateway.provider.reached('poll');
  await gateway.kill();
  await goesOn(gateway, job, MADE);
  expect(gateway.provider.videos()).toHaveLength(1);
});

test('in the download: fetched again, charged once', async () => {
  await using gateway = await openVideoGateway();
  gateway.provider.next({ path: '/videos/{id}/content', gate: 'content', gateAt: 500 });
  await gateway.start();
  const { job } = await gateway.order('downloaded');
  await gateway.provider.reached('content');
  await gateway.kill();
  await goesOn(gateway, job, MADE);
  expect(gateway.provider.videos()).toEqual([expect.objectContaining({ downloads: 2 })]);
});

test('as its file appears, around the settle: charged once', async () => {
  await using gateway = await openVideoGateway();
  await gateway.start();
  const written = new Promise<void>((resolve) => {
    const watcher = watch(gateway.dataDir, { recursive: true }, (_event, path) => {
      if (path === null || !/videos\/.*\.mp4$/.test(path)) return;
      watcher.close();
      resolve();
    });
  });
  const { job } = await gateway.order('written');
  await written;
  await gateway.kill();
  await goesOn(gateway, job, MADE);
  expect(gateway.provider.videos()).toHaveLength(1);
});

test('after the settle: charged once, and asked for no more', async () => {
  await using gateway = await openVideoGateway();
  await gateway.start();
  const { job } = await gateway.order('settled');
  await gateway.ended(job.id);
  await gateway.kill();
  const seen = gateway.provider.requests().length;
  await goesOn(gateway, job, MADE);
  expect(
    gateway.provider
      .requests()
      .slice(seen)
      .filter(({ path }) => /\/videos\/[^m]/.test(path)),
  ).toEqual([]);
});

test('a repeat of the order after the kill finds the same video', async () => {
  await using gateway = await openVideoGateway();
  gateway.provider.next({ path: '/videos/{id}', gate: 'poll' });
  await gateway.start();
  const { job } = await gateway.order('the same');
  await gateway.provider.reached('poll');
  await gateway.kill();
  await gateway.start();
  expect((await gateway.order('the same')).job.id).toBe(job.id);
  await gateway.ended(job.id);
  expect((await gateway.order('the same')).job.id).toBe(job.id);
  expect(gateway.provider.videos()).toHaveLength(1);
});

test('six kills at random moments, under load', async () => {
  const summary = await killVideos(6, Date.now() % 1_000_000);
  console.log(summary);
  // A run that made nothing proved nothing.
  expect(summary.made).toBeGreaterThan(20);
});
