import { isDeepStrictEqual } from 'node:util';
import { followStored, LOG_START } from '#core/ledger/cluster/effective-log.ts';
import { foldEvent } from '#core/ledger/machine/apply.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import type { LedgerState } from '#core/ledger/machine/state.ts';
import { type RedisKey, toRedisKeys } from './shard-store.ts';
import type { SimCall } from './sim-call.ts';
import type { SimWorld } from './sim-world.ts';

/** What providers billed, and of that what nobody was charged for, by cause. In nano-dollars. */
export type Losses = Map<string, bigint>;

/** Whether everything has come to rest: only then do the last promises hold. */
export function isAtRest(world: SimWorld): boolean {
  const redis = world.groups.every((group) =>
    group.shards.every((shard) => group.isOpen(shard) && group.store(shard).outbox.length === 0),
  );
  const holds = world.oracle.shards.every(({ agents }) =>
    [...agents.values()].every(({ open }) => open.length === 0),
  );
  return (
    redis && holds && isProjected(world) && world.ops.every(({ done }) => done) && world.calls.every(isOver)
  );
}

function isProjected({ oracle, copies }: SimWorld): boolean {
  const charged = oracle.shards.flatMap(({ agents }) =>
    [...agents.values()].map((agent) => agent.chargedNanoUsd),
  );
  const shown = [...copies.usage.values()].map((sum) => sum.chargedNanoUsd);
  return total(charged) === total(shown);
}

const total = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n);

const isOver = (call: SimCall): boolean => call.closed || call.podDied;

/** After all faults have healed: nothing is stuck, nothing differs, and every nano-dollar has an explanation. */
export function checkAtEnd(world: SimWorld): Losses {
  for (const group of world.groups) for (const shard of group.shards) checkShard(world, shard);
  for (const { kind, done, commands, refusal } of world.ops) {
    if (!done) world.broken('OP_STUCK', { kind, command: show(commands[0]), refusal });
  }
  checkTrades(world);
  checkCopies(world);
  const losses: Losses = new Map();
  for (const call of world.calls) checkCall(world, call, losses);
  return losses;
}

function checkShard(world: SimWorld, shard: number): void {
  const group = world.groups.find(({ shards }) => shards.includes(shard));
  const oracle = world.oracle.shards[shard];
  if (group === undefined || oracle === undefined) throw new Error(`no shard ${shard}`);
  if (!group.isOpen(shard)) {
    world.broken('SHARD_STUCK', { shard });
    return;
  }
  const store = group.store(shard);
  if (store.outbox.length > 0) {
    world.broken('OUTBOX_STUCK', { shard, left: store.outbox.length });
    return;
  }
  for (const { agentId, open } of oracle.agents.values()) {
    if (open.length > 0) {
      world.broken('HOLD_STUCK', { shard, agentId, open: open.map(({ callId }) => callId) });
      return;
    }
  }
  // By the oracle's own arithmetic, and by the product's fold, to the last field.
  for (const agent of oracle.agents.values()) {
    const state = store.state.agents.get(agent.agentId);
    const lots = state?.lots
      .map((lot) => `${lot.expiresAtMs}:${lot.freeNanoUsd}:${lot.heldNanoUsd}`)
      .join(' ');
    const is = { version: state?.version, lots, charged: state?.chargedNanoUsd };
    const has = { version: agent.version, lots: agent.lotText(), charged: agent.chargedNanoUsd };
    if (!isDeepStrictEqual(is, has)) {
      world.broken('REDIS_NE_LOG', { agentId: agent.agentId, is, has });
      return;
    }
  }
  const folded = textOf(world, shard, foldOf(world, shard));
  const inRedis = textOf(world, shard, store.state);
  if (folded !== inRedis) world.broken('REDIS_NE_FOLD', { shard, folded, inRedis });
}

function foldOf(world: SimWorld, shard: number): LedgerState {
  const state = emptyLedger();
  const position = { ...LOG_START };
  for (const record of world.broker.records(shard)) {
    const event = followStored(position, record);
    if (event !== null) foldEvent(state, event);
  }
  return state;
}

/** All that Redis keeps of a shard, but for slots, which are not journaled, and what no longer counts. */
function textOf(world: SimWorld, shard: number, state: LedgerState): string {
  const group = world.groups.find(({ shards }) => shards.includes(shard));
  const keys = group?.store(shard).keys;
  if (keys === undefined) throw new Error(`no shard ${shard}`);
  const left = [...toRedisKeys(keys, state)].filter(([name]) => !UNCOMPARED.test(name));
  const compared = (fields: RedisKey) => [...fields].filter(([field]) => !KEY_VERSION.test(field)).sort();
  return JSON.stringify(left.map(([name, fields]) => [name, compared(fields)]).sort());
}

/** What people read adds up to what the log has. */
function checkCopies({ oracle, copies, broken }: SimWorld): void {
  for (const { agents } of oracle.shards) {
    for (const { agentId, chargedNanoUsd } of agents.values()) {
      const sums = [...copies.usage.values()].filter((sum) => sum.agentId === agentId);
      const shown = sums.reduce((total, sum) => total + sum.chargedNanoUsd, 0n);
      if (shown !== chargedNanoUsd) broken('USAGE_NE_LOG', { agentId, shown, chargedNanoUsd });
    }
  }
}

/** After a copy the agent's version stands for those of its keys. */
const KEY_VERSION = /^keys_version$|^\d+:version$/;
const UNCOMPARED = /:(slots|ended|ended-at|grants|trades|trades-until|uploads|given-up)$/;

function checkTrades(world: SimWorld): void {
  for (const { kind, commands, done, refusal } of world.ops) {
    const [out] = commands;
    if (kind !== 'move' || out?.type !== 'move_out' || !done) continue;
    const has = (name: string): boolean =>
      world.agentIds.some((id) => world.oracle.has(id, `${name} ${out.tradeId}`));
    const [left, arrived] = [has('moved_out'), has('moved_in')];
    if (left !== arrived) world.broken('IN_TRANSIT', { tradeId: out.tradeId, left, arrived, refusal });
  }
}

function checkCall(world: SimWorld, call: SimCall, losses: Losses): void {
  const { callId, agentId, holdNanoUsd } = call.plan;
  const facts = () => ({ ...call, plan: { ...call.plan } });
  const logged = world.oracle.agent(agentId)?.calls.get(callId);
  const charged = logged?.chargedNanoUsd ?? 0n;
  if (!isOver(call)) {
    world.broken('CALL_STUCK', facts());
    return;
  }
  if (call.delivered && logged === undefined) {
    world.broken('DELIVERED_WITHOUT_HOLD', facts());
    return;
  }
  if ((call.refusal !== null || call.gateTimedOut) && charged > 0n)
    world.broken('GIVEN_UP_BUT_CHARGED', facts());
  const shown = call.shownNanoUsd;
  if (shown !== null) {
    if (charged > shown) world.broken('CHARGED_ABOVE_SHOWN', { ...facts(), charged });
    if (charged < shown) {
      world.count('charged below shown');
      if (!call.podDied && !(call.orphaned && call.stoodStill))
        world.broken('CHARGED_BELOW_SHOWN', { ...facts(), charged });
    } else world.count('charged as shown');
  }
  if (!call.dispatched) return;
  add(losses, 'billed', call.billedNanoUsd);
  if (charged > call.billedNanoUsd && call.closing !== 'pending' && !call.podDied) {
    world.broken('CHARGED_ABOVE_COST', { ...facts(), charged });
  }
  const lost = call.billedNanoUsd - charged;
  if (lost <= 0n) return;
  const cause = causeOfLoss(call, charged === holdNanoUsd);
  if (cause === null) world.broken('UNEXPLAINED_LOSS', { ...facts(), charged });
  else add(losses, cause, lost);
}

function causeOfLoss(call: SimCall, wholeHold: boolean): string | null {
  if (call.gateTimedOut) return 'gate time-out';
  if (call.closing === 0n && call.plan.failure !== 'none') return 'free failure';
  if (call.podDied) return 'pod died';
  if (wholeHold) return 'cost above the hold';
  if (call.closing === 'pending') return 'price ladder';
  if (call.orphaned && call.stoodStill) return 'pod stood still past its limit';
  if (call.orphaned && call.pastLimit) return 'pod past its limit';
  return null;
}

function add(losses: Losses, cause: string, nanoUsd: bigint): void {
  losses.set(cause, (losses.get(cause) ?? 0n) + nanoUsd);
}

const show = (value: unknown): string =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each));
