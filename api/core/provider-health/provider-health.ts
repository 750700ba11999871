import { createHmac, randomBytes } from 'node:crypto';
import type { Provider } from '../catalog/catalog.ts';
import { type Clock, SECOND_MS } from '../clock.ts';
import { BREAKER_COOLDOWN_MAX_MS, KEY_RATE_LIMIT_MAX_MS, PROVIDERS_MAX } from '../limits.ts';
import type { Log } from '../log.ts';
import { type BreakerCause, CircuitBreaker, type Opening, type Ticket } from './circuit-breaker.ts';
import type { ProbeAnswer, ProbeTarget } from './probe-provider.ts';
import type { Prober, Verdict } from './prober.ts';

/**
 * The longest cooldown of a key that a provider refuses or that has no credit. Vendors count such requests,
 * so it is tried rarely.
 */
export const KEY_COOLDOWN_MAX_MS = 60 * SECOND_MS;

/** Why nothing is sent, and for how long. */
export interface Wait {
  cause: BreakerCause;
  waitMs: number;
}

/** The evidence of one call about a provider's address and our key there. */
export type CallEvidence =
  /** An answer that no provider gives without a valid key. */
  | { kind: 'accepted' }
  /** Any other answer. */
  | { kind: 'connected' }
  /** Refused, no such name, TLS: no byte of the request was sent. */
  | { kind: 'unconnected' }
  | { kind: 'key_refused' | 'unpaid' }
  | { kind: 'rate_limited'; waitMs: number }
  | { kind: 'nothing' };

export interface ProviderHealthOptions {
  clock: Clock;
  log: Log;
  prober: Prober;
  /** The provider as it is configured now. */
  current: (providerId: string) => Provider | undefined;
}

/** An open breaker, for the operator. */
export interface OpenBreaker {
  providerId: string;
  cause: BreakerCause;
}

/**
 * Two circuit breakers for each provider: its address, and our key there. Nothing that a caller writes into a request can open
 * one, so the first failure of any caller does.
 */
export class ProviderHealth {
  readonly #options: ProviderHealthOptions;
  readonly #watched = new Map<string, Watched>();
  #order = 0;

  constructor(options: ProviderHealthOptions) {
    this.#options = options;
  }

  /** `null`: a call may be sent now. */
  waitFor(provider: Provider): Wait | null {
    const watched = this.#watched.get(identityOf(provider));
    if (watched === undefined) return null;
    const nowMs = this.#options.clock.monotonicMs();
    return waitOf(watched.address, nowMs) ?? waitOf(watched.key, nowMs);
  }

  /** A call is sent. `waitFor` has to have said that it may. */
  begin(provider: Provider): Ticket {
    const ticket = { order: ++this.#order };
    const watched = this.#watched.get(identityOf(provider));
    if (watched === undefined) return ticket;
    const nowMs = this.#options.clock.monotonicMs();
    watched.address.begin(ticket, nowMs);
    watched.key.begin(ticket, nowMs);
    return ticket;
  }

  /** The newest call that has been sent by now. */
  get newestOrder(): number {
    return this.#order;
  }

  note(provider: Provider, ticket: Ticket, evidence: CallEvidence): void {
    const identity = identityOf(provider);
    const watched = this.#watched.get(identity);
    switch (evidence.kind) {
      case 'accepted':
      case 'connected':
        if (watched === undefined) return;
        watched.address.callWorked(ticket);
        if (evidence.kind === 'accepted') watched.key.callWorked(ticket);
        else watched.key.release(ticket);
        if (watched.address.isPristine && watched.key.isPristine) this.#watched.delete(identity);
        return;
      case 'nothing':
        watched?.address.release(ticket);
        watched?.key.release(ticket);
        return;
      default:
        this.#open(provider, ticket, evidence);
    }
  }

  open(): OpenBreaker[] {
    const found: OpenBreaker[] = [];
    for (const { provider, address, key } of this.#watched.values()) {
      for (const { cause } of [address, key])
        if (cause !== null) found.push({ providerId: provider.id, cause });
    }
    return found;
  }

  #open(provider: Provider, ticket: Ticket, failure: Failure): void {
    const { clock, log, prober } = this.#options;
    const watched = this.#watch(provider);
    const part = failure.kind === 'unconnected' ? 'address' : 'key';
    // A provider that refuses our key was reached.
    if (part === 'key') watched.address.callWorked(ticket);
    else watched.key.release(ticket);
    const opening = openingOf(failure);
    const breaker = watched[part];
    if (!breaker.open(ticket, opening, this.#order, clock.monotonicMs())) return;
    const { cause } = opening;
    if (cause !== 'rate_limited' && !watched.reported.has(cause)) {
      watched.reported.add(cause);
      log.warn('circuit breaker of a provider opened', { provider: provider.id, cause });
    }
    if (opening.recovery !== 'probe') return;
    prober.recover({
      provider: () => (this.#isCurrent(provider) ? provider : undefined),
      breaker,
      ...(part === 'address' ? addressProbe : keyProbe),
      onClosed: () => log.info('circuit breaker of a provider closed', { provider: provider.id, cause }),
    });
  }

  #watch(provider: Provider): Watched {
    const identity = identityOf(provider);
    const known = this.#watched.get(identity);
    if (known !== undefined) return known;
    // Every change of a key or an address makes a new identity, and leaves the old one behind.
    if (this.#watched.size >= 2 * PROVIDERS_MAX) {
      for (const [each, old] of this.#watched) if (!this.#isCurrent(old.provider)) this.#watched.delete(each);
    }
    const watched: Watched = {
      provider,
      address: new CircuitBreaker(BREAKER_COOLDOWN_MAX_MS),
      key: new CircuitBreaker(KEY_COOLDOWN_MAX_MS),
      reported: new Set(),
    };
    this.#watched.set(identity, watched);
    return watched;
  }

  /** The provider as it is configured now. */
  current(providerId: string): Provider | undefined {
    return this.#options.current(providerId);
  }

  #isCurrent(provider: Provider): boolean {
    const current = this.current(provider.id);
    return current !== undefined && identityOf(current) === identityOf(provider);
  }
}

type Failure = Extract<CallEvidence, { kind: 'unconnected' | 'key_refused' | 'unpaid' | 'rate_limited' }>;

function openingOf(failure: Failure): Opening {
  const cause = failure.kind;
  switch (failure.kind) {
    case 'unconnected':
    case 'key_refused':
      return { cause, recovery: 'probe', waitMs: null };
    case 'unpaid':
      // A list of models is there for an account without money, too, and each vendor's balance has an interface of its own,
      // often with another key. So a call tells, one after each cooldown.
      return { cause, recovery: 'call', waitMs: null };
    case 'rate_limited':
      return { cause, recovery: 'call', waitMs: Math.min(failure.waitMs, KEY_RATE_LIMIT_MAX_MS) };
  }
}

interface Watched {
  provider: Provider;
  address: CircuitBreaker;
  key: CircuitBreaker;
  /** Causes that the operator has read of since the last call that worked. */
  reported: Set<BreakerCause>;
}

function waitOf(breaker: CircuitBreaker, nowMs: number): Wait | null {
  const { cause } = breaker;
  const waitMs = cause === null ? null : breaker.waitMs(nowMs);
  return cause === null || waitMs === null ? null : { cause, waitMs };
}

const addressProbe: { target: ProbeTarget; judge: (answer: ProbeAnswer) => Verdict } = {
  target: 'models',
  judge: ({ kind }) => (kind === 'unconnected' ? 'failed' : 'passed'),
};

const keyProbe: typeof addressProbe = {
  target: 'key',
  judge(answer) {
    if (answer.kind !== 'answered') return 'failed';
    if (answer.status >= 200 && answer.status < 300) return 'passed';
    // Not every server has a list of models.
    return answer.status === 404 || answer.status === 405 ? 'unknown' : 'failed';
  },
};

/**
 * A provider with this address and this key. A changed key or address is a new one, whose breakers are closed. The key itself
 * stays where it is: what stands here, and may be seen in a dump, is a hash that no other process makes.
 */
function identityOf(provider: Provider): string {
  const known = identities.get(provider);
  if (known !== undefined) return known;
  const hash = createHmac('sha256', hashKey).update(`${provider.baseUrl}\0${provider.apiKey ?? ''}`);
  const identity = `${provider.id} ${hash.digest('base64url').slice(0, 16)}`;
  identities.set(provider, identity);
  return identity;
}
const identities = new WeakMap<Provider, string>();
const hashKey = randomBytes(32);
