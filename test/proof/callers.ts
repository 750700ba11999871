import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { askChat, type ChatAnswer } from '../cluster/ask-chat.ts';
import type { LoadAgent, Shown } from '../cluster/call-load.ts';
import type { FaultCluster } from '../cluster/fault-cluster.ts';
import { callName } from '../cluster/log-book.ts';
import type { Draw } from '../ledger/history/random.ts';
import { type AnswerKind, drawKind, scriptAnswers } from './answer-kinds.ts';

/** Each wants one answer, and asks until it has it: again after a refusal, never again after a connection that broke. */
export interface Callers extends AsyncDisposable {
  readonly counts: Readonly<CallerCounts>;
  readonly shown: ReadonlyMap<string, ShownAnswer>;
  /** Answers that nothing here excuses. */
  readonly surprises: readonly string[];
  /** Resolves once each API process has decided a call that was sent from now on: let it in, or found too little free. */
  untilDecided(withinMs: number): Promise<void>;
  /** Resolves once every call that runs has ended. */
  stop(): Promise<void>;
}

export interface CallerCounts {
  answered: number;
  /** Sent, and then the connection broke before a cost was shown. */
  cut: number;
  /** Answers 402. */
  refused: number;
  /** Answers 503, by their codes, and connections that nobody took. */
  unavailableBy: Record<string, number>;
  /** Callers whose first try has ended, however it did. */
  triedOnce: number;
  /** Callers who were told to leave while they waited to ask again. */
  neverLetIn: number;
}

export interface ShownAnswer extends Shown {
  generationId: string | null;
}

const MODEL = 'faregate-sim/large';
const MAX_TOKENS = 2_000;
const PAUSE_LEAST_MS = 2_000;
const PAUSE_MORE_MS = 2_000;
const ASKED_EVERY_MS = 100;
const NOT_TAKEN = new Set(['ECONNREFUSED']);

export function startCallers(options: {
  cluster: FaultCluster;
  agent: LoadAgent;
  calls: number;
  draw: Draw;
}): Callers {
  const { cluster, agent, calls, draw } = options;
  const { agentId, keys } = agent;
  const dispatcher = new Agent({ connections: null });
  const leaving = new AbortController();
  const counts: CallerCounts = {
    answered: 0,
    cut: 0,
    refused: 0,
    unavailableBy: {},
    triedOnce: 0,
    neverLetIn: 0,
  };
  const shown = new Map<string, ShownAnswer>();
  const surprises: string[] = [];
  /** When the last decided call was sent, by API process. */
  const decidedAtMs = cluster.apis.map(() => 0);
  scriptAnswers(cluster.provider);

  async function call(number: number): Promise<void> {
    const kind = drawKind(draw);
    for (let tries = 0; !leaving.signal.aborted; tries++) {
      // The next try goes to another process, as a load balancer sends it.
      if (await isOver(kind, (number + tries) % keys.length, tries)) return;
      await sleep(PAUSE_LEAST_MS + draw(PAUSE_MORE_MS), undefined, { signal: leaving.signal }).catch(
        () => {},
      );
    }
    counts.neverLetIn++;
  }

  async function isOver(kind: AnswerKind, api: number, tries: number): Promise<boolean> {
    const sentAtMs = performance.now();
    const answer = await ask(kind, api).catch((error: unknown) => {
      const code: unknown = Reflect.get(Object(error), 'code');
      return NOT_TAKEN.has(String(code)) ? 'not taken' : 'cut';
    });
    if (tries === 0) counts.triedOnce++;
    if (answer === 'not taken') noteUnavailable('no connection');
    else if (answer === 'cut') counts.cut++;
    else if (answer.status === 402) counts.refused++;
    else if (answer.status === 503) noteUnavailable(/"code":"(\w+)"/.exec(answer.text)?.[1] ?? 'no code');
    else if (answer.status !== 200) surprises.push(`${answer.status} ${answer.text}`);
    else noteAnswer(answer, api);
    if (answer === 'cut') return true;
    if (answer === 'not taken') return false;
    const isDecided = answer.status === 200 || answer.status === 402;
    if (isDecided) decidedAtMs[api] = Math.max(decidedAtMs[api] ?? 0, sentAtMs);
    return answer.status === 200;
  }

  function noteUnavailable(code: string): void {
    counts.unavailableBy[code] = (counts.unavailableBy[code] ?? 0) + 1;
  }

  function ask({ prompt, stream }: AnswerKind, api: number): Promise<ChatAnswer> {
    return askChat({
      dispatcher,
      baseUrl: cluster.baseUrls[api] ?? '',
      key: keys[api]?.key ?? '',
      body: {
        model: MODEL,
        messages: [{ role: 'user', content: prompt }],
        max_tokens: MAX_TOKENS,
        ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
      },
    });
  }

  function noteAnswer({ callId, costNanoUsd, generationId, end, text }: ChatAnswer, api: number): void {
    if (costNanoUsd !== null) {
      counts.answered++;
      const name = callName(agentId, callId);
      shown.set(name, { agentId, callId, costNanoUsd, api, atMs: Date.now(), generationId });
    } else if (end === 'cut' || text.includes('"error":')) counts.cut++;
    else surprises.push(`call ${callId} was answered without its cost`);
  }

  const all = Array.from({ length: calls }, (_, number) => call(number));
  async function stop(): Promise<void> {
    leaving.abort();
    await Promise.all(all);
  }
  return {
    counts,
    shown,
    surprises,
    stop,
    async untilDecided(withinMs) {
      const fromMs = performance.now();
      const isDecided = (api: number) => (decidedAtMs[api] ?? 0) >= fromMs;
      const askUntilDecided = async (api: number): Promise<void> => {
        // Of few callers all may have been answered by now, and nobody else would ask.
        while (!isDecided(api) && performance.now() - fromMs < withinMs) {
          await isOver(drawKind(draw), api, 1);
          await sleep(ASKED_EVERY_MS);
        }
        if (!isDecided(api)) throw new Error(`API process ${api + 1} decided no call within ${withinMs} ms`);
      };
      await Promise.all(keys.map((_, api) => askUntilDecided(api)));
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await dispatcher.destroy();
      await Promise.all(all);
    },
  };
}
