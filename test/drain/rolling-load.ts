import { setTimeout as sleep } from 'node:timers/promises';
import { parseNanoUsd } from '#core/money.ts';
import type { Agent } from '../bench/prepare-agents.ts';
import { MODEL } from '../support/gateway.ts';
import type { TestProvider } from '../support/provider.ts';

export interface LoadFigures {
  calls: number;
  streams: number;
  /** Of both, with what they were answered instead. */
  failed: string[];
  /** Streams that began and have no end mark. */
  cut: string[];
  /** What all of them were told that they cost. */
  shownNanoUsd: bigint;
}

const CALLERS = 6;
const STREAMS = 12;
const CALL_MS = 20;
const GAP_MS = 100;
/** Between two small calls of a caller: without it six of them keep both cores of a small machine busy, and stores answer late. */
const PAUSE_MS = 100;
const TRIES_MAX = 10;

/** Small calls and long streams, each caller's next one once the last has ended. */
export function startRollingLoad(options: {
  url: string;
  agents: readonly Agent[];
  provider: TestProvider;
  streamMs: number;
}): { begun: Promise<unknown>; stop(): Promise<LoadFigures> } {
  const { url, agents, provider, streamMs } = options;
  provider.always({ prefix: 'small', headersDelayMs: CALL_MS });
  provider.always({ prefix: 'long', chunks: Math.ceil(streamMs / GAP_MS), gapMs: GAP_MS });
  const figures: LoadFigures = { calls: 0, streams: 0, failed: [], cut: [], shownNanoUsd: 0n };
  let isOver = false;

  const post = (caller: number, content: string, extra: object) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${agents[caller % agents.length]?.key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content }], ...extra }),
    });

  /**
   * Retries a 503 `service_unavailable` after its wait, as the official SDKs do: on a busy machine a store may be late whichever process
   * restarts. A draining process answers another code, which counts as failed.
   */
  async function ask(...asked: Parameters<typeof post>): Promise<Response | string> {
    for (let tries = 1; ; tries++) {
      const res = await post(...asked).catch(String);
      if (typeof res === 'string' || res.status !== 503 || tries === TRIES_MAX) return res;
      if (!(await res.clone().text()).includes('"code":"service_unavailable"')) return res;
      await sleep(Number(res.headers.get('retry-after-ms')));
    }
  }

  async function call(caller: number): Promise<void> {
    figures.calls += 1;
    const res = await ask(caller, 'small', {});
    if (typeof res === 'string') figures.failed.push(res);
    else if (res.status !== 200) figures.failed.push(`${res.status} ${await res.text()}`);
    else figures.shownNanoUsd += costIn(await res.text());
  }

  async function stream(caller: number, begun: () => void): Promise<void> {
    figures.streams += 1;
    const res = await ask(caller, 'long', { stream: true, stream_options: { include_usage: true } });
    begun();
    if (typeof res === 'string') figures.failed.push(res);
    else if (res.status !== 200) figures.failed.push(`${res.status} ${await res.text()}`);
    else {
      const text = await res.text().catch(String);
      if (!text.endsWith('data: [DONE]\n\n') || text.includes('"error"')) figures.cut.push(text.slice(-400));
      else figures.shownNanoUsd += costIn(text);
    }
  }

  const starts = Array.from({ length: STREAMS }, () => Promise.withResolvers<void>());
  const callers = [
    ...Array.from({ length: CALLERS }, async (_, caller) => {
      while (!isOver) {
        await call(caller);
        await sleep(PAUSE_MS);
      }
    }),
    ...starts.map(async ({ resolve }, caller) => {
      while (!isOver) await stream(caller, resolve);
    }),
  ];
  return {
    begun: Promise.all(starts.map(({ promise }) => promise)),
    async stop() {
      isOver = true;
      await Promise.all(callers);
      return figures;
    },
  };
}

function costIn(text: string): bigint {
  const cost = /"cost":([\d.e-]+)/.exec(text)?.[1] ?? '';
  const nanoUsd = parseNanoUsd(Number(cost).toFixed(9));
  if (nanoUsd === null) throw new Error(`no cost in ${text.slice(-400)}`);
  return nanoUsd;
}
