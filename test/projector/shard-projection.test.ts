import { describe, expect, test } from 'vitest';
import type { HistoryRows } from '#core/calls/history-store.ts';
import { PoisonRecordError } from '#core/ledger/cluster/effective-log.ts';
import type { StoredRecord } from '#core/ledger/cluster/ledger-log.ts';
import { HEARTBEAT_TEXT } from '#core/ledger/cluster/log-record.ts';
import { readCopy, ShardGapError } from '#core/ledger/cluster/shard-fold.ts';
import { apply } from '#core/ledger/machine/apply.ts';
import { checkIdentity } from '#core/ledger/machine/check-identity.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import { SNAPSHOT_EVENTS, SNAPSHOT_MS } from '#core/limits.ts';
import type { ShardProjection } from '../../workers/projector/shard-projection.ts';
import {
  PROJECTOR_RECORDS,
  PROJECTOR_RETRY_MS,
  PROJECTOR_RETRY_MS_MAX,
} from '../../workers/projector/shard-projection.ts';
import { until as untilTurn } from '../ledger/embedded-harness.ts';
import { createDraw, type Draw } from '../ledger/history/random.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { drawLedgerEvents } from '../support/ledger-events.ts';
import { createMemoryAgentStates } from '../support/memory-agent-states.ts';
import { chargedIn, createMemoryHistoryStore, type StoredHistory } from '../support/memory-history-store.ts';
import {
  newProjection,
  openProjection,
  ProjectedShard,
  type ProjectionTaps,
  readAll,
} from '../support/projected-shard.ts';

const SEEDS = Array.from({ length: 20 }, (_, i) => i + 1);
const STEPS = 600;

const shardOf = (seed: number): ProjectedShard =>
  new ProjectedShard(0).append(...drawLedgerEvents(seed, STEPS));

/** As one projection leaves it that nothing happens to. */
async function expectedOf(shard: ProjectedShard): Promise<StoredHistory> {
  const history = createMemoryHistoryStore();
  await readAll(await openProjection(0, { states: createMemoryAgentStates(), history }), shard);
  return history.stored();
}

describe('what the projector writes', () => {
  test.each(SEEDS)(
    'adds up: movements, calls and usage are the agents’ own charges (seed %i)',
    async (seed) => {
      const events = drawLedgerEvents(seed, STEPS);
      const stored = await expectedOf(new ProjectedShard(0).append(...events));
      const state = emptyLedger();
      for (const event of events) apply(state, event);
      const charged = [...state.agents.values()].reduce((sum, agent) => sum + agent.chargedNanoUsd, 0n);
      expect(chargedIn(stored)).toEqual({ calls: charged, entries: charged, usage: charged });
      for (const agent of state.agents.values()) {
        expect(checkIdentity(agent)).toBeNull();
        const accounts = new Map<string, bigint>();
        for (const { agentId, postings } of stored.entries) {
          if (agentId !== agent.agentId) continue;
          for (const { from, to, nanoUsd } of postings) {
            accounts.set(from, (accounts.get(from) ?? 0n) - nanoUsd);
            accounts.set(to, (accounts.get(to) ?? 0n) + nanoUsd);
          }
        }
        for (const { expiresAtMs, freeNanoUsd, heldNanoUsd } of agent.lots) {
          expect(accounts.get(`free:${expiresAtMs}`) ?? 0n).toBe(freeNanoUsd);
          expect(accounts.get(`held:${expiresAtMs}`) ?? 0n).toBe(heldNanoUsd);
        }
        expect(accounts.get('granted') ?? 0n).toBe(-agent.grantedNanoUsd);
        expect(accounts.get('expired') ?? 0n).toBe(agent.expiredNanoUsd);
        expect(accounts.get('charged') ?? 0n).toBe(agent.chargedNanoUsd);
        expect(accounts.get('moved') ?? 0n).toBe(agent.movedOutNanoUsd - agent.movedInNanoUsd);
      }
    },
  );

  test.each(SEEDS)(
    'is the same however often projectors die, take over and go on as zombies (seed %i)',
    async (seed) => {
      const draw = createDraw(seed);
      const shard = shardOf(seed);
      const stores = { states: createMemoryAgentStates(), history: createMemoryHistoryStore() };
      const lives: Life[] = [];
      let deaths = 0;
      for (let i = 0; i < 60; i++) {
        lives.push(await liveOn(stores, draw));
        // One that was replaced long ago may still be at it.
        for (const life of [lives.at(-1), lives[draw(lives.length)]]) {
          if (life === undefined || life.isDead) continue;
          await life.run(({ next }) => shard.from(next, next + BigInt(draw(8))));
          if (life.isDead) deaths++;
        }
      }
      await readAll(await openProjection(0, stores), shard);
      expect(stores.history.stored()).toEqual(await expectedOf(shard));
      expect(deaths).toBeGreaterThan(3);
    },
  );

  test('is written at once for what stands before a record that nobody can follow, and nothing after it', async () => {
    const shard = shardOf(1);
    const expected = await expectedOf(shard);
    shard.appendText('nonsense').append(...drawLedgerEvents(2, 10));
    const stores = { states: createMemoryAgentStates(), history: createMemoryHistoryStore() };
    const projection = await openProjection(0, stores);
    await expect(readAll(projection, shard)).rejects.toBeInstanceOf(PoisonRecordError);
    expect(stores.history.stored()).toEqual(expected);
    await projection.copyAtEnd();
    expect(await stores.states.readCheckpoint(0)).toBeNull();
  });

  test('waits for a store that is down, asks ever more seldom, and is whole when it is back', async () => {
    const shard = shardOf(1);
    const clock = createFakeClock();
    const history = createMemoryHistoryStore();
    let tries = 0;
    let isDown = true;
    const write = async (rows: HistoryRows) => {
      tries++;
      if (isDown) throw new Error('no host is available');
      await history.write(rows);
    };
    const logged: string[] = [];
    const log = { info() {}, warn() {}, error: (event: string) => void logged.push(event) };
    const states = createMemoryAgentStates();
    const projection = await openProjection(0, { states, history: { ...history, write }, clock, log });
    const reading = readAll(projection, shard);
    const waitedMs: number[] = [];
    for (let i = 0; i < 10; i++) {
      await untilTurn(() => tries === i + 1 && clock.pendingTimers() === 1);
      let waited = 0;
      for (; clock.pendingTimers() === 1; waited += PROJECTOR_RETRY_MS) clock.advance(PROJECTOR_RETRY_MS);
      waitedMs.push(waited);
    }
    expect(waitedMs.slice(0, 3)).toEqual([1, 2, 4].map((times) => times * PROJECTOR_RETRY_MS));
    expect(waitedMs.at(-1)).toBe(PROJECTOR_RETRY_MS_MAX);
    expect(new Set(logged)).toEqual(new Set(['a shard could not be projected, it is tried again']));
    expect(projection.lag().events).toBe(Number(shard.end));
    expect(projection.lag().ms).toBeGreaterThan(PROJECTOR_RETRY_MS_MAX);
    isDown = false;
    await reading;
    expect(projection.lag()).toEqual({ events: 0, ms: 0 });
    expect(history.stored()).toEqual(await expectedOf(shard));
  });

  test('keeps nobody who stops waiting for a store that is down', async () => {
    const shard = shardOf(1);
    const clock = createFakeClock();
    const down = async () => Promise.reject(new Error('no host is available'));
    const states = { ...createMemoryAgentStates(), readCheckpoint: down };
    const history = { ...createMemoryHistoryStore(), write: down };
    const projection = await openProjection(0, { states: createMemoryAgentStates(), history, clock });
    const reading = readAll(projection, shard);
    await untilTurn(() => clock.pendingTimers() === 1);
    projection.close();
    await expect(reading).rejects.toThrow('no host is available');
    await projection.copyAtEnd();
    const loading = newProjection(0, { states, history, clock });
    const loaded = loading.load();
    await untilTurn(() => clock.pendingTimers() === 1);
    loading.close();
    await expect(loaded).rejects.toThrow('no host is available');
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('the projector’s copies', () => {
  test('are the shard from the whole log, and are made every five minutes of those agents that changed', async () => {
    const clock = createFakeClock();
    const states = createMemoryAgentStates();
    const written: number[][] = [];
    const writeAgents: typeof states.writeAgents = async (shard, at, agents) => {
      written.push(agents.map(({ agentId }) => agentId));
      await states.writeAgents(shard, at, agents);
    };
    const history = createMemoryHistoryStore();
    const projection = await openProjection(0, { states: { ...states, writeAgents }, history, clock });
    const shard = new ProjectedShard(0);
    const events = drawLedgerEvents(1, STEPS);
    const last = events.findLastIndex(({ agentId }) => agentId !== events.at(-1)?.agentId);
    await readAll(projection, shard.append(...events.slice(0, last + 1)));
    clock.advance(SNAPSHOT_MS - 1);
    await projection.copyWhenDue();
    expect(written).toEqual([]);
    clock.advance(1);
    await projection.copyWhenDue();
    await readAll(projection, shard.append(...events.slice(last + 1)));
    clock.advance(SNAPSHOT_MS);
    await projection.copyWhenDue();
    expect(written.map((agents) => new Set(agents).size)).toEqual([expect.any(Number), 1]);
    expect(written[0]?.length).toBeGreaterThan(1);
    const state = emptyLedger();
    for (const event of events) apply(state, event);
    expect((await readCopy(states, 0)).state).toEqual(state);
    expect(await states.readCheckpoint(0)).toMatchObject({
      position: { seq: events.length },
      offset: shard.end,
    });
    expect(projection.kept).toBe(shard.end);
  });

  test('are made every ten thousand events, whatever the time', async () => {
    const states = createMemoryAgentStates();
    const projection = await openProjection(0, { states, history: createMemoryHistoryStore() });
    const shard = new ProjectedShard(0);
    const base = { v: 1, type: 'agent_set', agentId: 1, atMs: 1, source: 'test', status: 'active' } as const;
    for (let version = 1; version < 2 * SNAPSHOT_EVENTS; version++) {
      shard.append({ ...base, version, sourceVersion: version, name: 'Ada', token: null });
    }
    await readAll(projection, shard);
    const checkpoint = await states.readCheckpoint(0);
    expect(checkpoint?.position.seq).toBeGreaterThanOrEqual(SNAPSHOT_EVENTS);
    expect(checkpoint?.position.seq).toBeLessThan(SNAPSHOT_EVENTS + PROJECTOR_RECORDS);
    expect((await readCopy(states, 0)).state.agents.get(1)?.version).toBe(checkpoint?.position.seq);
  });

  test('of an idle shard go on with its heartbeats, and are not written anew where nothing came', async () => {
    const clock = createFakeClock();
    const states = createMemoryAgentStates();
    let checkpoints = 0;
    const writeCheckpoint: typeof states.writeCheckpoint = async (...args) => {
      checkpoints++;
      await states.writeCheckpoint(...args);
    };
    const taps = { states: { ...states, writeCheckpoint }, history: createMemoryHistoryStore(), clock };
    const projection = await openProjection(0, taps);
    const shard = shardOf(1);
    for (let i = 0; i < 3; i++) {
      await readAll(projection, shard.appendText(HEARTBEAT_TEXT));
      clock.advance(SNAPSHOT_MS);
      await projection.copyWhenDue();
      clock.advance(SNAPSHOT_MS);
      await projection.copyWhenDue();
    }
    expect(checkpoints).toBe(3);
    expect((await states.readCheckpoint(0))?.offset).toBe(shard.end);
  });

  test('are never made over an agent that was lost', async () => {
    const clock = createFakeClock();
    const stores = { states: createMemoryAgentStates(), history: createMemoryHistoryStore(), clock };
    const shard = shardOf(1);
    const first = await openProjection(0, stores);
    await readAll(first, shard);
    await first.copyAtEnd();
    stores.states.loseAgent(0, 2);
    const second = await openProjection(0, stores);
    await readAll(second, shard.appendText(HEARTBEAT_TEXT));
    await expect(second.copyAtEnd()).rejects.toBeInstanceOf(ShardGapError);
    clock.advance(SNAPSHOT_MS);
    await expect(second.copyWhenDue()).rejects.toBeInstanceOf(ShardGapError);
    expect((await stores.states.readCheckpoint(0))?.offset).toBe(shard.end - 1n);
  });
});

interface Life {
  isDead: boolean;
  /** Reads on, and copies; or dies in the middle of it. */
  run(records: (projection: ShardProjection) => readonly StoredRecord[]): Promise<void>;
}

/** A process that may die within any write, of which then some rows are missing. */
async function liveOn({ states, history }: ProjectionTaps, draw: Draw): Promise<Life> {
  const dies = (): boolean => {
    life.isDead ||= draw(6) === 0;
    return life.isDead;
  };
  const taps: ProjectionTaps = {
    clock: createFakeClock(),
    states: {
      ...states,
      async writeAgents(shard, at, agents) {
        const isLast = dies();
        await states.writeAgents(shard, at, isLast ? agents.slice(1) : agents);
        if (isLast) throw new Error('killed');
      },
      async writeCheckpoint(shard, checkpoint) {
        if (dies()) throw new Error('killed');
        await states.writeCheckpoint(shard, checkpoint);
      },
    },
    history: {
      ...history,
      async write({ calls, entries, usage, videos }) {
        const isLast = dies();
        await history.write(
          isLast
            ? {
                calls: calls.slice(1),
                entries: entries.slice(1),
                usage: usage.slice(1),
                videos: videos.slice(1),
              }
            : { calls, entries, usage, videos },
        );
        if (isLast) throw new Error('killed');
      },
    },
  };
  const projection = await openProjection(0, taps);
  const life: Life = {
    isDead: false,
    async run(records) {
      const done = projection.read(records(projection), 0n).then(() => projection.copyAtEnd());
      const over = done.catch(() => undefined);
      // What is dead tries nothing again.
      await Promise.race([over, untilTurn(() => life.isDead)]);
      if (life.isDead) projection.close();
      await over;
    },
  };
  return life;
}
