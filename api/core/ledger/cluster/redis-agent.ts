import { z } from 'zod';
import { callEnd, callFacts, pendingPrice, savedPrice } from '../../events/ledger-event.ts';
import { newAgent } from '../machine/empty-ledger.ts';
import { OpenCallMap } from '../machine/open-call-map.ts';
import type { AgentState, AgentStatus, Hold, KeyState, Lot, PeriodSum } from '../machine/state.ts';

/** The hashes of one agent in Redis, as `read_agent` answers them, at one moment. */
export interface RedisAgent {
  agent: Fields;
  holds: Fields;
  /** Slots with the time at which each frees itself; lapsed ones are left out. */
  slots: ReadonlyMap<number, number>;
  keys: Fields;
  sources: Fields;
}

export type Fields = ReadonlyMap<string, string>;

/**
 * The agent as the state machine knows it, but for what only makes repeated commands known, and is read by nobody else:
 * ended calls, grants, trades, uploads, videos and stored images stay where they are.
 */
export function toAgentState(
  agentId: number,
  { agent, holds, slots, keys, sources }: RedisAgent,
): AgentState {
  const field = (name: string): string => needed(agent, name);
  const amount = (name: string): bigint => BigInt(agent.get(name) ?? 0);
  const state = newAgent(agentId, textJson.parse(JSON.parse(field('name'))), Number(field('created')));
  state.version = Number(field('version'));
  state.token = tokenJson.parse(JSON.parse(field('token')));
  for (const [source, said] of sources) {
    const [sourceVersion = '', status = ''] = said.split(' ');
    state.statusBySource.set(textJson.parse(JSON.parse(source)), {
      sourceVersion: Number(sourceVersion),
      status: agentStatus.parse(status),
    });
  }
  state.lots = toLots(agent.get('lots') ?? '');
  state.grantedNanoUsd = amount('granted');
  state.chargedNanoUsd = amount('charged');
  state.expiredNanoUsd = amount('expired');
  state.movedInNanoUsd = amount('moved_in');
  state.movedOutNanoUsd = amount('moved_out');
  state.startsTatUs = Number(field('tat_us'));
  state.chargedToday = toPeriodSum(agent.get('charged_day'));
  state.mcpKeysMadeAtMs = (agent.get('mcp_keys') ?? '').split(' ').filter(Boolean).map(Number);
  state.leases = new OpenCallMap([...slots]);
  // A hash keeps no order.
  const open = [...holds.keys()].filter((name) => !name.includes(':')).map((name) => toHold(name, holds));
  open.sort((a, b) => a.startedAtMs - b.startedAtMs || a.callId - b.callId);
  for (const hold of open) state.holds.set(hold.callId, hold);
  const ids = [...keys.keys()].flatMap((name) => /^(\d+):hash$/.exec(name)?.[1] ?? []);
  for (const keyId of ids.sort((a, b) => Number(a) - Number(b))) {
    state.keys.set(Number(keyId), toKey(keyId, keys));
    // Absent: of a release that did not count versions.
    state.keyVersions.note(Number(keyId), Number(keys.get(`${keyId}:version`) ?? 0));
  }
  return state;
}

// Once: a schema costs more to make than to use.
const textJson = z.string();
const tokenJson = z.string().nullable();
const callKind = z.enum(['text', 'image', 'video']);
const limitReset = z.enum(['daily', 'weekly', 'monthly']);
const agentStatus: z.ZodType<AgentStatus> = z.enum(['inactive', 'active', 'suspended']);

function toLots(text: string): Lot[] {
  return text
    .split(' ')
    .filter(Boolean)
    .map((lot) => {
      const [expires = '', free = '', held = ''] = lot.split(':');
      return { expiresAtMs: Number(expires), freeNanoUsd: BigInt(free), heldNanoUsd: BigInt(held) };
    });
}

const HOLD = /^(\d+) (text|image|video) (\d+) (\d+) (\d+) (\S+) (.+)$/;

function toHold(callId: string, holds: Fields): Hold {
  const [, keyId, kind, nanoUsd, started, limit, allocations, nonce] = HOLD.exec(needed(holds, callId)) ?? [];
  const generation = holds.get(`${callId}:generation`);
  const pending = holds.get(`${callId}:pending`);
  return {
    callId: Number(callId),
    nonce: textJson.parse(JSON.parse(nonce ?? '')),
    keyId: Number(keyId),
    kind: callKind.parse(kind),
    nanoUsd: BigInt(nanoUsd ?? ''),
    allocations: (allocations === '-' ? [] : (allocations ?? '').split(',')).map((taken) => {
      const [expires = '', part = ''] = taken.split(':');
      return { expiresAtMs: Number(expires), nanoUsd: BigInt(part) };
    }),
    startedAtMs: Number(started),
    timeLimitMs: Number(limit),
    call: callFacts.parse(JSON.parse(needed(holds, `${callId}:call`))),
    price: savedPrice.parse(JSON.parse(needed(holds, `${callId}:price`))),
    generationId: generation === undefined ? null : textJson.parse(JSON.parse(generation)),
    pending: pending === undefined ? null : pendingHold.parse(JSON.parse(pending)),
    videoId: holds.get(`${callId}:video`) ?? null,
  };
}

const pendingHold = z.object({ end: callEnd, pending: pendingPrice });

function toKey(keyId: string, keys: Fields): KeyState {
  const optional = (what: string): string | undefined => keys.get(`${keyId}:${what}`);
  const number = (what: string): number | null => {
    const text = optional(what);
    return text === undefined ? null : Number(text);
  };
  const limit = optional('limit');
  const createdBy = needed(keys, `${keyId}:by`);
  return {
    keyId: Number(keyId),
    label: textJson.parse(JSON.parse(needed(keys, `${keyId}:label`))),
    prefix: textJson.parse(JSON.parse(needed(keys, `${keyId}:prefix`))),
    hash: needed(keys, `${keyId}:hash`),
    createdAtMs: Number(needed(keys, `${keyId}:created`)),
    createdByKeyId: createdBy === 'null' ? null : Number(createdBy),
    revokedAtMs: number('revoked'),
    lastUsedAtMs: number('used'),
    limit:
      limit === undefined
        ? null
        : {
            limitNanoUsd: BigInt(limit),
            reset: limitReset.parse(optional('reset')),
          },
    spent: {
      day: toPeriodSum(optional('day')),
      week: toPeriodSum(optional('week')),
      month: toPeriodSum(optional('month')),
    },
    heldNanoUsd: BigInt(optional('held') ?? 0),
  };
}

function toPeriodSum(text: string | undefined): PeriodSum {
  const [start = '0', amount = '0'] = text?.split(':') ?? [];
  return { periodStartMs: Number(start), nanoUsd: BigInt(amount) };
}

function needed(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (value === undefined) throw new Error(`an agent in Redis has no ${name}`);
  return value;
}
