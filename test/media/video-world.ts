import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Capacity } from '#core/capacity/capacity.ts';
import { DAY_MS, startOfDayMs } from '#core/clock.ts';
import { parseFileName } from '#core/files/file-name.ts';
import { openLocalFileStore } from '#core/files/local-file-store.ts';
import { createIdSource } from '#core/ids.ts';
import type { Command } from '#core/ledger/command.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import type { AgentStatus } from '#core/ledger/machine/state.ts';
import { defaultLimits, GATE_TIMEOUT_MS } from '#core/limits.ts';
import { GcraBuckets } from '#core/rates/gcra.ts';
import { createLocalRateLimiter } from '#core/rates/rate-limiter.ts';
import type { VideoJob } from '#core/videos/video-job.ts';
import type { VideoOrderBody } from '#core/videos/video-order-body.ts';
import { createServeVideos } from '../../api/http/serve-videos.ts';
import type { Gateway } from '../../api/inference/hold/gateway.ts';
import { LedgerRetries } from '../../api/inference/hold/ledger-retries.ts';
import { OpenCalls } from '../../api/inference/hold/open-calls.ts';
import { refusePrivateLink } from '../../api/inference/linked-images/public-link.ts';
import { UpstreamPools } from '../../api/inference/upstream/upstream-pools.ts';
import type { VideoDeps } from '../../api/media/video-deps.ts';
import { VIDEO_ORDER_BYTES_MAX } from '../../workers/video/submit-video.ts';
import { testDataDir } from '../support/data-dir.ts';
import { startEdge } from '../support/edge-app.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { plainHealth } from '../support/plain-health.ts';
import { videoCatalog } from './video-models.ts';

/** As the edge of tests knows its keys. */
export const AGENT = 7;
export const PUBLIC_URL = 'https://gw.example.com/v1';

export interface VideoWorldOptions {
  creditNanoUsd?: bigint;
  ledger?: (inner: Ledger) => Ledger;
  deps?: (inner: VideoDeps) => VideoDeps;
}

/** The routes of videos over HTTP, in front of a ledger in memory and real files. */
export async function startVideoWorld(options: VideoWorldOptions = {}) {
  const stack = new AsyncDisposableStack();
  const folder = stack.use(await testDataDir());
  // Ids of calls are made by the machine's clock, and the ledger refuses old ones.
  const clock = createFakeClock(Date.now());
  const memory = createMemoryLedger({ clock });
  const ledger = options.ledger?.(memory) ?? memory;
  const files = openLocalFileStore({ dataDir: folder.path, publicUrl: () => PUBLIC_URL, clock });
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  const log = { info: note, warn: note, error: note };
  const watched: string[] = [];
  const refusals: string[] = [];
  const catalog = videoCatalog();
  const limits = { ...defaultLimits };
  const capacityLimits = { perCallNanoUsd: 10n ** 10n, poolNanoUsd: 10n ** 12n, runningCalls: 10 };
  const capacity = new Capacity(() => capacityLimits, { isOver: () => false });
  const gateway: Gateway = {
    clock,
    ids: createIdSource(clock),
    log,
    metrics: {
      started() {},
      refused: (code) => void refusals.push(code),
      ended() {},
      priced() {},
      loss() {},
      added() {},
      provider() {},
    },
    ledger,
    ledgerRetries: new LedgerRetries({ ledger, clock, log }),
    catalog,
    costs: { note() {} },
    capacity,
    refusedStarts: new GcraBuckets({ ratePerMinute: () => 60_000, burst: () => 60_000 }),
    health: plainHealth(),
    openCalls: new OpenCalls(clock, log),
    upstreams: new UpstreamPools(),
    gateTimeoutMs: GATE_TIMEOUT_MS,
    limits: () => limits,
    waitForClockMs: () => 0,
    dailyShareNanoUsd: () => null,
    callIdHeader: 'x-service-call-id',
    nonce: 'world',
    files,
    placeImage: () => null,
    fetchImage: () => Promise.reject(new Error('no image is fetched for a video')),
    watchPending() {},
    watchVideo: (agentId, videoId) => void watched.push(`${agentId} ${videoId}`),
  };
  const jobs = new Map<string, VideoJob>();
  const ofAgent = (agentId: number) => [...jobs.values()].filter((job) => job.agentId === agentId);
  /** Names and the addresses that they resolve to. */
  const hosts = new Map([
    ['images.example.com', ['93.184.216.34']],
    ['gw.example.com', ['93.184.216.35']],
    ['inside.example.com', ['93.184.216.34', '10.0.0.7']],
  ]);
  const deps: VideoDeps = {
    gateway,
    videos: {
      find: async (agentId, videoId) => ofAgent(agentId).find((job) => job.videoId === videoId) ?? null,
      findByKey: async (agentId, key) => ofAgent(agentId).find((job) => job.idempotencyKey === key) ?? null,
    },
    files,
    reads: createLocalRateLimiter(clock, { ratePerMinute: () => 60, burst: () => 60 }),
    publicUrl: PUBLIC_URL,
    refusePrivate: (link) => refusePrivateLink(link, async (host) => hosts.get(host) ?? []),
  };
  const edge = await startEdge({ useCases: createServeVideos(options.deps?.(deps) ?? deps) });
  stack.defer(() => edge.stop());

  const told = async (command: Command) => {
    const { result } = await memory.execute(command);
    if (!result.ok) throw new Error(`${command.type} refused: ${result.reason}`);
  };
  let sourceVersion = 0;
  const setStatus = (status: AgentStatus, agentId = AGENT) =>
    told({
      type: 'set_agent',
      agentId,
      mode: 'upsert',
      source: 'test',
      sourceVersion: ++sourceVersion,
      status,
      name: 'agent',
      token: null,
    });
  await setStatus('active');
  await told({
    type: 'grant',
    agentId: AGENT,
    grantId: 'grant',
    expiresAtMs: startOfDayMs(clock.now()) + 8 * DAY_MS,
    nanoUsd: options.creditNanoUsd ?? 5n * 10n ** 9n,
  });
  for (const keyId of [1, 2]) {
    await told({
      type: 'put_key',
      readVersion: null,
      agentId: AGENT,
      keyId,
      label: '',
      prefix: 'fg_000000000',
      hash: String(keyId).repeat(64),
      limit: null,
      actingKeyId: null,
      madeOverMcp: false,
      limits: { activeKeys: 10, mcpKeysPerDay: 20 },
    });
  }

  const send = (method: string, path: string, init: RequestInit = {}) =>
    fetch(`${edge.url}/v1${path}`, {
      redirect: 'manual',
      method,
      ...init,
      headers: { authorization: `Bearer ${edge.key}`, ...init.headers },
    });
  return {
    edge,
    clock,
    ledger: memory,
    files,
    catalog,
    capacity,
    capacityLimits,
    limits,
    jobs,
    watched,
    refusals,
    logged,
    setStatus,
    told,
    order: (body: unknown, headers: Record<string, string> = {}) =>
      send('POST', '/videos', { body: typeof body === 'string' ? body : JSON.stringify(body), headers }),
    get: (path: string, key = edge.key) => send('GET', path, { headers: { authorization: `Bearer ${key}` } }),
    async view() {
      const view = await memory.readAgent(AGENT);
      if (view === null || view === 'unavailable') throw new Error('no agent');
      return view;
    },
    /** Paths of all that is stored. */
    async stored(kind: string): Promise<string[]> {
      const found = await readdir(join(files.folder, kind), { recursive: true, withFileTypes: true }).catch(
        () => [],
      );
      return found
        .filter((each) => each.isFile())
        .map((each) => join(each.parentPath, each.name).slice(files.folder.length + 1));
    },
    async readOrder(job: Pick<VideoJob, 'orderFile'>): Promise<VideoOrderBody> {
      const name = parseFileName(job.orderFile);
      const bytes = name === null ? null : await files.read(name, VIDEO_ORDER_BYTES_MAX);
      return JSON.parse(String(bytes));
    },
    async job(videoId: string, agentId = AGENT): Promise<VideoJob> {
      const job = await memory.readVideo(agentId, videoId);
      if (job === null || job === 'unavailable') throw new Error('no such video');
      return job;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export type VideoWorld = Awaited<ReturnType<typeof startVideoWorld>>;
