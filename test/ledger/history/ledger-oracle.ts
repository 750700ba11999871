import { isDeepStrictEqual } from 'node:util';
import { idTimeMs } from '#core/ids.ts';
import type {
  ChangeKey,
  ClaimVideo,
  Command,
  Expire,
  Finish,
  Grant,
  MoveIn,
  MoveOut,
  PutKey,
  Renew,
  Reserve,
  RevokeKey,
  SetAgent,
  Settle,
  StartUpload,
  SubmitVideo,
  WithdrawVideo,
} from '#core/ledger/command.ts';
import { findVideo, findVideoByKey } from '#core/ledger/machine/agent-queries.ts';
import type { AgentState } from '#core/ledger/machine/state.ts';
import {
  type Answer,
  freeByLot,
  heldOfLot,
  isRemembered,
  least,
  no,
  OracleAgent,
  type OracleCall,
  type OracleKey,
  type OracleVideo,
  openAmount,
  roomOf,
  sumOfCalls,
  yes,
} from './oracle-agent.ts';
import { windowStartMs } from './oracle-calendar.ts';

/**
 * A second ledger that only remembers what happened and works every answer out from those lists, from the first
 * record on: no running totals, no clearing away, nothing shared with the code that it checks but types and ids.
 */
export class LedgerOracle {
  readonly agents = new Map<number, OracleAgent>();
  readonly #hashes = new Set<string>();

  /** What the ledger must answer; takes note of the command when it is accepted. */
  answer(command: Command, nowMs: number): Answer {
    switch (command.type) {
      case 'reserve':
        return this.#reserve(command, nowMs);
      case 'settle':
        return this.#settle(command, nowMs);
      case 'finish':
        return this.#finish(command, nowMs);
      case 'renew':
        return this.#renew(command, nowMs);
      case 'grant':
        return this.#grant(command, nowMs);
      case 'expire':
        return this.#expire(command, nowMs);
      case 'move_out':
        return this.#moveOut(command, nowMs);
      case 'move_in':
        return this.#moveIn(command, nowMs);
      case 'put_key':
        return this.#putKey(command, nowMs);
      case 'change_key':
        return this.#changeKey(command);
      case 'start_upload':
        return this.#startUpload(command, nowMs);
      case 'claim_video':
        return this.#claimVideo(command);
      case 'submit_video':
        return this.#submitVideo(command);
      case 'withdraw_video':
        return this.#withdrawVideo(command);
      case 'revoke_key':
        return this.#revokeKey(command);
      case 'set_agent':
        return this.#setAgent(command);
      default:
        return command satisfies never;
    }
  }

  /** What differs between an agent's lots and this memory of it, or `null`. */
  compare(state: AgentState, nowMs: number): string | null {
    const agent = this.agents.get(state.agentId);
    if (agent === undefined) return 'the ledger knows an agent that was never made';
    const free = freeByLot(agent);
    let lots = 0;
    for (const [expiresAtMs, amount] of free) {
      const held = heldOfLot(agent, expiresAtMs);
      if (amount === 0n && held === 0n) continue;
      lots++;
      const lot = state.lots.find((one) => one.expiresAtMs === expiresAtMs);
      if (lot?.freeNanoUsd !== amount || lot.heldNanoUsd !== held) {
        return `lot ${expiresAtMs}: ${lot?.freeNanoUsd} free and ${lot?.heldNanoUsd} held, not ${amount} and ${held}`;
      }
    }
    if (lots !== state.lots.length) return 'the ledger has a lot too many';
    return compareVideos(agent, state, nowMs);
  }

  /** What a key's calls have charged since then, and what they hold. */
  keyUse(agentId: number, keyId: number, sinceMs: number): { spent: bigint; held: bigint } {
    return keyUse(this.#made(agentId), keyId, sinceMs);
  }

  #made(agentId: number): OracleAgent {
    const known = this.agents.get(agentId);
    if (known !== undefined) return known;
    const agent = new OracleAgent();
    this.agents.set(agentId, agent);
    return agent;
  }

  #reserve(command: Reserve, nowMs: number): Answer {
    const age = nowMs - idTimeMs(command.callId);
    const apart = Math.abs(nowMs - command.callerNowMs) > 300_000 || age < -300_000;
    if (apart) return no('clock_apart');
    if (age > 600_000) return no('stale_id');
    const agent = this.agents.get(command.agentId);
    if (agent === undefined) return no('unknown_agent');
    const call = agent.call(command.callId);
    if (call !== undefined && call.settledAtMs === null) {
      return call.nonce === command.nonce ? yes(true) : no('id_taken');
    }
    if (call !== undefined && isRemembered(call, nowMs)) {
      return call.nonce === command.nonce ? no('done', { chargedNanoUsd: call.charged }) : no('id_taken');
    }
    if (agent.givenUp.has(command.callId)) return no('done', { chargedNanoUsd: 0n });
    const videos = agent.videos(nowMs);
    const wanted = command.video ?? { videoId: null, idempotencyKey: null };
    const same = videos.find(({ order }) => order.key !== null && order.key === wanted.idempotencyKey);
    if (same !== undefined) return no('video_exists', { videoId: same.order.id });
    if (videos.some(({ order }) => order.id === wanted.videoId)) return no('id_taken');
    const key = agent.keys.get(command.keyId);
    if (key === undefined || key.revoked) return no('key_revoked');
    const status = agent.status();
    if (status !== 'active') return no(`agent_${status}`);
    return (
      refuseStart(agent, command, nowMs) ??
      refuseMoney(agent, key, command, nowMs) ??
      hold(agent, command, nowMs)
    );
  }

  #settle(command: Settle, nowMs: number): Answer {
    const agent = this.agents.get(command.agentId);
    const call = agent?.call(command.callId);
    if (call === undefined) {
      if (command.cause === 'end' && command.costNanoUsd === 0n) agent?.givenUp.add(command.callId);
      return no('no_hold');
    }
    if (call.settledAtMs !== null) {
      if (!isRemembered(call, nowMs)) return no('no_hold');
      return { ok: true, repeated: true, chargedNanoUsd: call.charged };
    }
    const orphan = command.cause === 'orphan';
    const age = nowMs - Math.max(call.startedAtMs, idTimeMs(call.id));
    if (orphan && (call.pending || age < call.timeLimitMs + 120_000)) {
      return no('not_orphaned');
    }
    const cost = orphan ? 0n : command.costNanoUsd;
    call.settledAtMs = nowMs;
    call.charged = least(cost, call.amount);
    if (call.order !== null) {
      call.order.made = !orphan && command.video !== undefined;
      const wasRefused = command.end.errorCode === 'service_unavailable' && call.order.claim === null;
      if (!call.order.made && wasRefused) call.order.key = null;
    }
    if (call.kind === 'image' && !orphan && command.stored !== undefined) {
      const { bytes, untilMs } = command.stored;
      const over = untilMs % 3_600_000;
      const endsAtMs = over === 0 ? untilMs : untilMs - over + 3_600_000;
      this.#made(command.agentId).stored.push({ bytes, endsAtMs });
    }
    let due = call.charged;
    for (const part of call.parts) {
      const paid = least(due, part.amount);
      part.amount = paid;
      due -= paid;
    }
    return { ok: true, repeated: false, chargedNanoUsd: call.charged, overrunNanoUsd: cost - call.charged };
  }

  #finish(command: Finish, nowMs: number): Answer {
    const call = this.agents.get(command.agentId)?.call(command.callId);
    if (call === undefined) return no('no_hold');
    if (call.settledAtMs !== null) {
      return isRemembered(call, nowMs) ? no('done', { chargedNanoUsd: call.charged }) : no('no_hold');
    }
    const was = call.pending;
    call.pending = true;
    return yes(was);
  }

  #renew(command: Renew, nowMs: number): Answer {
    const call = this.agents.get(command.agentId)?.call(command.callId);
    if (call === undefined || call.settledAtMs !== null || call.pending) return no('no_hold');
    call.leaseEndsAtMs = command.holdsSlot ? nowMs + 60_000 : nowMs;
    return { ok: true };
  }

  #grant(command: Grant, nowMs: number): Answer {
    const agent = this.agents.get(command.agentId);
    const known = agent?.credits.some(
      (credit) => credit.grantId === command.grantId && nowMs < credit.atMs + 8 * 86_400_000,
    );
    if (known === true) return yes(true);
    if (command.expiresAtMs % 86_400_000 !== 0) return no('not_midnight');
    if (command.expiresAtMs <= nowMs) return no('lot_ended');
    if (command.expiresAtMs - windowStartMs('daily', nowMs) > 8 * 86_400_000) return no('lot_too_far');
    if (command.nanoUsd > roomOf(agent)) return no('over_cap');
    this.#made(command.agentId).credits.push({
      lot: command.expiresAtMs,
      amount: command.nanoUsd,
      grantId: command.grantId,
      atMs: nowMs,
    });
    return yes(false);
  }

  #expire({ agentId, endedByMs }: Expire, nowMs: number): Answer {
    const agent = this.agents.get(agentId);
    let expiredNanoUsd = 0n;
    if (agent === undefined) return { ok: true, expiredNanoUsd };
    for (const [lot, amount] of freeByLot(agent)) {
      if (lot > nowMs || lot > endedByMs || amount === 0n) continue;
      expiredNanoUsd += amount;
      agent.credits.push({ lot, amount: -amount, grantId: null, atMs: nowMs });
    }
    return { ok: true, expiredNanoUsd };
  }

  #moveOut(command: MoveOut, nowMs: number): Answer {
    const known = this.agents.get(command.agentId)?.trade(`out ${command.tradeId}`, nowMs);
    const { expiresAtMs: lot, nanoUsd: amount, buyerAgentId } = command;
    const terms = { lot, amount, buyerAgentId };
    if (known?.accepted) {
      const same = isDeepStrictEqual(known.terms, terms);
      return same ? yes(true) : { ok: false, repeated: true, reason: 'other_terms' };
    }
    if (known !== undefined) return { ok: false, repeated: true, reason: known.reason };
    const isKnown = this.agents.has(command.agentId);
    const agent = this.#made(command.agentId);
    const free = freeByLot(agent).get(command.expiresAtMs) ?? 0n;
    const accepted = command.expiresAtMs > nowMs && command.nanoUsd > 0n && command.nanoUsd <= free;
    let reason = 'balance';
    if (command.nanoUsd === 0n) reason = 'nothing';
    if (command.expiresAtMs <= nowMs) reason = 'lot_ended';
    if (!isKnown) reason = 'unknown_agent';
    const keptMs = 35 * 86_400_000;
    const untilMs = accepted ? command.expiresAtMs + keptMs : nowMs + 8 * 86_400_000 + keptMs;
    agent.trades.push({ name: `out ${command.tradeId}`, untilMs, accepted, expired: 0n, terms, reason });
    if (!accepted) return { ok: false, repeated: false, reason };
    agent.credits.push({ lot: command.expiresAtMs, amount: -command.nanoUsd, grantId: null, atMs: nowMs });
    return yes(false);
  }

  #moveIn(command: MoveIn, nowMs: number): Answer {
    const known = this.agents.get(command.agentId)?.trade(`in ${command.tradeId}`, nowMs);
    if (known !== undefined) return { ...yes(true), expiredNanoUsd: known.expired };
    const agent = this.#made(command.agentId);
    const room = command.expiresAtMs <= nowMs ? 0n : roomOf(agent);
    const kept = least(command.nanoUsd, room);
    const untilMs = Math.max(nowMs, command.expiresAtMs) + 35 * 86_400_000;
    const expired = command.nanoUsd - kept;
    agent.trades.push({ name: `in ${command.tradeId}`, untilMs, accepted: true, expired });
    agent.credits.push({ lot: command.expiresAtMs, amount: kept, grantId: null, atMs: nowMs });
    return { ...yes(false), expiredNanoUsd: expired };
  }

  #putKey(command: PutKey, nowMs: number): Answer {
    const agent = this.agents.get(command.agentId);
    if (agent === undefined) return no('unknown_agent');
    const key = agent.keys.get(command.keyId);
    const made = key?.hash === command.hash;
    const acting = agent.refuseActing(command.actingKeyId, made && !key.revoked);
    if (acting !== null) return acting;
    if (made) return key.revoked ? no('key_revoked') : yes(true);
    if (key !== undefined) return no('id_taken');
    if (command.actingKeyId !== null && agent.status() !== 'active') return no('agent_not_active');
    if (this.#hashes.has(command.hash)) return no('hash_taken');
    const keys = [...agent.keys.values()];
    if (keys.filter((one) => !one.revoked).length >= command.limits.activeKeys)
      return no('too_many_active_keys');
    const young = keys.filter((one) => one.overMcp && nowMs - one.madeAtMs < 86_400_000).length;
    if (command.madeOverMcp && young >= command.limits.mcpKeysPerDay) return no('too_many_mcp_keys');
    this.#hashes.add(command.hash);
    const { hash, label, limit, madeOverMcp: overMcp } = command;
    agent.keys.set(command.keyId, { hash, label, limit, overMcp, madeAtMs: nowMs, revoked: false });
    return yes(false);
  }

  #changeKey(command: ChangeKey): Answer {
    const agent = this.agents.get(command.agentId);
    const key = agent?.keys.get(command.keyId);
    if (agent === undefined || key === undefined) return no('unknown_key');
    const label = command.label ?? key.label;
    const limit = command.limit === 'keep' ? key.limit : command.limit;
    const changes = label !== key.label || !isDeepStrictEqual(limit, key.limit);
    const acting = agent.refuseActing(command.actingKeyId, !changes && !key.revoked);
    if (acting !== null) return acting;
    if (key.revoked) return no('key_revoked');
    key.label = label;
    key.limit = limit;
    return yes(!changes);
  }

  #startUpload(command: StartUpload, nowMs: number): Answer {
    const agent = this.agents.get(command.agentId);
    if (agent === undefined) return no('unknown_agent');
    const young = agent.uploads.filter(({ atMs }) => nowMs - atMs < 86_400_000);
    if (young.some(({ id }) => id === command.uploadId)) return yes(true);
    const status = agent.status();
    if (status !== 'active') return no(`agent_${status}`);
    if (![...freeByLot(agent)].some(([lot, free]) => lot > nowMs && free > 0n)) return no('balance');
    // Time does not step back here: the first of them leaves first.
    const leaving = young.at(-command.limits.uploadsPerDay);
    if (leaving !== undefined)
      return no('uploads_per_day', { retryAfterMs: leaving.atMs + 86_400_000 - nowMs });
    agent.uploads.push({ id: command.uploadId, atMs: nowMs });
    return yes(false);
  }

  #openVideo({ agentId, callId }: { agentId: number; callId: number }): OracleVideo | null {
    const call = this.agents.get(agentId)?.call(callId);
    return call === undefined || call.settledAtMs !== null ? null : call.order;
  }

  #claimVideo(command: ClaimVideo): Answer {
    const video = this.#openVideo(command);
    if (video === null) return no('no_hold');
    if (video.job !== null) return no('submitted');
    if (video.claim !== null) return video.claim === command.nonce ? yes(true) : no('claimed');
    video.claim = command.nonce;
    return yes(false);
  }

  #submitVideo(command: SubmitVideo): Answer {
    const video = this.#openVideo(command);
    if (video === null) return no('no_hold');
    if (video.claim !== command.nonce) return no('not_claimed');
    if (video.job !== null) return video.job === command.providerJobId ? yes(true) : no('not_claimed');
    video.job = command.providerJobId;
    return yes(false);
  }

  #withdrawVideo(command: WithdrawVideo): Answer {
    const video = this.#openVideo(command);
    if (video === null) return no('no_hold');
    if (video.job !== null) return no('submitted');
    if (video.claim === null) return yes(true);
    if (video.claim !== command.nonce) return no('not_claimed');
    video.claim = null;
    return yes(false);
  }

  #revokeKey(command: RevokeKey): Answer {
    const agent = this.agents.get(command.agentId);
    const key = agent?.keys.get(command.keyId);
    if (agent === undefined || key === undefined) return no('unknown_key');
    const was = key.revoked;
    const acting = agent.refuseActing(command.actingKeyId, was);
    if (acting !== null) return acting;
    key.revoked = true;
    return yes(was);
  }

  #setAgent(command: SetAgent): Answer {
    const agent = this.agents.get(command.agentId);
    const known = agent?.sources.get(command.source);
    if (known !== undefined && command.sourceVersion <= known.version) return yes(true);
    if (command.mode === 'update' && agent === undefined) return no('unknown_agent');
    if (command.mode === 'create' && agent !== undefined && agent.sources.size > 0) return no('exists');
    const { sourceVersion: version, status } = command;
    this.#made(command.agentId).sources.set(command.source, { version, status });
    return yes(false);
  }
}

/** GCRA said otherwise: no start may find more starts since any earlier one than burst and rate allow. */
function refuseStart(agent: OracleAgent, command: Reserve, nowMs: number): Answer | null {
  const { callsPerMinute, burst, runningCalls } = command.limits;
  const intervalUs = Math.floor(60_000_000 / callsPerMinute);
  let excessUs = 0;
  for (const [i, call] of agent.calls.entries()) {
    const startsSince = agent.calls.length - i;
    const aheadUs = (call.startedAtMs - nowMs) * 1_000 + startsSince * intervalUs;
    excessUs = Math.max(excessUs, aheadUs - (burst - 1) * intervalUs);
  }
  if (excessUs > 0) return no('rate', { retryAfterMs: Math.ceil(excessUs / 1_000) });
  if (command.kind === 'video') return refuseOpenVideos(agent, command);
  const running = agent.calls.filter(
    (call) =>
      call.settledAtMs === null && !call.pending && call.kind !== 'video' && call.leaseEndsAtMs > nowMs,
  ).length;
  if (running >= runningCalls) return no('running_calls', { runningCalls: running, retryAfterMs: 1_000 });
  return command.kind === 'image' ? refuseFullStorage(agent, nowMs) : null;
}

function refuseOpenVideos(agent: OracleAgent, { video }: Reserve): Answer | null {
  const openVideos = agent.calls.filter((call) => call.order !== null && call.settledAtMs === null).length;
  if (video === undefined || openVideos < video.openVideosMax) return null;
  return no('open_videos', { openVideos, retryAfterMs: 10_000 });
}

function refuseFullStorage(agent: OracleAgent, nowMs: number): Answer | null {
  const live = agent.stored.filter(({ endsAtMs }) => endsAtMs > nowMs);
  const bytes = live.reduce((sum, each) => sum + each.bytes, 0);
  if (bytes < 5 * 1024 ** 3) return null;
  return no('storage_full', { retryAfterMs: Math.min(...live.map(({ endsAtMs }) => endsAtMs)) - nowMs });
}

/** What differs between the videos that the ledger knows and those that it has to know. */
function compareVideos(agent: OracleAgent, state: AgentState, nowMs: number): string | null {
  const known = agent.videos(nowMs);
  for (const { call, order } of known) {
    const job = findVideo(state, order.id, nowMs);
    if (job === null) return `video ${order.id} is not known`;
    const is = [
      job.claim?.nonce,
      job.submitted?.providerJobId,
      job.end?.chargedNanoUsd,
      job.end?.file != null,
    ];
    const charged = call.settledAtMs === null ? undefined : call.charged;
    const shall = [order.claim ?? undefined, order.job ?? undefined, charged, order.made];
    if (!isDeepStrictEqual(is, shall)) return `video ${order.id} is ${is}, not ${shall}`;
    if (order.key === null) continue;
    if (findVideoByKey(state, order.key, nowMs) !== job) return `key ${order.key} does not find ${order.id}`;
  }
  const kept = [...state.videos].filter((job) => findVideo(state, job.videoId, nowMs) !== null);
  return kept.length === known.length ? null : 'the ledger knows a video too many';
}

function refuseMoney(agent: OracleAgent, key: OracleKey, command: Reserve, nowMs: number): Answer | null {
  const heldNanoUsd = sumOfCalls(agent, openAmount);
  const share = command.limits.dailyShareNanoUsd;
  const todayMs = windowStartMs('daily', nowMs);
  const today = sumOfCalls(agent, (call) => ((call.settledAtMs ?? 0) >= todayMs ? call.charged : 0n));
  if (share !== null && today + heldNanoUsd + command.nanoUsd > share) {
    return no('daily_share', { resetsAtMs: todayMs + 86_400_000 });
  }
  if (key.limit !== null) {
    const { limitNanoUsd, reset } = key.limit;
    const { spent, held } = keyUse(agent, command.keyId, windowStartMs(reset, nowMs));
    const remaining = limitNanoUsd - spent - held;
    if (command.nanoUsd > remaining) {
      return no('key_limit', {
        remainingNanoUsd: remaining < 0n ? 0n : remaining,
        heldNanoUsd: held,
        limitNanoUsd,
        resetsAtMs: windowStartMs(reset, nowMs, 1),
      });
    }
  }
  let spendable = 0n;
  for (const [lot, amount] of freeByLot(agent)) if (lot > nowMs) spendable += amount;
  if (command.nanoUsd <= spendable) return null;
  return no('balance', { spendableNanoUsd: spendable, heldNanoUsd });
}

function keyUse(agent: OracleAgent, keyId: number, sinceMs: number): { spent: bigint; held: bigint } {
  const ofKey = (call: OracleCall, amount: bigint) => (call.keyId === keyId ? amount : 0n);
  return {
    spent: sumOfCalls(agent, (call) => ofKey(call, (call.settledAtMs ?? 0) >= sinceMs ? call.charged : 0n)),
    held: sumOfCalls(agent, (call) => ofKey(call, openAmount(call))),
  };
}

function hold(agent: OracleAgent, command: Reserve, nowMs: number): Answer {
  const parts: OracleCall['parts'] = [];
  let missing = command.nanoUsd;
  const soonestFirst = [...freeByLot(agent)].sort(([a], [b]) => a - b);
  for (const [lot, free] of soonestFirst) {
    const amount = lot <= nowMs ? 0n : least(missing, free);
    if (amount > 0n) parts.push({ lot, amount });
    missing -= amount;
  }
  agent.calls.push({
    id: command.callId,
    nonce: command.nonce,
    keyId: command.keyId,
    kind: command.kind,
    order:
      command.video === undefined
        ? null
        : {
            id: command.video.videoId,
            key: command.video.idempotencyKey,
            claim: null,
            job: null,
            made: false,
          },
    amount: command.nanoUsd,
    parts,
    startedAtMs: nowMs,
    timeLimitMs: command.timeLimitMs,
    leaseEndsAtMs: nowMs + 60_000,
    pending: false,
    settledAtMs: null,
    charged: 0n,
  });
  return yes(false);
}
