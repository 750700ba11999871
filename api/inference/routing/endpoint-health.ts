import type { Endpoint } from '#core/catalog/catalog.ts';
import {
  BREAKER_FAILURES,
  BREAKER_REST_MAX_MS,
  BREAKER_REST_MS,
  ENDPOINTS_WATCHED_MAX,
  FAULT_SAID_MS,
} from '#core/limits.ts';

/** As far as one is told from another: of a model of pictures, too. */
export type WatchedEndpoint = Pick<Endpoint, 'providerId' | 'upstreamModel'>;

/** What one call at an endpoint told of it. */
export interface CallOutcome {
  /** `any_request` would have failed so: it cannot be reached, or refuses our account. */
  failed: 'no' | 'this_request' | 'any_request';
  agentId: number;
  withTools: boolean;
  durationMs: number;
  tokens: number;
}

/**
 * How the endpoints of this process have done lately. One that fails time and again rests; then a single call probes it,
 * and the others go elsewhere until that has an answer. Each process learns for itself.
 */
export class EndpointHealth {
  readonly #known = new Map<string, Health>();

  /** How long no call may go there; `null`: it may now. */
  restMs(endpoint: Endpoint, nowMs: number): number | null {
    const health = this.#known.get(keyOf(endpoint));
    if (health === undefined || !isBroken(health)) return null;
    // A probe that is never answered must not keep it shut for ever.
    const restsUntilMs = Math.max(health.restsUntilMs, health.probeUntilMs);
    return nowMs < restsUntilMs ? restsUntilMs - nowMs : null;
  }

  /** A call goes there. After a rest it is the probe. */
  begin(endpoint: Endpoint, nowMs: number): void {
    const health = this.#known.get(keyOf(endpoint));
    if (health !== undefined && isBroken(health)) health.probeUntilMs = nowMs + restAfter(health.failures);
  }

  end(endpoint: Endpoint, outcome: CallOutcome, nowMs: number): void {
    const health = this.#of(endpoint);
    const { failed, agentId, withTools, durationMs, tokens } = outcome;
    if (withTools) health.toolSuccess = lately(health.toolSuccess, failed === 'no' ? 1 : 0);
    health.probeUntilMs = 0;
    if (failed === 'no') {
      health.failures = 0;
      health.failedAgentId = null;
      health.isBlameless = false;
      if (durationMs > 0 && tokens > 0) health.tokensPerMs = lately(health.tokensPerMs, tokens / durationMs);
      return;
    }
    // One agent's requests may be what no provider can run: they alone take nobody else's model away.
    if (failed === 'any_request' || (health.failedAgentId !== null && health.failedAgentId !== agentId)) {
      health.isBlameless = true;
    }
    health.failedAgentId = agentId;
    health.failures++;
    health.restsUntilMs = nowMs + restAfter(health.failures);
  }

  /** The call showed nothing: if it was the probe, the next one is. */
  letGo(endpoint: Endpoint): void {
    const health = this.#known.get(keyOf(endpoint));
    if (health !== undefined) health.probeUntilMs = 0;
  }

  /** What is wrong with an endpoint is said once, not with each of its calls. */
  isNews(endpoint: WatchedEndpoint, fault: string, nowMs: number): boolean {
    const { said } = this.#of(endpoint);
    if (nowMs < (said.get(fault) ?? 0)) return false;
    said.set(fault, nowMs + FAULT_SAID_MS);
    return true;
  }

  /** `null`: not known yet. */
  tokensPerMs(endpoint: Endpoint): number | null {
    return this.#known.get(keyOf(endpoint))?.tokensPerMs ?? null;
  }

  /** Of calls with tools, the share that did not fail; `null`: not known yet. */
  toolSuccess(endpoint: Endpoint): number | null {
    return this.#known.get(keyOf(endpoint))?.toolSuccess ?? null;
  }

  #of(endpoint: WatchedEndpoint): Health {
    const key = keyOf(endpoint);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= ENDPOINTS_WATCHED_MAX) this.#known.clear();
    const health: Health = {
      failures: 0,
      failedAgentId: null,
      isBlameless: false,
      said: new Map(),
      restsUntilMs: 0,
      probeUntilMs: 0,
      tokensPerMs: null,
      toolSuccess: null,
    };
    this.#known.set(key, health);
    return health;
  }
}

interface Health {
  /** In a row. */
  failures: number;
  failedAgentId: number | null;
  /** The failures are not those of one agent's requests. */
  isBlameless: boolean;
  /** Faults that the operator has been told of, and until when that will do. */
  said: Map<string, number>;
  restsUntilMs: number;
  probeUntilMs: number;
  tokensPerMs: number | null;
  toolSuccess: number | null;
}

const isBroken = ({ failures, isBlameless }: Health): boolean => failures >= BREAKER_FAILURES && isBlameless;

const keyOf = ({ providerId, upstreamModel }: WatchedEndpoint): string => `${providerId} ${upstreamModel}`;

/** Doubled with each failure of a probe. */
const restAfter = (failures: number): number =>
  Math.min(
    BREAKER_REST_MAX_MS,
    BREAKER_REST_MS * 2 ** Math.min(10, Math.max(0, failures - BREAKER_FAILURES)),
  );

const SHARE_OF_NEW = 0.2;
const lately = (known: number | null, value: number): number =>
  known === null ? value : known + SHARE_OF_NEW * (value - known);
