import type { Endpoint, Provider } from '#core/catalog/catalog.ts';
import { type Clock, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { BREAKER_COOLDOWN_MAX_MS, KEY_RATE_LIMIT_MAX_MS } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import { CircuitBreaker, type Opening, type Ticket } from '#core/provider-health/circuit-breaker.ts';
import type { Probe, ProbeAnswer } from '#core/provider-health/probe-provider.ts';
import { Prober, type Verdict } from '#core/provider-health/prober.ts';
import {
  type CallEvidence,
  type OpenBreaker,
  ProviderHealth,
  type Wait,
} from '#core/provider-health/provider-health.ts';

/**
 * Failures in a row, of more than one agent, after which an endpoint's circuit breaker opens although its
 * provider answers probes.
 */
export const BREAKER_FAILURES = 5;
/** A breaker stays closed if a call has worked within this time. */
export const BREAKER_WORKED_MS = 10 * SECOND_MS;
/** A fault of an endpoint is reported to the operator at most this often. */
const FAULT_SAID_MS = 10 * MINUTE_MS;
/** Endpoints whose health is remembered. Beyond it all are forgotten; an operator has some hundreds. */
const ENDPOINTS_WATCHED_MAX = 20_000;

/** An endpoint is told from others by these two. An endpoint of an image model is one, too. */
export type WatchedEndpoint = Pick<Endpoint, 'providerId' | 'upstreamModel'>;

/** An endpoint that a call may be sent to, with its provider. */
export interface Target {
  endpoint: WatchedEndpoint;
  provider: Provider;
}

/** A call can show a fault of its endpoint, of the provider's address, or of our key. */
export type CallFault =
  /** It worked. */
  | { kind: 'none' }
  /** The provider answered, and the answer says nothing about its health: a refused parameter, for example. */
  | { kind: 'refused' }
  | Extract<CallEvidence, { kind: 'unconnected' | 'key_refused' | 'unpaid' | 'rate_limited' | 'nothing' }>
  /** One model at a router is at its limit, and our key is not. */
  | { kind: 'endpoint_rate_limited'; waitMs: number }
  /** A 5xx, no status in time, or a broken answer. A crafted request may cause each of them. */
  | { kind: 'failing' }
  /** The caller did not wait for the status any more. It counts as `failing` for a probe, and for nothing else. */
  | { kind: 'late' };

export interface CallOutcome {
  fault: CallFault;
  agentId: number;
  /** A cheap digest of the caller's body. It is asked for after a failure only. */
  digest: () => number;
  withTools: boolean;
  durationMs: number;
  tokens: number;
}

export interface EndpointHealthOptions {
  clock: Clock;
  providers: ProviderHealth;
  prober: Prober;
}

/**
 * How the endpoints of this process have done lately, each with a circuit breaker of its own behind the two of its provider.
 * Each process learns for itself.
 */
export class EndpointHealth {
  readonly #options: EndpointHealthOptions;
  readonly #watched = new Map<string, Health>();

  constructor(options: EndpointHealthOptions) {
    this.#options = options;
  }

  /** Addresses and keys, which calls for videos share. */
  get providers(): ProviderHealth {
    return this.#options.providers;
  }

  /** Stops the probes. A breaker that is open stays so. */
  close(): void {
    this.#options.prober.close();
  }

  /** `null`: a call may be sent now. */
  waitFor({ endpoint, provider }: Target): Wait | null {
    const providerWait = this.#options.providers.waitFor(provider);
    if (providerWait !== null) return providerWait;
    const breaker = this.#watched.get(keyOf(endpoint))?.breaker;
    const cause = breaker?.cause ?? null;
    if (breaker === undefined || cause === null) return null;
    const waitMs = breaker.waitMs(this.#options.clock.monotonicMs());
    return waitMs === null ? null : { cause, waitMs };
  }

  /** A call is sent, unless a breaker is open. Of many calls that wait for a half-open one, the first is let through. */
  begin(target: Target): Ticket | Wait {
    const wait = this.waitFor(target);
    if (wait !== null) return wait;
    const ticket = this.#options.providers.begin(target.provider);
    this.#watched.get(keyOf(target.endpoint))?.breaker.begin(ticket, this.#options.clock.monotonicMs());
    return ticket;
  }

  /** The status is 200: whatever else becomes of the answer, the provider takes our calls. */
  accepted({ endpoint, provider }: Target, ticket: Ticket): void {
    this.#options.providers.note(provider, ticket, { kind: 'accepted' });
    this.#watched.get(keyOf(endpoint))?.breaker.callWorked(ticket);
  }

  end(target: Target, ticket: Ticket, outcome: CallOutcome): void {
    const { fault } = outcome;
    this.#options.providers.note(target.provider, ticket, evidenceOf(fault));
    if (fault.kind === 'nothing') {
      this.#watched.get(keyOf(target.endpoint))?.breaker.release(ticket);
      return;
    }
    const health = this.#of(target.endpoint);
    if (outcome.withTools) {
      const worked = fault.kind === 'none' || fault.kind === 'refused' || fault.kind === 'rate_limited';
      health.toolSuccess = lately(health.toolSuccess, worked ? 1 : 0);
    }
    switch (fault.kind) {
      case 'none':
        this.#worked(health, ticket, outcome);
        break;
      case 'endpoint_rate_limited': {
        const waitMs = Math.min(fault.waitMs, KEY_RATE_LIMIT_MAX_MS);
        this.#open(health, ticket, { cause: 'rate_limited', recovery: 'call', waitMs });
        break;
      }
      case 'failing':
      case 'late':
        this.#failed(target, health, ticket, outcome);
        break;
      default:
        health.breaker.release(ticket);
    }
  }

  /** A fault of an endpoint is reported once in a while, not with each of its calls. */
  isNews(endpoint: WatchedEndpoint, fault: string): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const { reportedUntilMs } = this.#of(endpoint);
    if (nowMs < (reportedUntilMs.get(fault) ?? 0)) return false;
    reportedUntilMs.set(fault, nowMs + FAULT_SAID_MS);
    return true;
  }

  /** `null`: not known yet. */
  tokensPerMs(endpoint: WatchedEndpoint): number | null {
    return this.#watched.get(keyOf(endpoint))?.tokensPerMs ?? null;
  }

  /** The share of calls with tools that did not fail; `null`: not known yet. */
  toolSuccess(endpoint: WatchedEndpoint): number | null {
    return this.#watched.get(keyOf(endpoint))?.toolSuccess ?? null;
  }

  /** The open breakers of providers and of single endpoints. */
  open(): OpenBreaker[] {
    const open = this.#options.providers.open();
    for (const { providerId, breaker } of this.#watched.values()) {
      if (breaker.cause !== null) open.push({ providerId, cause: breaker.cause });
    }
    return open;
  }

  #worked(health: Health, ticket: Ticket, { durationMs, tokens }: CallOutcome): void {
    health.breaker.callWorked(ticket);
    health.failures = noFailures();
    health.workedAtMs = this.#options.clock.monotonicMs();
    if (durationMs > 0 && tokens > 0) health.tokensPerMs = lately(health.tokensPerMs, tokens / durationMs);
  }

  /**
   * Two different bodies that failed are a reason to probe, and a failed probe opens the breaker: a crafted body can make calls
   * fail, not probes. Where the probe passes, only failures of several agents in a row open it, and none while calls work.
   */
  #failed(target: Target, health: Health, ticket: Ticket, { agentId, digest, fault }: CallOutcome): void {
    const { failures } = health;
    const bodyDigest = digest();
    failures.bodiesDiffer ||= failures.digest !== null && failures.digest !== bodyDigest;
    failures.digest ??= bodyDigest;
    if (failures.bodiesDiffer) void this.#probeSuspect(target, health, ticket);
    if (fault.kind !== 'late') {
      failures.agentsDiffer ||= failures.agentId !== null && failures.agentId !== agentId;
      failures.agentId ??= agentId;
      failures.count++;
      if (this.#failsForAll(health)) {
        this.#open(health, ticket, { cause: 'failing', recovery: 'call', waitMs: null });
        return;
      }
    }
    health.breaker.release(ticket);
  }

  #failsForAll({ failures, workedAtMs }: Health): boolean {
    const { count, agentsDiffer, bodiesDiffer } = failures;
    const nowMs = this.#options.clock.monotonicMs();
    const workedLately = workedAtMs !== null && nowMs - workedAtMs < BREAKER_WORKED_MS;
    return count >= BREAKER_FAILURES && agentsDiffer && bodiesDiffer && !workedLately;
  }

  async #probeSuspect({ endpoint, provider }: Target, health: Health, ticket: Ticket): Promise<void> {
    const { prober, providers } = this.#options;
    const { failures } = health;
    const answer = await prober.askNow(provider);
    // A call that worked meanwhile has begun a new count.
    if (answer === null || judge(answer) === 'passed' || health.failures !== failures) return;
    if (!this.#open(health, ticket, { cause: 'failing', recovery: 'probe', waitMs: null })) return;
    prober.recover({
      provider: () =>
        this.#watched.get(keyOf(endpoint)) === health ? providers.current(endpoint.providerId) : undefined,
      breaker: health.breaker,
      target: 'models',
      judge,
      onClosed() {
        health.failures = noFailures();
      },
    });
  }

  #open(health: Health, ticket: Ticket, opening: Opening): boolean {
    const { clock, providers } = this.#options;
    return health.breaker.open(ticket, opening, providers.newestOrder, clock.monotonicMs());
  }

  #of({ providerId, upstreamModel }: WatchedEndpoint): Health {
    const key = keyOf({ providerId, upstreamModel });
    const known = this.#watched.get(key);
    if (known !== undefined) return known;
    if (this.#watched.size >= ENDPOINTS_WATCHED_MAX) this.#watched.clear();
    const health: Health = {
      providerId,
      breaker: new CircuitBreaker(BREAKER_COOLDOWN_MAX_MS),
      failures: noFailures(),
      workedAtMs: null,
      reportedUntilMs: new Map(),
      tokensPerMs: null,
      toolSuccess: null,
    };
    this.#watched.set(key, health);
    return health;
  }
}

interface Health {
  providerId: string;
  breaker: CircuitBreaker;
  failures: Failures;
  /** When a call worked last. */
  workedAtMs: number | null;
  /** Faults that the operator has been told of, and until when that will do. */
  reportedUntilMs: Map<string, number>;
  tokensPerMs: number | null;
  toolSuccess: number | null;
}

/** Since the last call that worked. One digest and one agent are kept, so that the next can be told from them. */
interface Failures {
  count: number;
  digest: number | null;
  bodiesDiffer: boolean;
  agentId: number | null;
  agentsDiffer: boolean;
}

const noFailures = (): Failures => ({
  count: 0,
  digest: null,
  bodiesDiffer: false,
  agentId: null,
  agentsDiffer: false,
});

/** Whoever answers a probe is alive, a refusal of our key included. */
const judge = (answer: ProbeAnswer): Verdict =>
  answer.kind === 'answered' && answer.status < 500 ? 'passed' : 'failed';

function evidenceOf(fault: CallFault): CallEvidence {
  switch (fault.kind) {
    case 'none':
      return { kind: 'accepted' };
    case 'unconnected':
    case 'key_refused':
    case 'unpaid':
    case 'rate_limited':
    case 'nothing':
      return fault;
    case 'failing':
    case 'late':
      return { kind: 'nothing' };
    case 'refused':
    case 'endpoint_rate_limited':
      return { kind: 'connected' };
  }
}

export interface HealthSources {
  clock: Clock;
  log: Log;
  /** `null`: nothing is probed. */
  probe: Probe | null;
  /** A provider as it is configured now. */
  current: (providerId: string) => Provider | undefined;
}

/** All circuit breakers of a process. */
export function createEndpointHealth({ clock, log, probe, current }: HealthSources): EndpointHealth {
  const prober = new Prober({ clock, probe });
  return new EndpointHealth({
    clock,
    prober,
    providers: new ProviderHealth({ clock, log, prober, current }),
  });
}

const keyOf = ({ providerId, upstreamModel }: WatchedEndpoint): string => `${providerId} ${upstreamModel}`;

const SHARE_OF_NEW = 0.2;
const lately = (known: number | null, value: number): number =>
  known === null ? value : known + SHARE_OF_NEW * (value - known);
