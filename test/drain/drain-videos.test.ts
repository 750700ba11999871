import { afterEach, expect, it } from 'vitest';
import { SECOND_MS } from '#core/clock.ts';
import { VIDEO_SUBMIT_MS } from '#core/limits.ts';
import { Video } from '../../api/contract/video.ts';
import { testDataDir } from '../support/data-dir.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { hello, startTestGateway, until } from '../support/gateway.ts';
import { startTestProvider } from '../support/provider.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A gateway on a clock of its own, with a stream that keeps its drain from ending before its time. */
async function startBusy(drainMs: number) {
  const clock = createFakeClock();
  const folder = await testDataDir();
  const provider = await startTestProvider();
  stops.push(
    async () => folder[Symbol.asyncDispose](),
    () => provider.close(),
  );
  const yaml = `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1, drainMs: ${drainMs} }
providers: [{ id: sim, kind: simulator, baseUrl: PROVIDER_URL }]
`;
  const start = async () => {
    const gateway = await startTestGateway({ clock, provider, dataDir: folder.path, yaml });
    stops.push(() => gateway.stop());
    return gateway;
  };
  const gateway = await start();
  provider.next({ path: '/chat/completions', chunks: 4, gate: 'stream', gateAt: 600 });
  const stream = await gateway.post({ ...hello(), stream: true });
  void stream.text().catch(() => '');
  await provider.reached('stream');
  const passUntil = (condition: () => boolean | Promise<boolean>) =>
    until(() => {
      clock.advance(SECOND_MS / 10);
      return condition();
    });
  const order = async () => {
    const frame = { duration: 2, resolution: '480p', aspect_ratio: '16:9' };
    const body = { model: 'faregate-sim/clip', prompt: 'A boat.', ...frame };
    const res = await gateway.post(body, { path: '/videos' });
    expect(res.status).toBe(202);
    return Video.parse(await res.json());
  };
  /** How it ended, seen by the process behind this one. */
  const endOf = async ({ id }: Video) => {
    const next = await start();
    let video: Video | null = null;
    await passUntil(async () => {
      const headers = { authorization: `Bearer ${gateway.agent.key}` };
      video = Video.parse(await (await fetch(`${next.baseUrl}/videos/${id}`, { headers })).json());
      return video.status === 'completed' || video.status === 'failed';
    });
    return video;
  };
  const passUntilDrained = async (drained: Promise<void>) => {
    let isOver = false;
    void drained.then(() => {
      isOver = true;
    });
    await passUntil(() => isOver);
  };
  return { clock, provider, gateway, order, endOf, passUntil, passUntilDrained };
}

it('a video that is being handed to its provider when a drain is cut gets its answer, and is made and paid once', async () => {
  const { clock, provider, gateway, order, endOf, passUntilDrained } = await startBusy(1_000);
  provider.next({ path: '/videos', gate: 'submit', gateAt: 'headers' });
  const ordered = await order();
  await provider.reached('submit');
  const drained = gateway.running.drain();
  await until(() => gateway.running.deps.gateway.capacity.ending);
  clock.advance(SECOND_MS);
  await until(() => gateway.running.deps.gateway.openCalls.size === 0);
  provider.release('submit');
  await passUntilDrained(drained);
  expect(await endOf(ordered)).toMatchObject({ status: 'completed' });
  expect(provider.videos()).toHaveLength(1);
});

it('in the last minute of a drain no video is handed over any more: the next process does it', async () => {
  const { clock, provider, gateway, order, endOf, passUntil, passUntilDrained } =
    await startBusy(VIDEO_SUBMIT_MS);
  provider.next({ path: '/videos', status: 429 }, { path: '/videos', gate: 'submit', gateAt: 'headers' });
  const ordered = await order();
  const sent = () => provider.requests().filter(({ path }) => path.endsWith('/videos')).length;
  await passUntil(() => sent() === 1);
  const drained = gateway.running.drain();
  await until(() => gateway.running.deps.gateway.capacity.ending);
  clock.advance(VIDEO_SUBMIT_MS / 2);
  await passUntilDrained(drained);
  expect(sent()).toBe(1);
  provider.reset();
  expect(await endOf(ordered)).toMatchObject({ status: 'completed' });
  expect(provider.videos()).toHaveLength(1);
});
