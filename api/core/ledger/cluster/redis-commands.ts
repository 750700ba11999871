import { idTimeMs } from '../../ids.ts';
import { BALANCE_CAP_NANO_USD } from '../../limits.ts';
import { minBigint, type NanoUsd } from '../../money.ts';
import type { Command, PutKey, Reserve, Settle } from '../command.ts';
import { requireAmount } from '../decision.ts';
import { soundEnd, soundPending } from '../sound-end.ts';
import { startIntervalUs } from '../start-rate.ts';
import type { ShardKeys } from './redis-keys.ts';
import type { ScriptArg, ScriptName } from './redis-scripts.ts';

export interface ScriptCall {
  name: ScriptName;
  keys: readonly string[];
  args: readonly ScriptArg[];
}

/** A command as its script takes it. Texts go as JSON, so that they stand in events and in Redis as they are. */
export function toScriptCall(command: Command, shard: ShardKeys): ScriptCall {
  const { agentId } = command;
  switch (command.type) {
    case 'reserve':
      return { name: 'reserve', keys: shard.ofCalls(agentId).reserve, args: reserveArgs(command) };
    case 'settle':
      return { name: 'settle', keys: shard.ofCalls(agentId).settle, args: settleArgs(command) };
    case 'renew': {
      const args = [agentId, command.callId, jsonOrNothing(command.generationId)];
      return { name: 'renew', keys: shard.ofCalls(agentId).running, args };
    }
    case 'finish': {
      const end = JSON.stringify(soundEnd(command.end));
      const args = [agentId, command.callId, end, JSON.stringify(soundPending(command.pending))];
      return { name: 'finish', keys: shard.ofCalls(agentId).running, args };
    }
    default:
      return toAccountCall(command, shard);
  }
}

/** What does not belong to a call. */
function toAccountCall(command: AccountCommand, shard: ShardKeys): ScriptCall {
  const { agentId } = command;
  const base = [shard.meta, shard.outbox, shard.agent(agentId)];
  switch (command.type) {
    case 'grant': {
      const args = [
        agentId,
        JSON.stringify(command.grantId),
        command.expiresAtMs,
        countable(command.nanoUsd),
      ];
      const rest = [shard.agents, shard.agent(agentId, ':grants'), shard.ends];
      return { name: 'grant', keys: [...base, ...rest], args };
    }
    case 'expire':
      return { name: 'expire', keys: [...base, shard.ends], args: [agentId, command.endedByMs] };
    case 'move_out':
    case 'move_in': {
      if (command.type === 'move_in' && command.nanoUsd > BALANCE_CAP_NANO_USD) {
        throw new RangeError('no lot can have held so much');
      }
      const trades = [shard.agent(agentId, ':trades'), shard.agent(agentId, ':trades-until')];
      const args = [
        agentId,
        JSON.stringify(command.tradeId),
        command.expiresAtMs,
        countable(command.nanoUsd),
      ];
      const keys = [...base, shard.agents, ...trades];
      if (command.type === 'move_in') keys.push(shard.ends);
      return { name: command.type, keys, args };
    }
    case 'put_key': {
      const args = [
        agentId,
        command.keyId,
        JSON.stringify(command.label),
        JSON.stringify(command.prefix),
        command.hash,
        ...limitArgs(command.limit),
        command.actingKeyId ?? '',
        String(command.madeOverMcp),
        command.limits.activeKeys,
        command.limits.mcpKeysPerDay,
      ];
      return { name: 'put_key', keys: [...base, shard.agent(agentId, ':keys'), shard.keyHashes], args };
    }
    case 'change_key': {
      const { keyId, label, limit, actingKeyId } = command;
      const limitOrKeep = limit === 'keep' ? ['keep', ''] : limitArgs(limit);
      const args = [agentId, keyId, jsonOrNothing(label), ...limitOrKeep, actingKeyId ?? ''];
      return { name: 'change_key', keys: [...base, shard.agent(agentId, ':keys')], args };
    }
    case 'revoke_key': {
      const args = [agentId, command.keyId, command.actingKeyId ?? ''];
      return { name: 'revoke_key', keys: [...base, shard.agent(agentId, ':keys')], args };
    }
    case 'start_upload': {
      const args = [agentId, JSON.stringify(command.uploadId), command.limits.uploadsPerDay];
      return { name: 'start_upload', keys: [...base, shard.agent(agentId, ':uploads')], args };
    }
    case 'set_agent': {
      const args = [
        agentId,
        command.mode,
        JSON.stringify(command.source),
        command.sourceVersion,
        command.status,
        JSON.stringify(command.name),
        JSON.stringify(command.token),
      ];
      return { name: 'set_agent', keys: [...base, shard.agents, shard.agent(agentId, ':sources')], args };
    }
    default:
      return command satisfies never;
  }
}

type AccountCommand = Exclude<Command, { type: 'reserve' | 'settle' | 'renew' | 'finish' }>;

function reserveArgs(command: Reserve): ScriptArg[] {
  const { limits } = command;
  const share = limits.dailyShareNanoUsd;
  return [
    command.agentId,
    command.keyId,
    command.callId,
    JSON.stringify(command.nonce),
    command.kind,
    countable(command.nanoUsd),
    command.timeLimitMs,
    command.callerNowMs,
    JSON.stringify(command.call),
    JSON.stringify(command.price),
    startIntervalUs(limits),
    limits.burst,
    limits.runningCalls,
    share === null ? '' : String(minBigint(share, BigInt(Number.MAX_SAFE_INTEGER))),
    idTimeMs(command.callId),
  ];
}

function limitArgs(limit: PutKey['limit']): ScriptArg[] {
  if (limit === null) return ['', ''];
  requireAmount(limit.limitNanoUsd);
  return [String(limit.limitNanoUsd), limit.reset];
}

const HIGH = 10n ** 15n;

function settleArgs({ agentId, callId, costNanoUsd, end, cause }: Settle): ScriptArg[] {
  // An orphan's cost is nothing, whatever the command says.
  const cost = cause === 'orphan' ? 0n : costNanoUsd;
  requireAmount(cost);
  const counted = minBigint(cost, COUNTED_COST_MAX);
  return [
    agentId,
    callId,
    String(counted / HIGH),
    String(counted % HIGH),
    JSON.stringify(soundEnd(end)),
    cause,
    idTimeMs(callId),
  ];
}

/** Far beyond what an event can carry; its units of 10^15 are still whole in a double. */
const COUNTED_COST_MAX = 10n ** 30n;

/** More than any balance can hold is all the same to a script, which counts in doubles. */
function countable(nanoUsd: NanoUsd): string {
  requireAmount(nanoUsd);
  return String(minBigint(nanoUsd, BALANCE_CAP_NANO_USD + 1n));
}

const jsonOrNothing = (text: string | null): string => (text === null ? '' : JSON.stringify(text));
