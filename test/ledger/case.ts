import { expect } from 'vitest';
import { DAY_MS, startOfDayMs } from '#core/clock.ts';
import type { Command } from '#core/ledger/command.ts';
import type { AgentView, Ledger } from '#core/ledger/ledger.ts';
import type { FakeClock } from '../support/fake-clock.ts';

/** A promise of the ledger, kept by any implementation: rows of operations, each with what must come of it. */
export interface LedgerCase {
  promise: string;
  rows: readonly Row[];
}

export type Row = (world: World) => Promise<void>;

/** What a case runs against. Calls are named by small numbers; their ids are made when they are first named. */
export interface World {
  ledger: Ledger;
  clock: FakeClock;
  callIds: Map<number, number>;
  /** Makes the ledger's time that of `clock`, which may be earlier, as `faregate clock repair` does. */
  setTimeBack?: () => Promise<void>;
}

export type Operation = (world: World) => Command;

/** A Wednesday: the week turns at `day(5)`, the month at `day(13)`. */
export const START_MS = Date.UTC(2026, 10, 18, 10);

/** 00:00 UTC of the n-th day after the start; as a lot, the credit that ends then. */
export const day = (n: number): number => startOfDayMs(START_MS) + n * DAY_MS;

export function callIdIn(world: World, call: number): number {
  const known = world.callIds.get(call);
  if (known !== undefined) return known;
  const made = callIdAt(world.clock.now(), call);
  world.callIds.set(call, made);
  return made;
}

export const callIdAt = (madeAtMs: number, low = 0): number => (madeAtMs - Date.UTC(2025, 0, 1)) * 4096 + low;

/** Runs a command and compares its whole result; what it decided must then be durable. */
export function does(operation: Operation, expected: object): Row {
  return async (world) => {
    const command = operation(world);
    const executed = await world.ledger.execute(command);
    expect(executed.result, `${command.type} of agent ${command.agentId}`).toEqual(expected);
    expect(await executed.durable).toBe('durable');
  };
}

/** Compares the fields that are named, and only those. */
export function sees(agentId: number, expected: object): Row {
  return async (world) => {
    expect(await world.ledger.readAgent(agentId)).toMatchObject(expected);
  };
}

/** The video as a read finds it, or that there is none. */
export function seesVideo(videoId: string, expected: object | null, agentId = 1): Row {
  return async (world) => {
    const job = await world.ledger.readVideo(agentId, videoId);
    if (expected === null) expect(job).toBeNull();
    else expect(job).toMatchObject(expected);
  };
}

export function findsVideoByKey(idempotencyKey: string, videoId: string | null, agentId = 1): Row {
  return async (world) => {
    const job = await world.ledger.findVideoByKey(agentId, idempotencyKey);
    if (job === 'unavailable') throw new Error('the ledger cannot be read');
    expect(job?.videoId ?? null).toBe(videoId);
  };
}

export function listsOpenVideos(...videoIds: string[]): Row {
  return async (world) => {
    const open = await world.ledger.listOpenVideos();
    if (open === 'unavailable') throw new Error('the ledger cannot be read');
    expect(open.map((job) => job.videoId).sort()).toEqual(videoIds.sort());
  };
}

export const seesNoAgent = (agentId: number): Row => {
  return async (world) => {
    expect(await world.ledger.readAgent(agentId)).toBeNull();
  };
};

export function seesKey(agentId: number, keyId: number, expected: object): Row {
  return async (world) => {
    const agent = await readAgent(world.ledger, agentId);
    expect(agent.keys.find((key) => key.keyId === keyId)).toMatchObject(expected);
  };
}

/** Steps the wall clock without firing timers, so that an engine's own housekeeping stays out of the rows. */
export const at = (nowMs: number): Row => {
  return async (world) => world.clock.set(nowMs);
};

export const after = (ms: number): Row => {
  return async (world) => world.clock.set(world.clock.now() + ms);
};

export async function readAgent(ledger: Ledger, agentId: number): Promise<AgentView> {
  const agent = await ledger.readAgent(agentId);
  if (agent === null || agent === 'unavailable') throw new Error(`agent ${agentId} cannot be read`);
  return agent;
}

export const ok = { ok: true, repeated: false };
export const repeated = { ok: true, repeated: true };
export const refused = (reason: string, more: object = {}) => ({ ok: false, reason, ...more });
export const charged = (nanoUsd: bigint, overrun = 0n) => ({
  ok: true,
  repeated: false,
  chargedNanoUsd: nanoUsd,
  overrunNanoUsd: overrun,
});
export const chargedBefore = (nanoUsd: bigint) => ({ ok: true, repeated: true, chargedNanoUsd: nanoUsd });

/** `[lot's day, free, held]`, as `lots` of a view. */
export const lots = (...rows: [number, bigint, bigint][]) =>
  rows.map(([n, freeNanoUsd, heldNanoUsd]) => ({ expiresAtMs: day(n), freeNanoUsd, heldNanoUsd }));
