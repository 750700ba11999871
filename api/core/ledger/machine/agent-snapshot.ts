import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { callEnd, callFacts, pendingPrice, savedPrice } from '../../events/ledger-event.ts';
import { parseVideoJob, printVideoJob, videoJobJson } from '../../videos/video-job-json.ts';
import { checkIdentity } from './check-identity.ts';
import { GivenUpCalls } from './given-up-calls.ts';
import { KeyVersions } from './key-versions.ts';
import { OpenCallMap } from './open-call-map.ts';
import { RecentlySettled } from './recently-settled.ts';
import type { AgentState, Hold, KeyState, PeriodSum } from './state.ts';
import { VideoTable } from './video-table.ts';

/**
 * One agent as a line of JSON, for snapshots: `{ v, crc32, agent }`. The checksum is over the text of `agent`.
 * A release reads what it and the release before it wrote.
 */
export function serializeAgent(agent: AgentState): string {
  const text = JSON.stringify(toSnapshot(agent));
  return `{"v":1,"crc32":${crc32(text)},"agent":${text}}`;
}

/** Throws `AgentSnapshotError` on anything that `serializeAgent` cannot have written. */
export function deserializeAgent(text: string): AgentState {
  const state = toState(readSnapshot(text));
  const problem = checkIdentity(state);
  if (problem !== null) throw new AgentSnapshotError(problem);
  return state;
}

export class AgentSnapshotError extends Error {
  override readonly name = 'AgentSnapshotError';

  constructor(problem: string, options?: ErrorOptions) {
    super(`damaged snapshot of an agent: ${problem}`, options);
  }
}

const nano = z.string().regex(/^\d{1,40}$/);
const time = z.int().nonnegative();
const id = z.int().nonnegative();
const period = z.strictObject({ periodStartMs: time, nanoUsd: nano });
const limit = z.strictObject({ limitNanoUsd: nano, reset: z.enum(['daily', 'weekly', 'monthly']) });

const holdSnapshot = z.strictObject({
  callId: id,
  nonce: z.string(),
  keyId: id,
  kind: z.enum(['text', 'image', 'video']),
  nanoUsd: nano,
  allocations: z.array(z.strictObject({ expiresAtMs: time, nanoUsd: nano })),
  startedAtMs: time,
  timeLimitMs: z.int().positive(),
  call: callFacts,
  price: savedPrice,
  generationId: z.string().nullable(),
  pending: z.strictObject({ end: callEnd, pending: pendingPrice }).nullable(),
  /** Absent: none. */
  videoId: z.string().optional(),
});

const keySnapshot = z.strictObject({
  keyId: id,
  label: z.string(),
  prefix: z.string(),
  hash: z.string(),
  createdAtMs: time,
  createdByKeyId: id.nullable(),
  revokedAtMs: time.nullable(),
  lastUsedAtMs: time.nullable(),
  limit: limit.nullable(),
  spent: z.strictObject({ day: period, week: period, month: period }),
  heldNanoUsd: nano,
});

/** What grows with use is written as rows without field names. */
const agentSnapshot = z.strictObject({
  agentId: id,
  version: z.int().nonnegative(),
  name: z.string(),
  token: z.string().nullable(),
  createdAtMs: time,
  statusBySource: z.array(z.tuple([z.string(), id, z.enum(['inactive', 'active', 'suspended'])])),
  lots: z.array(z.strictObject({ expiresAtMs: time, freeNanoUsd: nano, heldNanoUsd: nano })),
  grantedNanoUsd: nano,
  chargedNanoUsd: nano,
  expiredNanoUsd: nano,
  movedInNanoUsd: nano,
  movedOutNanoUsd: nano,
  startsTatUs: time,
  leases: z.array(z.tuple([id, time])),
  holds: z.array(holdSnapshot),
  done: z.array(z.tuple([id, z.string(), nano, time])),
  keys: z.array(keySnapshot),
  chargedToday: period,
  grants: z.array(z.tuple([z.string(), time])),
  trades: z.array(
    z.tuple([
      z.string(),
      time,
      z.enum(['moved_out', 'move_refused', 'moved_in']),
      nano,
      // Absent: of a release that knew none.
      z.string().optional(),
    ]),
  ),
  mcpKeysMadeAtMs: z.array(time),
  // Absent: none.
  uploads: z.array(z.tuple([z.string(), time])).optional(),
  videos: z.array(videoJobJson).optional(),
  stored: z.array(z.tuple([time, z.int().nonnegative()])).optional(),
  prunedAtMs: time,
});
type AgentSnapshot = z.infer<typeof agentSnapshot>;
const wrapper = z.strictObject({ v: z.literal(1), crc32: z.int(), agent: z.unknown() });

function readSnapshot(text: string): AgentSnapshot {
  try {
    const { crc32: expected, agent } = wrapper.parse(JSON.parse(text));
    if (crc32(JSON.stringify(agent)) !== expected) throw new Error('the checksum is wrong');
    return agentSnapshot.parse(agent);
  } catch (cause) {
    throw new AgentSnapshotError('it is not whole, or not of this version', { cause });
  }
}

function toSnapshot(agent: AgentState): AgentSnapshot {
  return {
    agentId: agent.agentId,
    version: agent.version,
    name: agent.name,
    token: agent.token,
    createdAtMs: agent.createdAtMs,
    statusBySource: Array.from(agent.statusBySource, ([source, of]) => [source, of.sourceVersion, of.status]),
    lots: agent.lots.map((lot) => ({
      expiresAtMs: lot.expiresAtMs,
      freeNanoUsd: String(lot.freeNanoUsd),
      heldNanoUsd: String(lot.heldNanoUsd),
    })),
    grantedNanoUsd: String(agent.grantedNanoUsd),
    chargedNanoUsd: String(agent.chargedNanoUsd),
    expiredNanoUsd: String(agent.expiredNanoUsd),
    movedInNanoUsd: String(agent.movedInNanoUsd),
    movedOutNanoUsd: String(agent.movedOutNanoUsd),
    startsTatUs: agent.startsTatUs,
    leases: [...agent.leases],
    holds: Array.from(agent.holds.values(), fromHold),
    done: Array.from(agent.done, ([callId, done]) => [
      callId,
      done.nonce,
      String(done.chargedNanoUsd),
      done.settledAtMs,
    ]),
    keys: Array.from(agent.keys.values(), fromKey),
    chargedToday: fromPeriod(agent.chargedToday),
    grants: [...agent.grants],
    trades: Array.from(agent.trades, ([name, trade]) => [
      name,
      trade.keptUntilMs,
      trade.result,
      String(trade.expiredNanoUsd),
      trade.detail,
    ]),
    mcpKeysMadeAtMs: agent.mcpKeysMadeAtMs,
    ...(agent.uploads.size > 0 && { uploads: [...agent.uploads] }),
    ...(agent.videos.size > 0 && { videos: Array.from(agent.videos, printVideoJob) }),
    ...(agent.stored.size > 0 && { stored: [...agent.stored] }),
    prunedAtMs: agent.prunedAtMs,
  };
}

const fromPeriod = (sum: PeriodSum) => ({
  periodStartMs: sum.periodStartMs,
  nanoUsd: String(sum.nanoUsd),
});

function fromHold({ videoId, ...hold }: Hold): AgentSnapshot['holds'][number] {
  const allocations = hold.allocations.map(({ expiresAtMs, nanoUsd }) => ({
    expiresAtMs,
    nanoUsd: String(nanoUsd),
  }));
  const nanoUsd = String(hold.nanoUsd);
  return { ...hold, nanoUsd, allocations, ...(videoId !== null && { videoId }) };
}

function fromKey(key: KeyState): AgentSnapshot['keys'][number] {
  const limit = key.limit && { limitNanoUsd: String(key.limit.limitNanoUsd), reset: key.limit.reset };
  const { day, week, month } = key.spent;
  const spent = { day: fromPeriod(day), week: fromPeriod(week), month: fromPeriod(month) };
  return { ...key, limit, spent, heldNanoUsd: String(key.heldNanoUsd) };
}

function toState(snapshot: AgentSnapshot): AgentState {
  return {
    ...snapshot,
    statusBySource: toMap(
      snapshot.statusBySource.map(([source, sourceVersion, status]) => [source, { sourceVersion, status }]),
    ),
    lots: snapshot.lots.map((lot) => ({
      expiresAtMs: lot.expiresAtMs,
      freeNanoUsd: BigInt(lot.freeNanoUsd),
      heldNanoUsd: BigInt(lot.heldNanoUsd),
    })),
    grantedNanoUsd: BigInt(snapshot.grantedNanoUsd),
    chargedNanoUsd: BigInt(snapshot.chargedNanoUsd),
    expiredNanoUsd: BigInt(snapshot.expiredNanoUsd),
    movedInNanoUsd: BigInt(snapshot.movedInNanoUsd),
    movedOutNanoUsd: BigInt(snapshot.movedOutNanoUsd),
    leases: new OpenCallMap(snapshot.leases),
    holds: new OpenCallMap(snapshot.holds.map((hold) => [hold.callId, toHold(hold)])),
    done: new RecentlySettled(
      snapshot.done.map(([callId, nonce, charged, settledAtMs]) => [
        callId,
        { nonce, chargedNanoUsd: BigInt(charged), settledAtMs },
      ]),
    ),
    givenUp: new GivenUpCalls(),
    keyVersions: new KeyVersions(snapshot.version),
    keys: toMap(snapshot.keys.map((key) => [key.keyId, toKey(key)])),
    chargedToday: toPeriod(snapshot.chargedToday),
    grants: toMap(snapshot.grants),
    trades: toMap(
      snapshot.trades.map(([name, keptUntilMs, result, expired, detail = '']) => [
        name,
        { keptUntilMs, result, expiredNanoUsd: BigInt(expired), detail },
      ]),
    ),
    uploads: toMap(snapshot.uploads ?? []),
    videos: new VideoTable((snapshot.videos ?? []).map(parseVideoJob)),
    stored: toMap(snapshot.stored ?? []),
  };
}

const toPeriod = (sum: z.infer<typeof period>): PeriodSum => ({
  periodStartMs: sum.periodStartMs,
  nanoUsd: BigInt(sum.nanoUsd),
});

function toHold(hold: AgentSnapshot['holds'][number]): Hold {
  const allocations = hold.allocations.map(({ expiresAtMs, nanoUsd }) => ({
    expiresAtMs,
    nanoUsd: BigInt(nanoUsd),
  }));
  return { ...hold, nanoUsd: BigInt(hold.nanoUsd), allocations, videoId: hold.videoId ?? null };
}

function toKey(key: AgentSnapshot['keys'][number]): KeyState {
  const limit = key.limit && { limitNanoUsd: BigInt(key.limit.limitNanoUsd), reset: key.limit.reset };
  const { day, week, month } = key.spent;
  const spent = { day: toPeriod(day), week: toPeriod(week), month: toPeriod(month) };
  return { ...key, limit, spent, heldNanoUsd: BigInt(key.heldNanoUsd) };
}

function toMap<K, V>(entries: (readonly [K, V])[]): Map<K, V> {
  const map = new Map(entries);
  if (map.size !== entries.length) throw new AgentSnapshotError('an entry stands in it twice');
  return map;
}
