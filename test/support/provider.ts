import type { BilledCall } from '../../api/simulator/bill-book.ts';
import type { SeenRequest } from '../../api/simulator/request-log.ts';
import type { ScriptRule } from '../../api/simulator/script-rule.ts';
import { type Simulator, type SimulatorOptions, startSimulator } from '../../api/simulator/simulator.ts';

/** A provider that does what a test tells it. `await using provider = await startTestProvider()` ends it with the test. */
export interface TestProvider extends Simulator, AsyncDisposable {
  /** What the next call gets, and the one after it, and so on. */
  next(...rules: ScriptRule[]): void;
  /** What every call gets from now on that no earlier rule speaks of. */
  always(rule: ScriptRule): void;
  /** Resolves when a call waits at the gate; `release(gate)` lets it go on. */
  reached(gate: string): Promise<void>;
  /** Resolves when this many calls have ended, however they did. Lists and records of answers are no calls. */
  ended(count: number): Promise<void>;
  /** What it was sent to be run. Not what it was asked: a worker may still ask it for a video of an earlier test. */
  posts(): SeenRequest[];
  /** The newest request to this path. Fails when there is none. */
  lastRequest(path?: string): SeenRequest;
  /** The newest chat request's body. */
  lastBody(): Record<string, unknown>;
  /** The provider's bill of the newest call. Fails when there is none. */
  lastBill(): BilledCall;
  /** Of all calls, each rounded up as the gateway rounds. */
  billedNanoUsd(): bigint;
}

export async function startTestProvider(options: Partial<SimulatorOptions> = {}): Promise<TestProvider> {
  const simulator = await startSimulator({ port: 0, host: '127.0.0.1', seed: 'test', ...options });
  const lastRequest = (path = '/chat/completions'): SeenRequest =>
    found(
      simulator.requests().findLast((request) => request.path.startsWith(`/api/v1${path}`)),
      'No such request came',
    );
  const posts = (): SeenRequest[] => simulator.requests().filter(({ method }) => method === 'POST');
  return {
    ...simulator,
    posts,
    next(...rules) {
      for (const rule of rules) simulator.script(rule);
    },
    always: (rule) => simulator.script({ ...rule, times: 'always' }),
    reached: (gate) => simulator.until(() => simulator.waitingAt(gate) > 0),
    ended: (count) => simulator.until(() => posts().filter(({ state }) => state !== 'open').length >= count),
    lastRequest,
    lastBody: () => JSON.parse(lastRequest().body.toString()),
    lastBill: () => found(simulator.billed().at(-1), 'The provider billed nothing'),
    billedNanoUsd: () => simulator.billed().reduce((sum, call) => sum + call.costNanoUsd, 0n),
    [Symbol.asyncDispose]: () => simulator.close(),
  };
}

function found<T>(value: T | undefined, otherwise: string): T {
  if (value === undefined) throw new Error(otherwise);
  return value;
}
