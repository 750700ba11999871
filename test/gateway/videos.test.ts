import { Client } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DAY_MS, MINUTE_MS, SECOND_MS, systemClock } from '#core/clock.ts';
import { VIDEO_KEPT_MS } from '#core/limits.ts';
import { listCalls } from '../../api/account/list-calls.ts';
import { readUsage } from '../../api/account/read-account.ts';
import { Video } from '../../api/contract/video.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { startTestGateway, type TestAgent, type TestGateway, until, usd } from '../support/gateway.ts';
import { rawRequest } from '../support/raw-http.ts';
import { sharedCluster } from '../support/shared-cluster.ts';

const onCluster = sharedCluster() !== undefined;
/** A cluster's workers and stores live in real time. */
const fake: FakeClock | null = onCluster ? null : createFakeClock();
const clock = fake ?? systemClock;
/** A worker in real time looks at a provider each ten seconds. */
const ENDED_WITHIN_MS = 50 * SECOND_MS;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ clock });
});
afterAll(async () => {
  // They count in the pool that all tests on a cluster share.
  await until(async () => {
    fake?.advance(SECOND_MS);
    return (await gateway.running.deps.store.ledger.listOpenVideos())?.length === 0;
  }, ENDED_WITHIN_MS);
  await gateway.stop();
});

const order = (extra: object = {}) => ({
  model: 'faregate-sim/clip',
  prompt: 'A paper boat.',
  duration: 2,
  resolution: '480p',
  aspect_ratio: '16:9',
  ...extra,
});

/** One white pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mP4DwABAQEAG7buVgAAAABJRU5ErkJggg==',
  'base64',
);

/** Others may be on their way to the provider at the same time. */
const failing = order({ prompt: 'Fail.' });
const failNext = (error: string) =>
  gateway.provider.next({ path: '/videos', prefix: 'Fail.', video: { end: 'failed', error } });

const send = (agent: TestAgent, body: object = order(), headers: Record<string, string> = {}, to = gateway) =>
  to.post(body, { agent, path: '/videos', headers });

async function ordered(agent: TestAgent, body?: object, headers?: Record<string, string>): Promise<Video> {
  const res = await send(agent, body, headers);
  const text = await res.text();
  expect(res.status, text).toBe(202);
  return Video.parse(JSON.parse(text));
}

const get = (agent: TestAgent, path: string) =>
  fetch(gateway.baseUrl + path, { headers: { authorization: `Bearer ${agent.key}` }, redirect: 'manual' });

const read = async (agent: TestAgent, id: string): Promise<Video> =>
  Video.parse(await (await get(agent, `/videos/${id}`)).json());

/** Once its worker has ended it. */
async function ended(agent: TestAgent, { id }: Video): Promise<Video> {
  const { ledger } = gateway.running.deps.store;
  await until(async () => {
    fake?.advance(SECOND_MS);
    const job = await ledger.readVideo(agent.agentId, id);
    return job !== null && job !== 'unavailable' && job.end !== null;
  }, ENDED_WITHIN_MS);
  return read(agent, id);
}

describe('a video, from its order to its file', () => {
  it('holds its estimate, is charged its cost, and stands among the calls', async () => {
    const agent = await gateway.newAgent();
    const job = await ordered(agent);
    expect(job).toMatchObject({ status: 'pending', model: 'faregate-sim/clip', usage: null });
    const open = await gateway.balance(agent);
    expect(Number(open.reserved_usd)).toBe(job.estimated_cost);
    expect(open.running_calls).toBe(0);
    // In a cluster its worker tells.
    if (!onCluster)
      expect(await gateway.metric('faregate_capacity_held_usd')).toBeCloseTo(job.estimated_cost, 9);
    const { store } = gateway.running.deps;
    const calls = async () => {
      const listed = await listCalls(
        { ledger: store.ledger, history: store.history, clock },
        { agentId: agent.agentId, keyId: undefined, limit: 10, beforeCallId: undefined },
      );
      return listed.ok ? listed.page.calls : [];
    };
    expect(await calls()).toMatchObject([
      { endpoint: 'videos', model: 'faregate-sim/clip', outcome: 'running', charge_usd: '0' },
    ]);

    const done = await ended(agent, job);
    expect(done).toMatchObject({ id: job.id, status: 'completed', error: null, created_at: job.created_at });
    const cost = done.usage?.cost ?? 0;
    expect(cost).toBeGreaterThan(0);
    expect(cost).toBeLessThanOrEqual(job.estimated_cost);
    const { chargedNanoUsd, holds } = await gateway.view(agent);
    expect(chargedNanoUsd).toBe(usd(String(cost)));
    expect(holds).toEqual([]);
    expect(Date.parse(done.expires_at ?? '') - Date.parse(done.created_at)).toBeGreaterThanOrEqual(
      30 * DAY_MS,
    );

    const [call] = await gateway.calls(agent);
    expect(call).toMatchObject({ outcome: 'ok', chargedNanoUsd, call: { endpoint: 'videos' } });
    expect(await calls()).toMatchObject([{ endpoint: 'videos', outcome: 'ok', charge_usd: String(cost) }]);
    const usage = await readUsage({ history: store.history, clock }, { agentId: agent.agentId, days: 2 });
    expect(JSON.stringify(usage)).toContain('faregate-sim/clip');

    const content = await get(agent, `/videos/${job.id}/content`);
    expect(content.status).toBe(302);
    // RFC 9112, 3.2.2: by its whole address it is the same video.
    const { port } = new URL(gateway.baseUrl);
    const whole = [`GET ${job.polling_url} HTTP/1.1`, 'Host: any', `Authorization: Bearer ${agent.key}`];
    expect((await rawRequest(Number(port), whole))?.status).toBe(200);
    const file = await fetch(content.headers.get('location') ?? '');
    expect(file.status).toBe(200);
    expect(file.headers.get('content-type')).toBe('video/mp4');
    const bytes = Buffer.from(await file.arrayBuffer());
    expect(bytes.subarray(4, 8).toString()).toBe('ftyp');
    expect(bytes.includes('avc1')).toBe(true);
  });

  it('is charged nothing when it fails, and says why', async () => {
    const agent = await gateway.newAgent();
    failNext('The prompt violates our content policy.');
    const failed = await ended(agent, await ordered(agent, failing));
    expect(failed).toMatchObject({ status: 'failed', usage: null, error: { code: 'content_refused' } });
    expect((await gateway.view(agent)).chargedNanoUsd).toBe(0n);
    expect((await gateway.balance(agent)).reserved_usd).toBe('0');
    const answer = await get(agent, `/videos/${failed.id}/content`);
    expect(answer.status).toBe(404);
    expect(JSON.parse(await answer.text()).error.code).toBe('not_ready');
    expect(await gateway.calls(agent)).toMatchObject([{ outcome: 'failed', errorCode: 'content_refused' }]);
  });

  it('starts with an upload of the agent’s own, which is sent along because nobody outside could fetch it here', async () => {
    const [agent, other] = [await gateway.newAgent(), await gateway.newAgent()];
    const asked = { content_type: 'image/png', size: PNG.length };
    const started = await gateway.post(asked, { agent, path: '/uploads' });
    const { upload_url, upload_headers, url } = JSON.parse(await started.text());
    const frame_images = [{ type: 'image_url', image_url: { url }, frame_type: 'first_frame' }];
    const empty = await send(agent, order({ frame_images }));
    expect(JSON.parse(await empty.text()).error.message).toContain('nothing has been uploaded');
    expect((await fetch(upload_url, { method: 'PUT', headers: upload_headers, body: PNG })).status).toBe(200);

    const theirs = await send(other, order({ frame_images }));
    expect(theirs.status).toBe(400);
    expect(JSON.parse(await theirs.text()).error).toMatchObject({
      code: 'invalid_request',
      param: 'frame_images[0].image_url.url',
    });
    expect((await gateway.view(other)).holds).toEqual([]);

    const prompt = 'Move the image.';
    const done = await ended(agent, await ordered(agent, order({ prompt, frame_images })));
    expect(done.status).toBe('completed');
    const sent = gateway.provider.requests().find(({ body }) => body.toString().includes(prompt));
    expect(JSON.parse(String(sent?.body)).frame_images).toEqual([
      {
        type: 'image_url',
        image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` },
        frame_type: 'first_frame',
      },
    ]);
  });

  it('is nobody else’s to read or to download', async () => {
    const [agent, other] = [await gateway.newAgent(), await gateway.newAgent()];
    const { id } = await ordered(agent);
    const never = `vid_${'0'.repeat(20)}`;
    for (const path of ['', '/content']) {
      const [theirs, none] = [
        await get(other, `/videos/${id}${path}`),
        await get(other, `/videos/${never}${path}`),
      ];
      expect(theirs.status).toBe(404);
      expect(await theirs.text()).toBe(await none.text());
    }
    expect((await read(await gateway.newKey(agent.agentId), id)).id).toBe(id);
  });
});

describe('one Idempotency-Key', () => {
  const key = { 'idempotency-key': 'order-1_A' };

  it('sent many times at once, in one process or in two, makes one video', async () => {
    const agent = await gateway.newAgent();
    const second = onCluster ? await startTestGateway({ provider: gateway.provider }) : gateway;
    const answers = await Promise.all(
      Array.from({ length: 12 }, async (_, at) => {
        const res = await send(agent, order(), key, at % 2 === 0 ? gateway : second);
        return { status: res.status, body: JSON.parse(await res.text()) };
      }),
    );
    // Whoever meets an order whose hold is not in the journal yet may have to ask again.
    const ids = new Set(answers.flatMap(({ status, body }) => (status === 202 ? [body.id] : [])));
    expect(ids.size).toBe(1);
    for (const { status, body } of answers)
      if (status !== 202) expect(body.error.code).toBe('service_unavailable');
    expect(ids).toContain((await ordered(agent, {}, key)).id);
    const { ledger } = gateway.running.deps.store;
    const open = await ledger.listOpenVideos();
    if (open === 'unavailable') throw new Error('no ledger');
    expect(open.filter(({ agentId }) => agentId === agent.agentId).length).toBeLessThanOrEqual(1);
    if (second !== gateway) await second.stop();
  });

  it('of one agent is another video for another', async () => {
    const [agent, other] = [await gateway.newAgent(), await gateway.newAgent()];
    const first = await ordered(agent, order(), key);
    const second = await ordered(other, order(), key);
    expect(second.id).not.toBe(first.id);
    expect((await ordered(agent, order({ prompt: 'Another.' }), key)).id).toBe(first.id);
  });

  it('finds nothing for a key that was revoked since', async () => {
    const agent = await gateway.newAgent();
    await ordered(agent, order(), key);
    const { agentId, keyId } = agent;
    await gateway.running.deps.store.ledger.execute({
      type: 'revoke_key',
      readVersion: null,
      agentId,
      keyId,
      actingKeyId: null,
    });
    expect((await send(agent, order(), key)).status).toBe(401);
  });

  it('finds a video that has failed, even for an agent that is suspended by now', async () => {
    const agent = await gateway.newAgent();
    failNext('It broke.');
    const { id } = await ended(agent, await ordered(agent, failing, key));
    const status = {
      type: 'set_agent',
      agentId: agent.agentId,
      mode: 'update',
      source: 'test',
      sourceVersion: 2,
      status: 'suspended',
      name: 'agent',
      token: null,
    } as const;
    await gateway.running.deps.store.ledger.execute(status);
    expect(await ordered(agent, order(), key)).toMatchObject({ id, status: 'failed' });
    expect(await read(agent, id)).toMatchObject({ id, status: 'failed' });
    const fresh = await send(agent, order(), { 'idempotency-key': 'order-2_B' });
    expect(JSON.parse(await fresh.text()).error.code).toBe('agent_suspended');
  });
});

describe('the operator’s pool', () => {
  it('counts a video as long as it is in the making', async () => {
    const small = await startTestGateway({
      clock,
      provider: gateway.provider,
      yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
capacity: { poolUsd: "0.09" }
providers: [{ id: sim, kind: simulator, baseUrl: PROVIDER_URL }]
`,
    });
    const agent = await small.newAgent();
    const code = async () => {
      fake?.advance(SECOND_MS);
      const res = await send(agent, order(), {}, small);
      const { error } = JSON.parse(await res.text());
      return error === null ? 'taken' : error.code;
    };
    // On a cluster, others' are counted until they have told that they are free.
    await until(async () => (await code()) === 'taken', ENDED_WITHIN_MS);
    await until(async () => (await code()) === 'gateway_capacity');
    await until(async () => (await code()) === 'taken', ENDED_WITHIN_MS);
    await until(async () => {
      fake?.advance(SECOND_MS);
      return (await small.view(agent)).holds.length === 0;
    }, ENDED_WITHIN_MS);
    await small.stop();
  });
});

// Not skipped elsewhere, which CI would count: there, real time passes.
if (fake !== null) {
  describe('after a long time', () => {
    it('and a restart, key and id find the video: completed, then expired, then no more', async () => {
      const agent = await gateway.newAgent();
      const key = { 'idempotency-key': 'long-ago' };
      const made = await ended(agent, await ordered(agent, order(), key));
      expect(made.status).toBe('completed');
      fake.advance(2 * DAY_MS);
      await gateway.running.stop();
      const again = await startTestGateway({ clock, dataDir: gateway.dataDir, provider: gateway.provider });
      // On a connection of its own: while the clock is moved for long, the gateway closes those that nobody uses.
      const asked = async (path: string) => {
        const headers = { authorization: `Bearer ${agent.key}` };
        const { origin, pathname } = new URL(again.baseUrl + path);
        const client = new Client(origin);
        const { statusCode, body } = await client.request({ method: 'GET', path: pathname, headers });
        const text = await body.text();
        await client.close();
        return { status: statusCode, body: JSON.parse(text || 'null') };
      };
      const { body } = await asked(`/videos/${made.id}`);
      expect({ ...body, polling_url: made.polling_url, unsigned_urls: made.unsigned_urls }).toEqual(made);
      const repeated = await again.post({}, { agent, path: '/videos', headers: key });
      expect(JSON.parse(await repeated.text())).toMatchObject({ id: made.id, status: 'completed' });
      expect((await asked(`/videos/${made.id}/content`)).status).toBe(302);

      fake.advance(VIDEO_KEPT_MS);
      expect((await asked(`/videos/${made.id}`)).body).toMatchObject({
        status: 'expired',
        unsigned_urls: [],
      });
      expect((await asked(`/videos/${made.id}/content`)).body.error.code).toBe('not_ready');
      fake.advance(87 * DAY_MS);
      expect((await asked(`/videos/${made.id}`)).body.status).toBe('expired');
      fake.advance(DAY_MS + MINUTE_MS);
      expect((await asked(`/videos/${made.id}`)).status).toBe(404);
      await again.running.stop();
      gateway = await startTestGateway({ clock, dataDir: gateway.dataDir, provider: gateway.provider });
    });
  });
}
