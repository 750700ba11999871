import { describe, expect, it } from 'vitest';
import { BREAKER_FAILURES, BREAKER_REST_MAX_MS, BREAKER_REST_MS } from '#core/limits.ts';
import { type CallOutcome, EndpointHealth } from '../../api/inference/routing/endpoint-health.ts';
import { orderEndpoints } from '../../api/inference/routing/order-endpoints.ts';
import { atto, endpoint, prices } from './support.ts';

const here = endpoint({ providerId: 'a' });
const outcome = (given: Partial<CallOutcome> = {}): CallOutcome => ({
  failed: 'no',
  agentId: 1,
  withTools: false,
  durationMs: 1_000,
  tokens: 100,
  ...given,
});
const down = outcome({ failed: 'any_request' });

function broken(): EndpointHealth {
  const health = new EndpointHealth();
  for (let i = 0; i < BREAKER_FAILURES; i++) health.end(here, down, 0);
  return health;
}

describe('an endpoint that fails', () => {
  it('a few times is asked on', () => {
    const health = new EndpointHealth();
    for (let i = 1; i < BREAKER_FAILURES; i++) health.end(here, down, 0);
    expect(health.restMs(here, 0)).toBeNull();
    health.end(here, outcome(), 0);
    health.end(here, down, 0);
    expect(health.restMs(here, 0)).toBeNull();
  });

  it('time and again rests, and others do not', () => {
    const health = broken();
    expect(health.restMs(here, 0)).toBe(BREAKER_REST_MS);
    expect(health.restMs(here, BREAKER_REST_MS - 1)).toBe(1);
    expect(health.restMs(here, BREAKER_REST_MS)).toBeNull();
    expect(health.restMs(endpoint({ providerId: 'b' }), 0)).toBeNull();
    expect(health.restMs(endpoint({ providerId: 'a', upstreamModel: 'other' }), 0)).toBeNull();
  });

  it('is probed by one call after its rest, and comes back with it', () => {
    const health = broken();
    health.begin(here, BREAKER_REST_MS);
    expect(health.restMs(here, BREAKER_REST_MS)).not.toBeNull();
    health.end(here, outcome(), BREAKER_REST_MS + 1);
    expect(health.restMs(here, BREAKER_REST_MS + 1)).toBeNull();
  });

  it('rests longer each time that a probe fails, never longer than a minute', () => {
    const health = broken();
    let nowMs = BREAKER_REST_MS;
    const rests: (number | null)[] = [];
    for (let i = 0; i < 6; i++) {
      health.begin(here, nowMs);
      health.end(here, down, nowMs);
      const restMs = health.restMs(here, nowMs);
      rests.push(restMs);
      nowMs += restMs ?? 0;
    }
    expect(rests.slice(0, 3)).toEqual([2, 4, 8].map((times) => times * BREAKER_REST_MS));
    expect(rests.at(-1)).toBe(BREAKER_REST_MAX_MS);
  });

  it('is probed anew when a probe shows nothing, or never ends', () => {
    const health = broken();
    health.begin(here, BREAKER_REST_MS);
    health.letGo(here);
    expect(health.restMs(here, BREAKER_REST_MS)).toBeNull();
    health.begin(here, BREAKER_REST_MS);
    expect(health.restMs(here, 2 * BREAKER_REST_MS)).toBeNull();
  });

  it('is not taken from all by one agent whose requests it cannot run', () => {
    const health = new EndpointHealth();
    const odd = outcome({ failed: 'this_request', agentId: 1 });
    for (let i = 0; i < 3 * BREAKER_FAILURES; i++) health.end(here, odd, 0);
    expect(health.restMs(here, 0)).toBeNull();
    health.end(here, { ...odd, agentId: 2 }, 0);
    expect(health.restMs(here, 0)).not.toBeNull();
  });
});

describe('the endpoints of a model', () => {
  const cheap = endpoint({ providerId: 'cheap', prices: prices({ completion: atto('0.000001') }) });
  const quick = endpoint({ providerId: 'quick' });
  const sure = endpoint({ providerId: 'sure' });
  const all = [sure, quick, cheap].map((each) => ({ endpoint: each }));
  const health = new EndpointHealth();
  health.end(cheap, outcome({ tokens: 10, withTools: true }), 0);
  health.end(cheap, outcome({ failed: 'this_request', withTools: true }), 0);
  health.end(quick, outcome({ tokens: 500, withTools: true, failed: 'no' }), 0);
  health.end(quick, outcome({ withTools: true, failed: 'this_request' }), 0);
  health.end(quick, outcome({ tokens: 500, withTools: true }), 0);
  health.end(sure, outcome({ tokens: 100, withTools: true }), 0);
  const order = (steering: string | null = null) =>
    orderEndpoints(all, steering, health).map((each) => each.endpoint.providerId);

  it('are tried as the operator wrote them, or as a suffix steers', () => {
    expect(order()).toEqual(['sure', 'quick', 'cheap']);
    expect(order('floor')[0]).toBe('cheap');
    expect(order('nitro')).toEqual(['quick', 'sure', 'cheap']);
    expect(order('exacto')).toEqual(['sure', 'quick', 'cheap']);
  });

  it('come first while nothing is known of them', () => {
    const fresh = { endpoint: endpoint({ providerId: 'new' }) };
    expect(orderEndpoints([...all, fresh], 'nitro', health)[0]).toBe(fresh);
  });
});
