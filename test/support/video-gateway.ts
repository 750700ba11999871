import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { type EmbeddedLedger, openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import type { Log } from '#core/log.ts';
import type { SimulatorOptions } from '../../api/simulator/simulator.ts';
import { type Caller, compareAgent, prepareCallers, startChild } from './kill-gateway.ts';
import { startTestProvider, type TestProvider } from './provider.ts';

/** A gateway that is killed and started again on the same folder, in front of a provider that lives on. */
export interface VideoGateway extends AsyncDisposable {
  provider: TestProvider;
  dataDir: string;
  callers: readonly Caller[];
  /** With its videos made at this address; default: the provider's. */
  start(videosAt?: string): Promise<void>;
  kill(): Promise<void>;
  /** The status, and the job where there is one. */
  order(prompt: string, caller?: Caller): Promise<{ status: number; job: VideoAnswer }>;
  read(videoId: string, caller?: Caller): Promise<VideoAnswer>;
  /** Polls until it has ended. */
  ended(videoId: string, caller?: Caller): Promise<VideoAnswer>;
  /** A look at the folder of the killed gateway. Throws where its agents' money was made or lost. */
  audit<T>(look: (ledger: EmbeddedLedger) => Promise<T>): Promise<T>;
}

export interface VideoAnswer {
  id: string;
  status: string;
  usage: { cost: number } | null;
  error: { code: string } | null;
}

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

const ORDER = {
  model: 'test/film',
  duration: 2,
  resolution: '480p',
  aspect_ratio: '16:9',
};

/** What one costs; the simulator bills the same. */
export const VIDEO_NANO_USD = 50_000_000n;

/** Made elsewhere than everything else, so that they alone can be out of reach. */
const yamlOf = (videosAt: string): string => `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 60000, burst: 10000, openVideos: 10000, videoReadsPerMinute: 60000 }
capacity: { eventLoopLagMs: 60000 }
providers: [{ id: films, kind: simulator, baseUrl: '${videosAt}', catalog: none }]
videoModels:
  - id: test/film
    provider: films
    model: faregate-sim/clip
    resolutions: ['480p']
    aspectRatios: ['16:9']
    durations: [2]
    pricing: { duration_seconds: '0.025' }
`;

const GRANT_NANO_USD = 100_000_000_000n;
const POLL_MS = 20;
const END_MS = 60_000;

export async function openVideoGateway(options: Partial<SimulatorOptions> = {}): Promise<VideoGateway> {
  const dataDir = await mkdtemp(join(tmpdir(), 'faregate-videos-'));
  const provider = await startTestProvider(options);
  const callers = await prepareCallers(dataDir, GRANT_NANO_USD);
  let child: ChildProcess | null = null;
  let baseUrl = '';

  const first = (): Caller => {
    const [caller] = callers;
    if (caller === undefined) throw new Error('no caller');
    return caller;
  };
  async function read(videoId: string, { key } = first()): Promise<VideoAnswer> {
    const res = await fetch(`${baseUrl}/videos/${videoId}`, { headers: { authorization: `Bearer ${key}` } });
    return (await res.json()) as VideoAnswer;
  }
  async function kill(): Promise<void> {
    const killed = child;
    child = null;
    if (killed === null || killed.exitCode !== null) return;
    killed.kill('SIGKILL');
    await once(killed, 'exit');
  }

  return {
    provider,
    dataDir,
    callers,
    async start(videosAt = provider.baseUrl) {
      await writeFile(join(dataDir, 'faregate.yaml'), yamlOf(videosAt));
      ({ child, baseUrl } = await startChild(dataDir));
    },
    kill,
    async order(prompt, { key } = first()) {
      const res = await fetch(`${baseUrl}/videos`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': `order-${prompt.replaceAll(/\W/g, '-')}`,
        },
        body: JSON.stringify({ ...ORDER, prompt }),
      });
      return { status: res.status, job: (await res.json()) as VideoAnswer };
    },
    read,
    async ended(videoId, caller) {
      for (let waitedMs = 0; waitedMs < END_MS; waitedMs += POLL_MS) {
        const job = await read(videoId, caller);
        if (job.status === 'completed' || job.status === 'failed') return job;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      throw new Error(`video ${videoId} has not ended within ${END_MS} ms`);
    },
    async audit(look) {
      const ledger = await openEmbeddedLedger({ dataDir, clock: systemClock, log: silent });
      try {
        for (const { agentId } of callers) await compareAgent(ledger, agentId);
        return await look(ledger);
      } finally {
        await ledger.close();
      }
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await provider.close();
      await rm(dataDir, { recursive: true });
    },
  };
}
