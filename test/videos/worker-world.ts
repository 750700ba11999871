import type { Provider } from '#core/catalog/catalog.ts';
import { SECOND_MS } from '#core/clock.ts';
import { hourOf } from '#core/files/file-name.ts';
import type { Command } from '#core/ledger/command.ts';
import type { Durability } from '#core/ledger/ledger.ts';
import type { Log } from '#core/log.ts';
import type { VideoJob } from '#core/videos/video-job.ts';
import { VIDEO_ORDER_KEPT_MS } from '../../api/media/order-video.ts';
import { type OpenVideosOf, VideoWorker } from '../../workers/video/video-worker.ts';
import { provider as aProvider } from '../inference/support.ts';
import type { World } from '../ledger/case.ts';
import { grant, putKey, reserveVideo, setAgent } from '../ledger/commands.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startFakeVideoProvider } from '../support/fake-video-provider.ts';
import { createMemoryFiles } from '../support/memory-files.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { plainHealth } from '../support/plain-health.ts';

export const ORDER = '{"model":"acme/film","prompt":"a secret garden","duration":5}';
export const HOLD = 2_000_000_000n;

/** Of the ledger: `unknown`: done, and the journal does not say so; `lost`: not done. */
export type Fault = 'unknown' | 'lost' | 'throws' | null;

/** An agent with credit, its orders, a provider of a test's own, and as many workers as a test starts. */
export async function workerWorld() {
  const clock = createFakeClock();
  const memory = createMemoryLedger({ clock });
  const files = createMemoryFiles();
  const fake = await startFakeVideoProvider();
  const world: World = { ledger: memory, clock, callIds: new Map() };
  const does = async (command: Command) => {
    const { result } = await memory.execute(command);
    if (!result.ok) throw new Error(`the test's own ${command.type}: ${result.reason}`);
  };
  await does(setAgent()(world));
  await does(putKey(1)(world));
  await does(grant(100_000_000_000n)(world));

  const known: { provider: Provider | undefined } = {
    provider: aProvider({ id: 'simulator', baseUrl: fake.baseUrl, apiKey: 'sk-upstream' }),
  };
  const heard = { ended: [] as string[], lostNanoUsd: [] as bigint[], logged: [] as string[] };
  const log: Log = {
    info: (event) => void heard.logged.push(event),
    warn: (event) => void heard.logged.push(event),
    error: (event) => void heard.logged.push(event),
  };
  /** What befalls the next command of a kind; told once each. */
  const faults: { command: Command['type']; fault: Fault }[] = [];
  const executed: string[] = [];
  /** A list is as old as its question, however late it is answered. */
  const listing: { answered: Promise<void> } = { answered: Promise.resolve() };
  const ledger: typeof memory = {
    ...memory,
    async listOpenVideos() {
      const listed = await memory.listOpenVideos();
      await listing.answered;
      return listed;
    },
    async execute(command) {
      executed.push(command.type);
      const at = faults.findIndex((each) => each.command === command.type);
      const fault = at < 0 ? null : (faults.splice(at, 1)[0]?.fault ?? null);
      const unknown = Promise.resolve<Durability>('unknown');
      if (fault === 'throws') throw new Error('a fault of the ledger');
      if (fault === 'lost') return { result: { ok: false, reason: 'unavailable' }, durable: unknown };
      const answer = await memory.execute(command);
      return fault === 'unknown' ? { ...answer, durable: unknown } : answer;
    },
  };
  const workers = new Set<VideoWorker>();
  const killed = new Set<VideoWorker>();
  const never = new Promise<never>(() => {});

  async function startWorker({
    claimGraceMs = 0,
    isOurs = (_videoId: string): boolean => true,
    diesAfter = null as Command['type'] | null,
    shards = undefined as readonly OpenVideosOf[] | undefined,
  } = {}) {
    const worker: VideoWorker = new VideoWorker({
      health: plainHealth(clock).providers,
      ledger: {
        ...ledger,
        async execute(command) {
          if (killed.has(worker)) return never;
          const answer = await ledger.execute(command);
          if (command.type === diesAfter) kill(worker);
          return killed.has(worker) ? never : answer;
        },
      },
      ...(shards === undefined ? {} : { shards }),
      catalog: { provider: () => known.provider },
      files,
      clock,
      log,
      claimGraceMs,
      isOurs,
      random: () => 0.5,
      onEnded(_job, { errorCode, loss, billedNanoUsd }, { chargedNanoUsd, overrunNanoUsd }) {
        heard.ended.push(
          [errorCode ?? 'made', chargedNanoUsd, overrunNanoUsd, billedNanoUsd, loss?.cause ?? '-'].join(' '),
        );
        if (loss !== null) heard.lostNanoUsd.push(loss.nanoUsd);
      },
    });
    workers.add(worker);
    await worker.start();
    return worker;
  }

  /** A process that is gone at once: nothing that it was about to do is done. */
  function kill(worker: VideoWorker): void {
    killed.add(worker);
    workers.delete(worker);
  }

  let calls = 0;
  async function order(body: string | null = ORDER): Promise<{ videoId: string; orderFile: string }> {
    const call = ++calls;
    const videoId = `vid_${String(call).padStart(20, '0')}`;
    const orderFile = `orders/${hourOf(clock.now() + VIDEO_ORDER_KEPT_MS)}/1/${videoId}.json`;
    if (body !== null) files.kept.set(orderFile, Buffer.from(body));
    await does(reserveVideo(call, HOLD, { videoId, orderFile })(world));
    return { videoId, orderFile };
  }

  /** Sockets live in real time: turns of the event loop until nothing is being done, or it hangs. */
  async function quiet(): Promise<void> {
    for (let turn = 0; turn < 400; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (turn > 20 && [...workers].every(({ running }) => running === 0)) return;
    }
  }

  async function passes(ms: number, stepMs = SECOND_MS): Promise<void> {
    await quiet();
    for (let passed = 0; passed < ms; passed += stepMs) {
      clock.advance(Math.min(stepMs, ms - passed));
      await quiet();
    }
  }

  const job = async (videoId = 'vid_00000000000000000001'): Promise<VideoJob> => {
    const read = await memory.readVideo(1, videoId);
    if (read === null || read === 'unavailable') throw new Error('no such video');
    return read;
  };

  return {
    ...{
      clock,
      memory,
      files,
      fake,
      known,
      heard,
      faults,
      listing,
      executed,
      startWorker,
      kill,
      order,
      passes,
      job,
    },
    async until(is: () => boolean | Promise<boolean>, whatMs = 3_600 * SECOND_MS): Promise<void> {
      await quiet();
      for (let passed = 0; !(await is()); passed += SECOND_MS) {
        if (passed > whatMs) throw new Error(`not within ${whatMs} ms: ${is}`);
        await passes(SECOND_MS);
      }
    },
    /** Its error code, `made`, or `open`. */
    async ending(videoId?: string): Promise<string> {
      const { end } = await job(videoId);
      return end === null ? 'open' : (end.errorCode ?? 'made');
    },
    async held(): Promise<bigint> {
      const agent = await memory.readAgent(1);
      if (agent === null || agent === 'unavailable') throw new Error('no agent');
      return agent.holds.reduce((sum, hold) => sum + hold.nanoUsd, 0n);
    },
    async [Symbol.asyncDispose]() {
      for (const worker of workers) {
        const stopped = worker.stop(0);
        clock.advance(60 * SECOND_MS);
        await quiet();
        clock.advance(60 * SECOND_MS);
        await stopped;
      }
      await fake[Symbol.asyncDispose]();
    },
  };
}
