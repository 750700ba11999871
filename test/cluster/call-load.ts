import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { type Draw, pick } from '../ledger/history/random.ts';
import { MODEL, until } from '../support/gateway.ts';
import type { TestProvider } from '../support/provider.ts';
import { askChat } from './ask-chat.ts';
import { callName } from './log-book.ts';

/** An agent with a key for each API process, so that every hold tells which of them runs its call. */
export interface LoadAgent {
  agentId: number;
  keys: readonly { keyId: number; key: string }[];
}

/** What a caller was told of its call's cost. */
export interface Shown {
  agentId: number;
  callId: number;
  costNanoUsd: bigint;
  /** Who showed it, and when. */
  api: number;
  atMs: number;
}

export interface LoadCounts {
  /** All that were sent. */
  calls: number;
  /** Answered with their cost. */
  shown: number;
  /** Left by their caller, on purpose. */
  hungUp: number;
  /** Ended by anything else before a cost was shown. */
  cut: number;
  /** Answered 503. */
  unavailable: number;
}

export interface LongStreams {
  begun: Promise<unknown>;
  ended: Promise<Ending[]>;
}

type Ending = Exclude<keyof LoadCounts, 'calls'>;
type Kind = 'answer' | 'stream' | 'hang-up' | 'long';

const CALLERS_PER_AGENT = 2;
const PAUSE_MS = 20;
/** After a call that was not served, so that a cluster that serves nobody is not stormed. */
const REFUSED_PAUSE_MS = 100;
const GIVE_UP_MS = 15_000;
const LONG_GAP_MS = 100;
const BEGUN_WITHIN_MS = 60_000;

/** Callers over HTTP who note every cost that they are shown. */
export class CallLoad {
  readonly shown = new Map<string, Shown>();
  /** Answers that no fault excuses. */
  readonly surprises: string[] = [];
  readonly #baseUrls: readonly string[];
  readonly #agents: readonly LoadAgent[];
  readonly #draw: Draw;
  readonly #provider: TestProvider;
  readonly #dispatcher = new Agent({ connections: null });
  /** When the last served call began, by agent and process. */
  readonly #servedAtMs = new Map<string, number>();
  #counts = noCounts();
  #stopping = false;
  #callers: Promise<void>[] = [];

  constructor(options: {
    baseUrls: readonly string[];
    agents: readonly LoadAgent[];
    provider: TestProvider;
    draw: Draw;
  }) {
    const { baseUrls, agents, provider, draw } = options;
    this.#provider = provider;
    this.#baseUrls = baseUrls;
    this.#agents = agents;
    this.#draw = draw;
    provider.always({ prefix: promptOf('answer'), headersDelayMs: 10 });
    for (const kind of ['stream', 'hang-up'] as const) {
      provider.always({ prefix: promptOf(kind), chunks: 8, gapMs: 10 });
    }
  }

  start(): void {
    this.#stopping = false;
    this.#callers = this.#agents.flatMap((agent) =>
      Array.from({ length: CALLERS_PER_AGENT }, async () => {
        while (!this.#stopping) {
          const kind = pick(this.#draw, ['answer', 'answer', 'stream', 'stream', 'hang-up'] as const);
          const ending = await this.#call(kind, agent, this.#draw(this.#baseUrls.length));
          await sleep(ending === 'shown' || ending === 'hungUp' ? PAUSE_MS : REFUSED_PAUSE_MS);
        }
      }),
    );
  }

  /** Resolves once every call has ended; answers what was counted since the last stop. */
  async stop(): Promise<LoadCounts> {
    this.#stopping = true;
    await Promise.all(this.#callers);
    const counts = this.#counts;
    this.#counts = noCounts();
    return counts;
  }

  /** Resolves once each agent was served by each process, with a call that began from now on. */
  async untilServed(timeoutMs: number): Promise<void> {
    const fromMs = performance.now();
    const missing = () =>
      this.#agents.flatMap(({ agentId }) =>
        this.#baseUrls
          .map((_, api) => `${agentId} by ${api}`)
          .filter((name) => (this.#servedAtMs.get(name) ?? 0) < fromMs),
      );
    await until(() => missing().length === 0, timeoutMs).catch(() => {
      throw new Error(`After ${timeoutMs} ms still not served: ${missing().join(', ')}`);
    });
  }

  /** Streams of one agent that last so long. `begun` resolves once all have their first byte. */
  startLong(count: number, api: number, lastMs: number): LongStreams {
    const agent = pick(this.#draw, this.#agents);
    const chunks = Math.ceil(lastMs / LONG_GAP_MS);
    const calls = Array.from({ length: count }, () => {
      this.#provider.next({ prefix: promptOf('long'), chunks, gapMs: LONG_GAP_MS });
      const begun = Promise.withResolvers<void>();
      return { begun: begun.promise, ended: this.#callUntilServed(agent, api, begun.resolve) };
    });
    return {
      begun: Promise.all(calls.map(({ begun, ended }) => Promise.race([begun, ended]))),
      ended: Promise.all(calls.map(({ ended }) => ended)),
    };
  }

  /** A busy machine may refuse a stream before its fault has begun, and a stream that never ran would try nothing. */
  async #callUntilServed(agent: LoadAgent, api: number, onByte: () => void): Promise<Ending> {
    const untilMs = performance.now() + BEGUN_WITHIN_MS;
    for (;;) {
      const ending = await this.#call('long', agent, api, onByte);
      if (ending !== 'unavailable' || performance.now() > untilMs) return ending;
      await sleep(REFUSED_PAUSE_MS);
    }
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#dispatcher.destroy();
  }

  async #call(kind: Kind, agent: LoadAgent, api: number, onByte?: () => void): Promise<Ending> {
    const beganMs = performance.now();
    this.#counts.calls++;
    const ending = await this.#send(kind, agent, api, onByte).catch((): Ending => 'cut');
    this.#counts[ending]++;
    if (ending === 'shown') this.#servedAtMs.set(`${agent.agentId} by ${api}`, beganMs);
    return ending;
  }

  async #send(kind: Kind, { agentId, keys }: LoadAgent, api: number, onByte?: () => void): Promise<Ending> {
    const stream = kind !== 'answer';
    const prompt = `${promptOf(kind)} ${'word '.repeat(this.#draw(200))}`;
    const answer = await askChat({
      dispatcher: this.#dispatcher,
      baseUrl: this.#baseUrls[api] ?? '',
      key: keys[api]?.key ?? '',
      giveUpMs: GIVE_UP_MS,
      leaves: kind === 'hang-up',
      ...(onByte === undefined ? {} : { onByte }),
      body: {
        model: MODEL,
        messages: [{ role: 'user', content: prompt }],
        max_tokens: 100 + this.#draw(1_000),
        ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
      },
    });
    const { status, callId, costNanoUsd, text, end } = answer;
    if (status !== 200) {
      if (status === 503) return 'unavailable';
      this.surprises.push(`${status} ${text}`);
      return 'cut';
    }
    const isShown = costNanoUsd !== null;
    if (isShown) {
      this.shown.set(callName(agentId, callId), { agentId, callId, costNanoUsd, api, atMs: Date.now() });
    }
    if (end === 'left') return 'hungUp';
    return isShown && end === 'whole' ? 'shown' : 'cut';
  }
}

/** What the last message begins with, by which the provider knows what to do. */
const promptOf = (kind: Kind): string => `Load ${kind}:`;

const noCounts = (): LoadCounts => ({ calls: 0, shown: 0, hungUp: 0, cut: 0, unavailable: 0 });
