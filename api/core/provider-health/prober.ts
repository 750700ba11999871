import type { Provider } from '../catalog/catalog.ts';
import type { Clock, Timer } from '../clock.ts';
import { BREAKER_COOLDOWN_MS } from '../limits.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { Probe, ProbeAnswer, ProbeTarget } from './probe-provider.ts';

export interface ProberOptions {
  clock: Clock;
  /** `null`: nothing is probed, so breakers close by calls. */
  probe: Probe | null;
}

/** `unknown`: the answer says nothing about what is probed for, so a call has to tell. */
export type Verdict = 'passed' | 'failed' | 'unknown';

export interface Recovery {
  /** `undefined`: the operator has changed or removed it meanwhile. */
  provider: () => Provider | undefined;
  breaker: CircuitBreaker;
  target: ProbeTarget;
  judge: (answer: ProbeAnswer) => Verdict;
  onClosed: () => void;
}

/** Runs all probes of this process: of each provider one at a time, behind every caller's back, by the clock. */
export class Prober {
  readonly #options: ProberOptions;
  readonly #closing = new AbortController();
  readonly #timers = new Set<Timer>();
  /** The last probe of each provider, which the next one waits for. */
  readonly #last = new Map<string, Promise<unknown>>();
  /** When each provider's list was asked for on suspicion. */
  readonly #suspectedAtMs = new Map<string, number>();

  constructor(options: ProberOptions) {
    this.#options = options;
  }

  /** A probe on suspicion; `null`: there was one a moment ago, or there are none. */
  async askNow(provider: Provider): Promise<ProbeAnswer | null> {
    const nowMs = this.#options.clock.monotonicMs();
    const askedAtMs = this.#suspectedAtMs.get(provider.id);
    if (askedAtMs !== undefined && nowMs - askedAtMs < BREAKER_COOLDOWN_MS) return null;
    this.#suspectedAtMs.set(provider.id, nowMs);
    return await this.#ask(provider, 'models');
  }

  /** Probes at the end of each cooldown, until the breaker is closed. */
  recover(recovery: Recovery, generation = recovery.breaker.generation): void {
    const { clock, probe } = this.#options;
    const waitMs = recovery.breaker.waitMs(clock.monotonicMs());
    if (probe === null) recovery.breaker.awaitCall();
    if (probe === null || waitMs === null || this.#closing.signal.aborted) return;
    const timer = clock.setTimer(waitMs, () => {
      this.#timers.delete(timer);
      void this.#recoverNow(recovery, generation);
    });
    this.#timers.add(timer);
  }

  close(): void {
    this.#closing.abort();
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  async #recoverNow(recovery: Recovery, generation: number): Promise<void> {
    const { breaker, target, judge, onClosed } = recovery;
    const isOver = () => breaker.cause === null || breaker.generation !== generation;
    if (isOver()) return;
    const provider = recovery.provider();
    if (provider === undefined) return breaker.awaitCall();
    const answer = await this.#ask(provider, target);
    // A call may have closed the breaker meanwhile, and another may have opened it again.
    if (answer === null || isOver()) return;
    const nowMs = this.#options.clock.monotonicMs();
    switch (judge(answer)) {
      case 'passed':
        breaker.probePassed(nowMs);
        return onClosed();
      case 'failed':
        breaker.probeFailed(nowMs);
        return this.recover(recovery, generation);
      case 'unknown':
        return breaker.awaitCall();
    }
  }

  async #ask(provider: Provider, target: ProbeTarget): Promise<ProbeAnswer | null> {
    const { probe } = this.#options;
    const { signal } = this.#closing;
    const asked = (this.#last.get(provider.id) ?? Promise.resolve()).then(async () =>
      probe === null || signal.aborted ? null : await probe(provider, target, signal),
    );
    this.#last.set(provider.id, asked);
    const answer = await asked;
    if (this.#last.get(provider.id) === asked) this.#last.delete(provider.id);
    return signal.aborted ? null : answer;
  }
}
