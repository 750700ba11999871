import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { writePepper } from '#core/accounts/pepper-file.ts';
import { backUpCluster } from '#core/backup/back-up-cluster.ts';
import { backUpFolder } from '#core/backup/back-up-folder.ts';
import { readArchive } from '#core/backup/read-archive.ts';
import { type ClusterRestore, restoreCluster } from '#core/backup/restore-cluster.ts';
import { restoreFolder } from '#core/backup/restore-folder.ts';
import type { CallRecord } from '#core/calls/call-record.ts';
import { systemClock } from '#core/clock.ts';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import type { LedgerLog } from '#core/ledger/cluster/ledger-log.ts';
import { eventRecordText, markRecordText } from '#core/ledger/cluster/log-record.ts';
import { foldToEnd, readCopy, ShardGapError } from '#core/ledger/cluster/shard-fold.ts';
import { shardOfAgent } from '#core/ledger/cluster/shards.ts';
import { addAgent, emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import type { LedgerState } from '#core/ledger/machine/state.ts';
import type { VideoJob } from '#core/videos/video-job.ts';
import { START_MS, type World } from '../ledger/case.ts';
import { comparable, newFolder, run } from '../ledger/embedded-harness.ts';
import { createDraw } from '../ledger/history/random.ts';
import { PEPPER_ID } from '../ledger/random-command.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryAgentStates } from '../support/memory-agent-states.ts';
import { createMemoryHistory } from '../support/memory-history.ts';
import { createMemoryLedger, type MemoryLedger } from '../support/memory-ledger.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { openProjection } from '../support/projected-shard.ts';
import { ALL_DAYS, type Moment, momentAfter } from './moment.ts';
import { createSteps } from './random-steps.ts';
import { openingOf, pepperOf } from './small-gateway.ts';

/** Agents 1 to 3 have one each, and one is empty. */
const SHARDS = 4;
const STEPS = 400;
const HISTORIES = 12;
const pepper = pepperOf(PEPPER_ID, 7);
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

/** A history of three agents, by the state machine. */
async function drawEvents(seed: number, steps: number): Promise<readonly LedgerEvent[]> {
  const clock = createFakeClock(START_MS);
  const ledger: MemoryLedger = createMemoryLedger({ clock });
  const world: World = { ledger, clock, callIds: new Map() };
  for (const agentId of [1, 2, 3]) await run(world, ...openingOf(agentId));
  const next = createSteps(createDraw(seed), world);
  for (let i = 0; i < steps; i++) await ledger.execute(next());
  return ledger.journal;
}

function memoryCluster() {
  const stores = {
    log: createMemoryLog(SHARDS),
    states: createMemoryAgentStates(),
    history: createMemoryHistory(),
  };
  const seqs = new Map<number, number>();
  return {
    ...stores,
    /** As publishers of the first epoch do. */
    async append(events: readonly LedgerEvent[]): Promise<void> {
      for (const event of events) {
        const shard = shardOfAgent(event.agentId, SHARDS);
        const seq = (seqs.get(shard) ?? 0) + 1;
        if (seq === 1) await stores.log.append(shard, [markRecordText(1, 'first')]);
        seqs.set(shard, seq);
        await stores.log.append(shard, [eventRecordText(1, seq, JSON.stringify(event))]);
      }
    },
    /** As the projector does, to the log's end; `copied`: with copies of the agents. */
    async project({ copied }: { copied: boolean }): Promise<void> {
      for (let shard = 0; shard < SHARDS; shard++) {
        const { states, history } = stores;
        const projection = await openProjection(shard, { states, history });
        const records: Parameters<typeof projection.read>[0][number][] = [];
        await stores.log.readToEnd(
          new Map([[shard, projection.next]]),
          (_, record) => void records.push(record),
        );
        await projection.read(records, projection.next + BigInt(records.length));
        if (copied) await projection.copyAtEnd();
      }
    },
  };
}

type MemoryCluster = ReturnType<typeof memoryCluster>;

const backUp = (cluster: MemoryCluster, file: string, log: LedgerLog = cluster.log) =>
  backUpCluster({
    file,
    shards: SHARDS,
    log,
    states: cluster.states,
    history: cluster.history.read,
    videos: cluster.history.videos,
    peppers: [pepper],
    clock: systemClock,
  });

/** What every shard's log and copies amount to. */
async function stateOf({ log, states }: Pick<MemoryCluster, 'log' | 'states'>): Promise<LedgerState> {
  const state = emptyLedger();
  for (let shard = 0; shard < SHARDS; shard++) {
    const folded = await readCopy(states, shard);
    await foldToEnd(log, folded);
    for (const agent of folded.state.agents.values()) addAgent(state, agent);
  }
  return state;
}

async function compareArchive(file: string, moment: Moment, hint: string): Promise<void> {
  const calls: CallRecord[] = [];
  const videos: VideoJob[] = [];
  const state = emptyLedger();
  const contents = await readArchive(file, {
    onAgent: (agent) => addAgent(state, agent),
    onCall: (call) => void calls.push(call),
    onVideo: (job) => void videos.push(job),
  });
  expect(contents.lastAtMs, hint).toBe(moment.lastStartAtMs);
  expect(comparable(state, moment.lastAtMs), hint).toEqual(comparable(moment.state, moment.lastAtMs));
  for (const agentId of moment.state.agents.keys()) {
    const ended = videos.filter((job) => job.agentId === agentId);
    ended.sort((a, b) => (a.videoId < b.videoId ? -1 : 1));
    expect(ended, hint).toEqual(moment.videosOf(agentId));
    const expected = moment.callsOf(agentId);
    const ofAgent = calls.filter((call) => call.agentId === agentId).sort((a, b) => a.callId - b.callId);
    expect(
      ofAgent.map((call, at) => withFinishLabel(call, expected[at], moment.state)),
      hint,
    ).toEqual(expected);
  }
}

/**
 * A pending row whose settlement the history already has lost the label that its key had when the call finished. The
 * backup gives it the key's label at the log's end, never a newer one.
 */
function withFinishLabel(
  call: CallRecord,
  expected: CallRecord | undefined,
  { agents }: LedgerState,
): CallRecord {
  if (call.outcome !== 'pending' || expected === undefined) return call;
  const labelAtEnd = agents.get(call.agentId)?.keys.get(call.key.keyId)?.label;
  return call.key.label === labelAtEnd ? { ...call, key: { ...call.key, label: expected.key.label } } : call;
}

test(`a cluster's backup is its log's end, however far its history and copies are (seed ${seed})`, async () => {
  let calls = 0;
  for (let history = 0; history < HISTORIES; history++) {
    const random = createDraw(seed + history);
    const hint = `seed ${seed + history}`;
    const events = await drawEvents(seed + history, STEPS);
    const places = [0, 0, 0].map(() => random(events.length)).sort((a, b) => a - b);
    const [, , logged = 0] = places;
    // As at rest, or while the projector is behind.
    const [copied, projected] = history % 2 === 0 ? places : [logged, logged];
    const isAhead = history % 4 > 0;
    const cluster = memoryCluster();
    await cluster.append(events.slice(0, copied));
    await cluster.project({ copied: true });
    await cluster.append(events.slice(copied, projected));
    await cluster.project({ copied: false });
    await cluster.append(events.slice(projected, logged));
    // Between the fold of a shard and the reading of its history the rest happens, and may be projected.
    let isLate = false;
    const log: LedgerLog = {
      ...cluster.log,
      async readToEnd(from, onRecord) {
        await cluster.log.readToEnd(from, onRecord);
        if (isLate || !from.has(1)) return;
        isLate = true;
        await cluster.append(events.slice(logged));
        if (isAhead) await cluster.project({ copied: random(2) === 0 });
      },
    };
    const file = join(newFolder(), 'backup');
    const contents = await backUp(cluster, file, log);
    calls += contents.calls;
    // One shard was read before, the others after it.
    const early = events.slice(0, logged);
    const late = events.slice(logged).filter(({ agentId }) => shardOfAgent(agentId, SHARDS) !== 1);
    const seen = [...early, ...late];
    await compareArchive(file, momentAfter(seen, seen.length), hint);
  }
  expect(calls).toBeGreaterThan(10 * HISTORIES);
});

describe('a cluster that an archive is restored into', () => {
  let file = '';
  let moment: Moment;
  let cluster: MemoryCluster;

  beforeEach(async () => {
    const events = await drawEvents(seed, STEPS);
    moment = momentAfter(events, events.length);
    const source = memoryCluster();
    await source.append(events);
    file = join(newFolder(), 'backup');
    await backUp(source, file);
    cluster = memoryCluster();
  });

  const noHold = async () => ({ confirm: async () => {}, release: async () => {} });
  const restore = (more: Partial<ClusterRestore> = {}) =>
    restoreCluster({
      archive: file,
      shards: SHARDS,
      log: cluster.log,
      states: cluster.states,
      history: cluster.history,
      peppers: [pepper],
      hold: noHold,
      beforeChange: async () => {},
      clock: impatient,
      ...more,
    });
  /** Tries again at once. */
  const impatient = {
    ...systemClock,
    setTimer: (_: number, fire: () => void) => systemClock.setTimer(0, fire),
  };

  async function isRestored(): Promise<void> {
    expect(comparable(await stateOf(cluster), moment.lastAtMs)).toEqual(
      comparable(moment.state, moment.lastAtMs),
    );
    for (const [agentId, agent] of moment.state.agents) {
      const videos: VideoJob[] = [];
      for await (const portion of cluster.history.videos.list(agentId)) videos.push(...portion);
      expect(videos).toEqual(moment.videosOf(agentId));
      const calls = await cluster.history.read.list({ agentId, limit: 10_000 });
      expect(calls).toEqual(moment.callsOf(agentId).reverse());
      expect(await cluster.history.read.usage({ agentId, ...ALL_DAYS })).toEqual(moment.usageOf(agentId));
      const [opening, ...others] = cluster.history.entries(agentId);
      expect(others).toEqual([]);
      const sums = new Map<string, bigint>();
      for (const { from, to, nanoUsd } of opening?.postings ?? []) {
        sums.set(from, (sums.get(from) ?? 0n) - nanoUsd);
        sums.set(to, (sums.get(to) ?? 0n) + nanoUsd);
      }
      expect(sums.get('charged') ?? 0n).toBe(agent.chargedNanoUsd);
      expect(sums.get('granted') ?? 0n).toBe(-agent.grantedNanoUsd);
      expect(sums.get('expired') ?? 0n).toBe(agent.expiredNanoUsd);
      expect(sums.get('moved') ?? 0n).toBe(agent.movedOutNanoUsd - agent.movedInNanoUsd);
      for (const { expiresAtMs, freeNanoUsd, heldNanoUsd } of agent.lots) {
        expect(sums.get(`free:${expiresAtMs}`) ?? 0n).toBe(freeNanoUsd);
        expect(sums.get(`held:${expiresAtMs}`) ?? 0n).toBe(heldNanoUsd);
      }
    }
    for (let shard = 0; shard < SHARDS; shard++) expect(cluster.log.texts(shard)).toHaveLength(1);
  }

  test(`has its agents, calls, usage and books, and a log that goes on from there (seed ${seed})`, async () => {
    await restore();
    await isRestored();
    const again = join(newFolder(), 'backup');
    await backUp(cluster, again);
    await compareArchive(again, moment, `seed ${seed}`);
  });

  test('gives back what an embedded gateway was, and the other way', async () => {
    const dataDir = newFolder();
    writePepper(dataDir, pepper);
    await restoreFolder({ archive: file, dataDir, nowMs: START_MS, beforeChange: async () => {} });
    const embedded = join(newFolder(), 'backup');
    await backUpFolder({ dataDir, file: embedded, nowMs: START_MS });
    await compareArchive(embedded, moment, `seed ${seed}`);
    file = embedded;
    await restore();
    await isRestored();
  });

  test('is refused a second restore, of the same backup and of another', async () => {
    await restore();
    await expect(restore()).rejects.toThrow(/restored into this cluster before/);
    const events = await drawEvents(seed + 1, 20);
    const source = memoryCluster();
    await source.append(events);
    file = join(newFolder(), 'backup');
    await backUp(source, file);
    await expect(restore()).rejects.toThrow(/The cluster is in use: shard 0/);
    await isRestored();
  });

  test('is refused one when it is in use, or workers are at it', async () => {
    await expect(restore({ hold: () => Promise.reject(new Error('a worker')) })).rejects.toThrow('a worker');
    await cluster.log.append(2, [markRecordText(1, 'a worker')]);
    await expect(restore()).rejects.toThrow(/The cluster is in use: shard 2/);
    expect(cluster.log.texts(0)).toEqual([]);
    expect(await cluster.states.readCheckpoint(0)).toBeNull();
  });

  test('is told which secret it lacks, and takes no other of that name', async () => {
    const named = { peppers: [pepperOf('new'), pepper] as const };
    const lacks =
      /the secret test, which the configuration does not have. Write storage.keyPepper.* id: test/;
    await expect(restore({ peppers: [pepperOf('new')] })).rejects.toThrow(lacks);
    await expect(restore({ peppers: [pepperOf(PEPPER_ID, 8)] })).rejects.toThrow(lacks);
    expect(cluster.log.texts(0)).toEqual([]);
    await restore(named);
    await isRestored();
  });

  test('is not given keys that it could not find', async () => {
    await expect(restore({ shards: 5 })).rejects.toThrow(/keys .* of agent \d cannot be found in a cluster/);
  });

  /** The process dies at its nth write. */
  function dyingAt(nth: number): { restore: Partial<ClusterRestore>; writes: () => number } {
    let writes = 0;
    const alive = async <T>(work: () => Promise<T>): Promise<T> => {
      if (++writes >= nth) throw new Error('killed');
      return work();
    };
    const { log, states, history } = cluster;
    return {
      writes: () => writes,
      restore: {
        log: { ...log, append: (shard, texts) => alive(() => log.append(shard, texts)) },
        states: {
          ...states,
          writeAgents: (shard, at, agents) => alive(() => states.writeAgents(shard, at, agents)),
          writeCheckpoint: (shard, checkpoint) => alive(() => states.writeCheckpoint(shard, checkpoint)),
        },
        history: { ...history, write: (rows) => alive(() => history.write(rows)) },
      },
    };
  }

  test('opens empty or not at all when the restore was cut off, and the same restore completes it', async () => {
    let cuts = 0;
    for (let nth = 1; ; nth++, cuts++) {
      cluster = memoryCluster();
      const dying = dyingAt(nth);
      const wasCut = await restore(dying.restore).then(
        () => false,
        () => true,
      );
      if (!wasCut) break;
      const opened = await Promise.all([1, 2, 3].map(openedAgents));
      const someOpen = opened.some((agents) => agents !== null && agents > 0);
      // No shard begins empty beside one that has its agents.
      expect(someOpen && opened.includes(0), `cut at write ${nth}`).toBe(false);
      await restore();
      await isRestored();
    }
    expect(cuts).toBeGreaterThan(6);
  });

  /** As a recovery would find them; `null`: it refuses to open the shard. */
  async function openedAgents(shard: number): Promise<number | null> {
    try {
      const folded = await readCopy(cluster.states, shard);
      if (folded.offset > BigInt(cluster.log.texts(shard).length)) return null;
      await foldToEnd(cluster.log, folded);
      return folded.state.agents.size;
    } catch (error) {
      if (error instanceof ShardGapError) return null;
      throw error;
    }
  }

  test('does not mix what two restores have left', async () => {
    const dying = { ...cluster.states, writeCheckpoint: () => Promise.reject(new Error('killed')) };
    await expect(restore({ states: dying })).rejects.toThrow('killed');
    const other = memoryCluster();
    await other.append(await drawEvents(seed + 1, 50));
    file = join(newFolder(), 'backup');
    await backUp(other, file);
    await expect(restore()).rejects.toThrow(/a restore of another one was cut off here/);
    expect(await cluster.states.readCheckpoint(1)).toBeNull();
  });
});
