import { describe, expect, it } from 'vitest';
import { BREAKER_COOLDOWN_MAX_MS, BREAKER_COOLDOWN_MS, KEY_RATE_LIMIT_MAX_MS } from '#core/limits.ts';
import type { Ticket } from '#core/provider-health/circuit-breaker.ts';
import type { Probe, ProbeAnswer, ProbeTarget } from '#core/provider-health/probe-provider.ts';
import { KEY_COOLDOWN_MAX_MS } from '#core/provider-health/provider-health.ts';
import {
  BREAKER_FAILURES,
  BREAKER_WORKED_MS,
  type CallFault,
  type CallOutcome,
  createEndpointHealth,
  type Target,
} from '../../api/inference/routing/endpoint-health.ts';
import { orderEndpoints } from '../../api/inference/routing/resolve-models.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { plainHealth } from '../support/plain-health.ts';
import { atto, endpoint, prices, provider } from './support.ts';

const here: Target = { endpoint: endpoint({ providerId: 'a' }), provider: provider({ id: 'a' }) };
const otherModel: Target = { ...here, endpoint: endpoint({ providerId: 'a', upstreamModel: 'other' }) };
const elsewhere: Target = { endpoint: endpoint({ providerId: 'b' }), provider: provider({ id: 'b' }) };

const outcome = (given: Partial<CallOutcome> = {}): CallOutcome => ({
  fault: { kind: 'none' },
  agentId: 1,
  digest: () => 1,
  withTools: false,
  durationMs: 1_000,
  tokens: 100,
  ...given,
});
const failing: CallFault = { kind: 'failing' };
const alive: ProbeAnswer = { kind: 'answered', status: 200 };
const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A world of one provider that answers probes as the test says. */
function startWorld(firstAnswer: ProbeAnswer | null = alive) {
  const clock = createFakeClock();
  const probes: ProbeTarget[] = [];
  const world = { answer: firstAnswer, configured: here.provider };
  const probe: Probe = async (_provider, target) => {
    probes.push(target);
    return world.answer ?? (await new Promise<never>(() => {}));
  };
  const health = createEndpointHealth({
    clock,
    log: { info() {}, warn() {}, error() {} },
    probe,
    current: (id) => (id === 'a' ? world.configured : undefined),
  });
  return {
    ...world,
    world,
    clock,
    health,
    probes,
    waitMs: (target = here) => health.waitFor(target)?.waitMs ?? null,
    /** A call that is sent, and ends so. */
    async call(given: Partial<CallOutcome> = {}, target = here): Promise<void> {
      const ticket = health.begin(target);
      if ('waitMs' in ticket) throw new Error(`not sent: ${ticket.cause}`);
      health.end(target, ticket, outcome(given));
      await soon();
    },
    async advance(ms: number): Promise<void> {
      clock.advance(ms);
      await soon();
    },
  };
}

/** The cooldowns one after the other, each ended as `step` does it. */
async function cooldowns(times: number, next: () => Promise<number | null>): Promise<(number | null)[]> {
  const found: (number | null)[] = [];
  for (let i = 0; i < times; i++) found.push(await next());
  return found;
}

describe('a provider that cannot be reached', () => {
  const unconnected = outcome({ fault: { kind: 'unconnected' } });

  it('is not asked again after one call, for any of its models, and other providers are', async () => {
    const { call, waitMs } = startWorld({ kind: 'unconnected' });
    await call(unconnected);
    expect(waitMs()).toBe(BREAKER_COOLDOWN_MS);
    expect(waitMs(otherModel)).toBe(BREAKER_COOLDOWN_MS);
    expect(waitMs(elsewhere)).toBeNull();
  });

  it('is probed within two seconds, and takes calls as soon as a probe connects', async () => {
    const { call, waitMs, advance, probes, world } = startWorld({ kind: 'unconnected' });
    await call(unconnected);
    await advance(BREAKER_COOLDOWN_MS);
    expect(probes).toEqual(['models']);
    expect(waitMs()).toBe(2 * BREAKER_COOLDOWN_MS);
    world.answer = { kind: 'answered', status: 503 };
    await advance(2 * BREAKER_COOLDOWN_MS);
    expect(probes).toHaveLength(2);
    expect(waitMs()).toBeNull();
  });

  it('is probed after cooldowns that double up to ten seconds, and begin again once a call has worked', async () => {
    const { call, waitMs, advance, world } = startWorld({ kind: 'unconnected' });
    await call(unconnected);
    const next = async () => {
      const ms = waitMs();
      await advance(ms ?? 0);
      return ms;
    };
    expect(await cooldowns(5, next)).toEqual([2_000, 4_000, 8_000, 10_000, BREAKER_COOLDOWN_MAX_MS]);
    world.answer = alive;
    await next();
    expect(waitMs()).toBeNull();
    await call();
    await call(unconnected);
    expect(waitMs()).toBe(BREAKER_COOLDOWN_MS);
  });

  it('costs many calls that were sent side by side one cooldown', async () => {
    const { health, waitMs } = startWorld({ kind: 'unconnected' });
    const tickets = Array.from({ length: 20 }, () => health.begin(here) as Ticket);
    for (const ticket of tickets) health.end(here, ticket, unconnected);
    expect(waitMs()).toBe(BREAKER_COOLDOWN_MS);
  });

  it('has one probe at a time, however many breakers wait for one', async () => {
    const { call, advance, probes } = startWorld(null);
    await call(unconnected);
    await advance(BREAKER_COOLDOWN_MS);
    await advance(60_000);
    expect(probes).toHaveLength(1);
  });

  it('is not probed any more once the process ends', async () => {
    const { call, health, clock } = startWorld({ kind: 'unconnected' });
    await call(unconnected);
    expect(clock.pendingTimers()).toBe(1);
    health.close();
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('our key at a provider', () => {
  it('that is refused once is not used again until a probe passes, whoever calls', async () => {
    const { call, waitMs, advance, probes, world } = startWorld({ kind: 'answered', status: 401 });
    await call({ fault: { kind: 'key_refused' } });
    expect(waitMs(otherModel)).toBe(BREAKER_COOLDOWN_MS);
    await advance(BREAKER_COOLDOWN_MS);
    expect(probes).toEqual(['key']);
    expect(waitMs()).toBe(2 * BREAKER_COOLDOWN_MS);
    world.answer = alive;
    await advance(2 * BREAKER_COOLDOWN_MS);
    expect(waitMs()).toBeNull();
  });

  it('that is refused is used at once when the operator changes it', async () => {
    const { call, waitMs, advance, probes, world } = startWorld({ kind: 'answered', status: 401 });
    await call({ fault: { kind: 'key_refused' } });
    const changed = { ...here, provider: provider({ id: 'a', apiKey: 'another key' }) };
    world.configured = changed.provider;
    expect(waitMs(changed)).toBeNull();
    expect(waitMs()).not.toBeNull();
    await advance(BREAKER_COOLDOWN_MS);
    expect(probes).toEqual([]);
    expect(waitMs({ ...here, provider: { ...here.provider } })).toBeNull();
  });

  it('that is refused is tried by one call where the provider has no list to probe', async () => {
    const { call, waitMs, advance, health } = startWorld({ kind: 'answered', status: 404 });
    await call({ fault: { kind: 'key_refused' } });
    await advance(BREAKER_COOLDOWN_MS);
    expect(waitMs()).toBeNull();
    expect(health.begin(here)).toHaveProperty('order');
    expect(health.begin(here)).toHaveProperty('waitMs');
  });

  it('without money is tried by one call after each cooldown, up to a minute, and no probe is sent', async () => {
    const { call, waitMs, advance, probes } = startWorld();
    await call({ fault: { kind: 'unpaid' } });
    const next = async () => {
      const ms = waitMs();
      await advance(ms ?? 0);
      await call({ fault: { kind: 'unpaid' } });
      return ms;
    };
    expect(await cooldowns(7, next)).toEqual([
      2_000,
      4_000,
      8_000,
      16_000,
      32_000,
      60_000,
      KEY_COOLDOWN_MAX_MS,
    ]);
    expect(probes).toEqual([]);
    await advance(KEY_COOLDOWN_MAX_MS);
    await call();
    expect(waitMs()).toBeNull();
  });

  it.each([
    [700, 700],
    [7_000, 7_000],
    [60_000, KEY_RATE_LIMIT_MAX_MS],
  ])(
    'at its rate limit is not used for the %i ms that the provider names, but for ten seconds at most',
    async (named, waited) => {
      const { call, waitMs, advance } = startWorld();
      await call({ fault: { kind: 'rate_limited', waitMs: named } });
      expect(waitMs(otherModel)).toBe(waited);
      await advance(waited - 1);
      expect(waitMs()).toBe(1);
      await advance(1);
      await call();
      expect(waitMs()).toBeNull();
    },
  );

  it('at its rate limit waits no longer each time: the provider says how long', async () => {
    const { call, waitMs, advance } = startWorld();
    for (let i = 0; i < 4; i++) {
      await call({ fault: { kind: 'rate_limited', waitMs: 1_000 } });
      expect(waitMs()).toBe(1_000);
      await advance(1_000);
    }
  });

  it('is used for other models where a router names the vendor whose limit was met', async () => {
    const { call, waitMs } = startWorld();
    await call({ fault: { kind: 'endpoint_rate_limited', waitMs: 3_000 } });
    expect(waitMs()).toBe(3_000);
    expect(waitMs(otherModel)).toBeNull();
  });
});

describe('an endpoint whose calls fail', () => {
  it('is asked no more after two different bodies and a failed probe, all of one agent', async () => {
    const { call, waitMs, probes } = startWorld({ kind: 'answered', status: 500 });
    await call({ fault: failing, digest: () => 1 });
    expect(probes).toEqual([]);
    await call({ fault: failing, digest: () => 2 });
    expect(probes).toEqual(['models']);
    expect(waitMs()).toBe(BREAKER_COOLDOWN_MS);
    expect(waitMs(elsewhere)).toBeNull();
  });

  it.each<[string, ProbeAnswer]>([
    ['does not connect', { kind: 'unconnected' }],
    ['has no answer', { kind: 'no_answer' }],
    ['is answered with 503', { kind: 'answered', status: 503 }],
  ])('is asked no more where the probe %s', async (_, answer) => {
    const { call, waitMs } = startWorld(answer);
    await call({ fault: failing, digest: () => 1 });
    await call({ fault: failing, digest: () => 2 });
    expect(waitMs()).toBe(BREAKER_COOLDOWN_MS);
  });

  it('is shut by no agent with one body, however often it is sent, not even with a failed probe', async () => {
    const { call, waitMs, advance } = startWorld({ kind: 'answered', status: 500 });
    for (let i = 0; i < 10 * BREAKER_FAILURES; i++) {
      await call({ fault: failing });
      await advance(BREAKER_COOLDOWN_MS);
    }
    expect(waitMs()).toBeNull();
  });

  it('is shut by no agent with many bodies while probes pass, and is probed at most every two seconds', async () => {
    const { call, waitMs, advance, probes } = startWorld();
    for (let i = 0; i < 100; i++) {
      await call({ fault: failing, digest: () => i });
      await advance(BREAKER_COOLDOWN_MS / 10);
    }
    expect(waitMs()).toBeNull();
    expect(probes.length).toBeLessThanOrEqual(10);
    expect(probes.length).toBeGreaterThan(1);
  });

  it('takes calls again as soon as a probe passes', async () => {
    const { call, waitMs, advance, world } = startWorld({ kind: 'answered', status: 500 });
    await call({ fault: failing, digest: () => 1 });
    await call({ fault: failing, digest: () => 2 });
    world.answer = { kind: 'answered', status: 401 };
    await advance(BREAKER_COOLDOWN_MS);
    expect(waitMs()).toBeNull();
  });

  it('counts a caller who left after half a minute without a status as a reason to probe, and as nothing else', async () => {
    const { call, waitMs, probes } = startWorld();
    for (let i = 0; i < 3 * BREAKER_FAILURES; i++)
      await call({ fault: { kind: 'late' }, agentId: i, digest: () => i });
    expect(probes).toEqual(['models']);
    expect(waitMs()).toBeNull();
  });

  const severalAgents = async ({ call }: ReturnType<typeof startWorld>, times = BREAKER_FAILURES) => {
    for (let i = 0; i < times; i++) await call({ fault: failing, agentId: i, digest: () => i });
  };

  it('for several agents in a row is asked no more although probes pass, and one call tries it', async () => {
    const world = startWorld();
    await severalAgents(world, BREAKER_FAILURES - 1);
    expect(world.waitMs()).toBeNull();
    await severalAgents(world, 1);
    expect(world.waitMs()).toBe(BREAKER_COOLDOWN_MS);
    await world.advance(BREAKER_COOLDOWN_MS);
    const trial = world.health.begin(here) as Ticket;
    expect(world.health.begin(here)).toHaveProperty('waitMs');
    world.health.accepted(here, trial);
    expect(world.waitMs()).toBeNull();
  });

  it('for several agents in a row stays in use while other calls work', async () => {
    const world = startWorld();
    await world.call();
    await severalAgents(world, 4 * BREAKER_FAILURES);
    expect(world.waitMs()).toBeNull();
    await world.advance(BREAKER_WORKED_MS);
    await severalAgents(world, 1);
    expect(world.waitMs()).toBe(BREAKER_COOLDOWN_MS);
  });

  it('is tried by another call when the trial shows nothing, or has no status within ten seconds', async () => {
    const world = startWorld();
    await severalAgents(world);
    await world.advance(BREAKER_COOLDOWN_MS);
    await world.call({ fault: { kind: 'nothing' } });
    expect(world.waitMs()).toBeNull();
    world.health.begin(here);
    expect(world.waitMs()).not.toBeNull();
    await world.advance(10_000);
    expect(world.waitMs()).toBeNull();
  });

  it('is not opened by the late news of a call that was sent before a call worked', async () => {
    const { call, waitMs, health } = startWorld({ kind: 'answered', status: 500 });
    await call({ fault: failing, digest: () => 1 });
    const ticket = health.begin(here) as Ticket;
    health.end(here, ticket, outcome({ fault: failing, digest: () => 2 }));
    health.end(here, health.begin(here) as Ticket, outcome());
    await soon();
    expect(waitMs()).toBeNull();
  });
});

describe('the endpoints of a model', () => {
  const cheap = endpoint({ providerId: 'cheap', prices: prices({ completion: atto('0.000001') }) });
  const quick = endpoint({ providerId: 'quick' });
  const sure = endpoint({ providerId: 'sure' });
  const all = [sure, quick, cheap].map((each) => ({ endpoint: each }));
  const health = plainHealth();
  const end = (each: typeof cheap, given: Partial<CallOutcome>) => {
    const target = { endpoint: each, provider: provider({ id: each.providerId }) };
    health.end(target, health.begin(target) as Ticket, outcome({ withTools: true, ...given }));
  };
  end(cheap, { tokens: 10 });
  end(cheap, { fault: failing });
  end(quick, { tokens: 500 });
  end(quick, { fault: failing });
  end(quick, { tokens: 500 });
  end(sure, { tokens: 100 });
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
