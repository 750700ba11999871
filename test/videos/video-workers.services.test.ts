import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { migrateStores } from '../../api/admin/migrate-stores.ts';
import { loadConfig } from '../../api/config/config.ts';
import type { Role } from '../../api/start/workers/roles.ts';
import { type Agent, prepareAgents } from '../bench/prepare-agents.ts';
import { s3Block } from '../files/s3-block.ts';
import { type S3Home, startS3Home } from '../files/s3-home.ts';
import { describeMetrics, describeTable } from '../metrics/describe-metrics.ts';
import { freePort } from '../services/free-port.ts';
import { type ClusterStores, startClusterStores } from '../support/cluster-stores.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import { createMovingClock } from '../support/moving-clock.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';
import { PATIENT_API } from '../support/patience.ts';
import { startTestProvider, type TestProvider } from '../support/provider.ts';
import { describeWith } from '../support/with-services.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

const VIDEOS = 20;
/** A dead worker is missed after ten seconds, its claims are believed for two minutes. */
const MISSED_MS = 30_000;
const GRACE_MS = 180_000;
const WEEK_S = 7 * 24 * 3600;

describeWith(['redis', 'kafka', 'cassandra', 's3'], 'several workers of videos on a cluster', () => {
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  let stores: ClusterStores;
  let s3: S3Home;
  let provider: TestProvider;
  let configFile: string;
  let agent: Agent;
  const port = { api: 0 };
  const processes: NodeProcess[] = [];

  const startWorker = async (...roles: Role[]): Promise<NodeProcess> => {
    const worker = await startWorkerProcess({ configFile, folder: folder.path, roles });
    processes.push(worker);
    return worker;
  };
  const ask = async (path: string, body?: object) => {
    const res = await fetch(`http://127.0.0.1:${port.api}/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await res.json()) as {
      id: string;
      status: string;
      error: { code: string } | null;
      reserved_usd?: string;
    };
  };
  const order = (prompt: string) =>
    ask('/videos', {
      model: 'faregate-sim/clip',
      prompt,
      duration: 2,
      resolution: '480p',
      aspect_ratio: '16:9',
    });
  const ended = async (id: string) => {
    let job = await ask(`/videos/${id}`);
    await until(async () => {
      job = await ask(`/videos/${id}`);
      return job.status === 'completed' || job.status === 'failed';
    }, GRACE_MS);
    return job;
  };
  const posts = () =>
    provider.requests().filter(({ method, path }) => method === 'POST' && path.endsWith('/videos')).length;

  beforeAll(async () => {
    folder = await testDataDir();
    [stores, s3, provider] = await Promise.all([
      startClusterStores(folder.path, { migrated: true }),
      startS3Home(),
      startTestProvider({ videoMs: 5_000 }),
    ]);
    configFile = join(folder.path, 'faregate.yaml');
    const files = await s3Block(s3.settings, folder.path);
    await writeFile(
      configFile,
      `${stores.yaml}${files}
limits: { callsPerMinute: 60000, burst: 10000, openVideos: 1000, videoReadsPerMinute: 60000 }
providers: [{ id: sim, kind: simulator, baseUrl: "${provider.baseUrl}" }]
`,
    );
    const { storage } = await loadConfig({ FAREGATE_CONFIG: configFile });
    if (storage.mode !== 'cluster') throw new Error('no cluster');
    await migrateStores(storage, systemClock);
    await startWorker('settlement', 'projector');
    port.api = await freePort();
    const internalPort = await freePort();
    processes.push(
      await startNodeProcess({
        command: [PATIENT_API],
        internalPort,
        output: join(folder.path, 'api.log'),
        env: { FAREGATE_CONFIG: configFile, FAREGATE_DATA: folder.path, PORT: String(port.api) },
        ready: true,
      }),
    );
    [agent] = (await prepareAgents(
      { url: `http://127.0.0.1:${internalPort}/admin`, token: stores.adminToken },
      1,
    )) as [Agent];
  });
  afterAll(async () => {
    for (const each of processes) await each.stop('SIGKILL');
    await provider?.close();
    await stores?.stop();
    await s3?.[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  test('share the videos out; when one is killed, the other ends what it had, and nothing is made twice', async () => {
    const [one, other] = [await startWorker('video'), await startWorker('video')];
    await until(async () => (await one.metric('faregate_video_workers')) === 2, 20_000);
    const jobs = await Promise.all(Array.from({ length: VIDEOS }, (_, i) => order(`Number ${i}`)));
    await until(() => provider.videos().length === VIDEOS, 30_000);
    const shares = [await one.metric('faregate_open_videos'), await other.metric('faregate_open_videos')];
    expect(Math.min(...shares)).toBeGreaterThan(2);
    const held = await Promise.all([one, other].map((each) => each.metric('faregate_capacity_held_usd')));
    expect(held.reduce((sum, usd) => sum + usd, 0)).toBeCloseTo(
      Number((await ask('/balance')).reserved_usd),
      9,
    );
    await one.stop('SIGKILL');
    for (const { id } of jobs) expect(await ended(id)).toMatchObject({ status: 'completed' });
    expect(posts()).toBe(VIDEOS);
    expect(provider.videos()).toHaveLength(VIDEOS);
    expect(await ask('/balance')).toMatchObject({ reserved_usd: '0' });
    await other.stop();
  });

  test('tell the metrics that the table says', async () => {
    const worker = await startWorker('video');
    expect(await describeMetrics(worker.internalUrl)).toEqual(describeTable('video'));
    await worker.stop();
  });

  test('a worker that starts with a clock of next week ends no video of today as late', async () => {
    const clock = createMovingClock(join(folder.path, 'clock-of-next-week'));
    if (!clock.moves) throw new Error('a C compiler is needed to move the clock of a process');
    clock.aheadBy(WEEK_S);
    const wrong = await startWorkerProcess({
      configFile,
      folder: folder.path,
      roles: ['video'],
      env: clock.env,
    });
    processes.push(wrong);
    const { id } = await order('Not next week');
    await until(async () => (await wrong.metric('faregate_open_videos')) === 1, MISSED_MS);
    // S3 takes no request that is signed next week, so this worker waits; one whose clock is right makes the video.
    await wrong.stop();
    const right = await startWorker('video');
    expect(await ended(id)).toMatchObject({ status: 'completed' });
    expect(await ask('/balance')).toMatchObject({ reserved_usd: '0' });
    await right.stop();
  });

  test('a submission that died with its worker ends unknown after two minutes, and is never sent again', async () => {
    const before = posts();
    const worker = await startWorker('video');
    provider.next({ path: '/videos', gate: 'post', gateAt: 5 });
    const { id } = await order('Nobody knows');
    await provider.reached('post');
    await worker.stop('SIGKILL');
    const clock = createMovingClock(join(folder.path, 'clock'));
    const next = await startWorkerProcess({
      configFile,
      folder: folder.path,
      roles: ['video'],
      env: clock.env,
    });
    processes.push(next);
    await until(async () => (await next.metric('faregate_open_videos')) === 1, MISSED_MS);
    clock.timersAheadBy(100);
    // What it was given after that has been made since: all that fell due by then has had its turn.
    const later = await order('Afterwards');
    expect(await ended(later.id)).toMatchObject({ status: 'completed' });
    expect(await ask(`/videos/${id}`)).toMatchObject({ error: null });
    clock.timersAheadBy(125);
    expect(await ended(id)).toMatchObject({ status: 'failed', error: { code: 'submission_unknown' } });
    expect(posts()).toBe(before + 2);
    expect(await next.metric('faregate_video_submissions_unknown_total')).toBe(1);
    expect(await ask('/balance')).toMatchObject({ reserved_usd: '0' });
  });
});
