import { idTimeMs } from '../../ids.ts';
import { BALANCE_CAP_NANO_USD, HOLD_LEASE_MS } from '../../limits.ts';
import { minBigint, type NanoUsd } from '../../money.ts';
import type { Command, PutKey, Reserve, Settle, VideoOrder } from '../command.ts';
import { clampCallEnd, soundPending } from '../machine/clamp-call-end.ts';
import { requireAmount } from '../machine/decision.ts';
import { startIntervalUs } from '../machine/start-rate.ts';
import type { ShardKeys } from './redis-keys.ts';
import type { ScriptArg, ScriptName } from './redis-scripts.ts';
import { openVideoText } from './redis-videos.ts';

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
      return { name: 'reserve', keys: reserveKeys(command, shard), args: reserveArgs(command) };
    case 'settle':
      return toSettleCall(command, shard);
    case 'renew': {
      const leaseMs = command.holdsSlot ? HOLD_LEASE_MS : 0;
      const args = [agentId, command.callId, jsonOrNothing(command.generationId), leaseMs];
      return { name: 'renew', keys: shard.ofCalls(agentId).running, args };
    }
    case 'finish': {
      const end = JSON.stringify(clampCallEnd(command.end));
      const args = [agentId, command.callId, end, JSON.stringify(soundPending(command.pending))];
      return { name: 'finish', keys: shard.ofCalls(agentId).running, args };
    }
    default:
      return toAccountCall(command, shard);
  }
}

/** Commands that do not belong to a call. */
function toAccountCall(command: AccountCommand, shard: ShardKeys): ScriptCall {
  const { agentId } = command;
  const base = [shard.meta, shard.outbox, shard.agent(agentId)];
  switch (command.type) {
    case 'grant': {
      const { grantId, expiresAtMs, nanoUsd } = command;
      const args = [agentId, JSON.stringify(grantId), expiresAtMs, countable(nanoUsd)];
      const keys = [...base, shard.agents, shard.agent(agentId, ':grants'), shard.ends];
      return { name: 'grant', keys, args };
    }
    case 'expire':
      return { name: 'expire', keys: [...base, shard.ends], args: [agentId, command.endedByMs] };
    case 'move_out':
    case 'move_in': {
      const { tradeId, expiresAtMs, nanoUsd } = command;
      if (command.type === 'move_in' && nanoUsd > BALANCE_CAP_NANO_USD) {
        throw new RangeError('no lot can have held so much');
      }
      const args = [agentId, JSON.stringify(tradeId), expiresAtMs, countable(nanoUsd)];
      const trades = [shard.agent(agentId, ':trades'), shard.agent(agentId, ':trades-until')];
      const keys = [...base, shard.agents, ...trades];
      if (command.type === 'move_in') keys.push(shard.ends);
      else args.push(command.buyerAgentId);
      return { name: command.type, keys, args };
    }
    case 'put_key':
    case 'change_key':
    case 'revoke_key': {
      const keys = [...base, shard.agent(agentId, ':keys')];
      if (command.type === 'put_key') keys.push(shard.keyHashes);
      return { name: command.type, keys, args: keyArgs(command) };
    }
    case 'start_upload': {
      const args = [agentId, JSON.stringify(command.uploadId), command.limits.uploadsPerDay];
      return { name: 'start_upload', keys: [...base, shard.agent(agentId, ':uploads')], args };
    }
    case 'claim_video':
    case 'submit_video':
    case 'withdraw_video': {
      const args = [agentId, command.callId, JSON.stringify(command.nonce)];
      if (command.type === 'submit_video') args.push(JSON.stringify(command.providerJobId));
      const keys = [...base, shard.agent(agentId, ':holds'), shard.videos];
      return { name: command.type, keys, args };
    }
    case 'set_agent': {
      const { mode, source, sourceVersion, status } = command;
      const texts = [JSON.stringify(command.name), JSON.stringify(command.token)];
      const args = [agentId, mode, JSON.stringify(source), sourceVersion, status, ...texts];
      return { name: 'set_agent', keys: [...base, shard.agents, shard.agent(agentId, ':sources')], args };
    }
    default:
      return command satisfies never;
  }
}

type AccountCommand = Exclude<Command, { type: 'reserve' | 'settle' | 'renew' | 'finish' }>;
type KeyCommand = Extract<Command, { type: 'put_key' | 'change_key' | 'revoke_key' }>;

function keyArgs(command: KeyCommand): ScriptArg[] {
  const { agentId, keyId } = command;
  const actingKeyId = command.actingKeyId ?? '';
  const readVersion = command.readVersion ?? '';
  switch (command.type) {
    case 'put_key': {
      const { label, prefix, hash, limit, madeOverMcp, limits } = command;
      const names = [JSON.stringify(label), JSON.stringify(prefix), hash];
      const bounds = [limits.activeKeys, limits.mcpKeysPerDay];
      const maker = [actingKeyId, String(madeOverMcp)];
      return [agentId, keyId, ...names, ...limitArgs(limit), ...maker, ...bounds, readVersion];
    }
    case 'change_key': {
      const limit = command.limit === 'keep' ? ['keep', ''] : limitArgs(command.limit);
      return [agentId, keyId, jsonOrNothing(command.label), ...limit, actingKeyId, readVersion];
    }
    case 'revoke_key':
      return [agentId, keyId, actingKeyId, readVersion];
    default:
      return command satisfies never;
  }
}

function reserveKeys({ agentId, kind, video }: Reserve, shard: ShardKeys): readonly string[] {
  const { reserve, videos } = shard.ofCalls(agentId);
  if (video !== undefined) return [...reserve, ...videos];
  return kind === 'image' ? [...reserve, shard.agent(agentId, ':stored')] : reserve;
}

function reserveArgs(command: Reserve): ScriptArg[] {
  const { limits, video } = command;
  const share = limits.dailyShareNanoUsd;
  const args = [
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
  return video === undefined ? args : [...args, ...videoArgs(command, video)];
}

function videoArgs(command: Reserve, video: VideoOrder): ScriptArg[] {
  const { videoId, idempotencyKey, upstreamModel, orderFile, openVideosMax } = video;
  const facts = { videoId, idempotencyKey, upstreamModel, orderFile };
  return [
    videoId,
    idempotencyKey ?? '',
    JSON.stringify(facts),
    openVideoText({
      ...facts,
      agentId: command.agentId,
      keyId: command.keyId,
      callId: command.callId,
      model: command.call.model,
      providerId: command.price.providerId,
      estimatedNanoUsd: command.nanoUsd,
    }),
    openVideosMax,
  ];
}

function limitArgs(limit: PutKey['limit']): ScriptArg[] {
  if (limit === null) return ['', ''];
  requireAmount(limit.limitNanoUsd);
  return [String(limit.limitNanoUsd), limit.reset];
}

const HIGH = 10n ** 15n;

function toSettleCall(
  { agentId, callId, costNanoUsd, end, cause, video, stored }: Settle,
  shard: ShardKeys,
): ScriptCall {
  const { settle } = shard.ofCalls(agentId);
  // An orphan's cost is nothing, whatever the command says.
  const cost = cause === 'orphan' ? 0n : costNanoUsd;
  requireAmount(cost);
  const counted = minBigint(cost, COUNTED_COST_MAX);
  const args = [
    agentId,
    callId,
    String(counted / HIGH),
    String(counted % HIGH),
    JSON.stringify(clampCallEnd(end)),
    cause,
    idTimeMs(callId),
    // An orphan has made nothing, whatever the command says.
    video === undefined || cause === 'orphan' ? '' : JSON.stringify(video),
  ];
  if (stored === undefined || cause === 'orphan') return { name: 'settle', keys: settle, args };
  return {
    name: 'settle',
    keys: [...settle, shard.agent(agentId, ':stored')],
    args: [...args, stored.bytes, stored.untilMs],
  };
}

/** Far beyond what an event can carry; its units of 10^15 are still whole in a double. */
const COUNTED_COST_MAX = 10n ** 30n;

/** More than any balance can hold is all the same to a script, which counts in doubles. */
function countable(nanoUsd: NanoUsd): string {
  requireAmount(nanoUsd);
  return String(minBigint(nanoUsd, BALANCE_CAP_NANO_USD + 1n));
}

const jsonOrNothing = (text: string | null): string => (text === null ? '' : JSON.stringify(text));
