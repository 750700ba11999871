import { DAY_MS, HOUR_MS, startOfDayMs } from '#core/clock.ts';
import type { KeyLimit } from '#core/events/ledger-event.ts';
import type { Command, MoveOut, PutKey, Reserve, Settle, VideoOrder } from '#core/ledger/command.ts';
import type { LedgerState } from '#core/ledger/machine/state.ts';
import { RESULTS_BYTES_MAX } from '#core/limits.ts';
import { callIdAt } from '../case.ts';
import { callEnd, callFacts, MINUTES_13, pendingPrice, savedPrice, videoFile } from '../commands.ts';
import { windowStartMs } from './oracle-calendar.ts';
import type { Profile, Step } from './step.ts';

interface NamedCall {
  agentId: number;
  callId: number;
  nonce: string;
}

type StepOf<D extends Step['do']> = Extract<Step, { do: D }>;

/** Turns relative steps into commands: keeps the time and the names given so far. */
export class StepWorld {
  nowMs: number;
  readonly #profile: Profile;
  readonly #calls: NamedCall[] = [];
  readonly #sales = new Map<string, Pick<MoveOut, 'expiresAtMs' | 'nanoUsd' | 'buyerAgentId'>>();
  readonly #latest = { call: 0, g: 0, t: 0, u: 0, k: 0 };

  constructor(profile: Profile) {
    this.#profile = profile;
    this.nowMs = profile.startMs;
  }

  /** `null`: only time moves. */
  commandOf(step: Step, state: LedgerState): Command | null {
    switch (step.do) {
      case 'wait':
        this.nowMs += step.ms;
        return null;
      case 'until':
        this.#moveUntil(step);
        return null;
      case 'grant': {
        const grantId = this.#name('g', step.pick);
        return {
          type: 'grant',
          agentId: step.agent,
          grantId,
          ...this.#lot(step),
          nanoUsd: this.#nano(step.units),
        };
      }
      case 'reserve':
        return this.#reserve(step);
      case 'renew': {
        const generationId = step.generation === 0 ? null : `gen-${step.generation}`;
        const { holdsSlot } = step;
        return { type: 'renew', ...this.#call(step.pick, state), generationId, holdsSlot };
      }
      case 'finish':
        return { type: 'finish', ...this.#call(step.pick, state), end: callEnd, pending: pendingPrice };
      case 'settle':
        return this.#settle(step, state);
      case 'claim_video':
      case 'withdraw_video':
        return { type: step.do, ...this.#video(step.pick, state), nonce: `worker-${step.worker}` };
      case 'submit_video': {
        const nonce = `worker-${step.worker}`;
        return { type: step.do, ...this.#video(step.pick, state), nonce, providerJobId: `job-${step.job}` };
      }
      case 'expire':
        return { type: 'expire', agentId: step.agent, endedByMs: this.nowMs - step.logBehindMs };
      case 'move_out':
      case 'move_in': {
        const tradeId = this.#name('t', step.pick);
        const trade = {
          ...{ agentId: step.agent, tradeId, nanoUsd: this.#nano(step.units) },
          ...this.#lot({ ...step, crooked: false }),
        };
        return step.do === 'move_in' ? { type: 'move_in', ...trade } : this.#moveOut(trade, step.units);
      }
      case 'put_key':
        return this.#putKey(step);
      case 'change_key': {
        const { agent: agentId, key: keyId, limitUnits, reset, acting: actingKeyId } = step;
        const label = step.label === null ? null : `label ${step.label}`;
        const limit = limitUnits === 'keep' ? limitUnits : this.#limit(limitUnits, reset);
        return { type: 'change_key', readVersion: null, agentId, keyId, label, limit, actingKeyId };
      }
      case 'start_upload': {
        const uploadId = this.#name('u', step.pick);
        const { uploadsPerDay } = this.#profile;
        return { type: 'start_upload', agentId: step.agent, uploadId, limits: { uploadsPerDay } };
      }
      case 'revoke_key':
        return {
          type: 'revoke_key',
          readVersion: null,
          agentId: step.agent,
          keyId: step.key,
          actingKeyId: step.acting,
        };
      case 'set_agent': {
        const source = `source-${step.source}`;
        const last = state.agents.get(step.agent)?.statusBySource.get(source)?.sourceVersion ?? 1;
        const { agent: agentId, mode, status } = step;
        const sourceVersion = last + step.ahead;
        return { type: 'set_agent', agentId, mode, source, sourceVersion, status, name: 'Ada', token: null };
      }
      default:
        return step satisfies never;
    }
  }

  #moveUntil(step: StepOf<'until'>): void {
    const reset = { day: 'daily', week: 'weekly', month: 'monthly' } as const;
    this.nowMs = Math.max(this.nowMs, windowStartMs(reset[step.turn], this.nowMs, 1) + step.offMs);
  }

  #reserve(step: StepOf<'reserve'>): Reserve {
    const { agentId, callId, nonce } = this.#startedCall(step);
    return {
      type: 'reserve',
      agentId,
      callId,
      nonce: step.otherProcess ? 'process-2' : nonce,
      keyId: step.key,
      kind: step.kind,
      nanoUsd: this.#nano(step.units),
      timeLimitMs: step.kind === 'video' ? 10 * MINUTES_13 : MINUTES_13,
      callerNowMs: this.nowMs + step.apartMs,
      call: callFacts,
      price: savedPrice,
      ...(step.kind === 'video' && step.order !== 'none' && { video: this.#order(callId, step.order) }),
      limits: this.#profile.limits,
    };
  }

  #order(callId: number, order: 'plain' | number): VideoOrder {
    return {
      videoId: `vid_${callId}`,
      idempotencyKey: order === 'plain' ? null : this.#name('k', order),
      upstreamModel: 'acme/film',
      orderFile: `orders/${callId}`,
      openVideosMax: this.#profile.openVideosMax,
    };
  }

  /** A name that comes again mostly comes with its terms. */
  #moveOut(trade: Omit<MoveOut, 'type' | 'buyerAgentId'>, units: number): MoveOut {
    const known = units % 4 > 0 ? this.#sales.get(trade.tradeId) : undefined;
    const sale: MoveOut = { type: 'move_out', ...trade, buyerAgentId: 1 + (units % 2), ...known };
    const { expiresAtMs, nanoUsd, buyerAgentId } = sale;
    this.#sales.set(trade.tradeId, { expiresAtMs, nanoUsd, buyerAgentId });
    return sale;
  }

  /** Mostly a new call, sometimes one of the latest again. */
  #startedCall(step: StepOf<'reserve'>): NamedCall {
    const known = step.pick < 2 ? this.#calls.at(-1 - step.pick) : undefined;
    if (known !== undefined) return known;
    const callId = callIdAt(this.nowMs - step.idAgeMs, ++this.#latest.call % 4095);
    const call = { agentId: step.agent, callId, nonce: 'process-1' };
    this.#calls.push(call);
    return call;
  }

  /** Mostly an open call, sometimes any, and once in a while one that was never started. */
  #call(pick: number, state: LedgerState): { agentId: number; callId: number } {
    const open = [...state.agents.values()].flatMap((agent) =>
      Array.from(agent.holds.keys(), (callId) => ({ agentId: agent.agentId, callId })),
    );
    const known = pick % 4 === 3 || open.length === 0 ? this.#calls.toReversed() : open;
    const call = known[(pick >> 2) % Math.max(1, known.length)];
    if (call === undefined || pick === 0) return { agentId: 1, callId: callIdAt(this.nowMs, 4095) };
    return { agentId: call.agentId, callId: call.callId };
  }

  /** Mostly an open video, sometimes any call. */
  #video(pick: number, state: LedgerState): { agentId: number; callId: number } {
    const open = [...state.agents.values()].flatMap((agent) =>
      Array.from(agent.holds.values()).flatMap(({ callId, videoId }) =>
        videoId === null ? [] : [{ agentId: agent.agentId, callId }],
      ),
    );
    return open[pick] ?? open.at(-1) ?? this.#call(pick, state);
  }

  #settle(step: StepOf<'settle'>, state: LedgerState): Settle {
    const call = this.#call(step.pick, state);
    // A call that was given up: its start may come later.
    if (this.#calls.every(({ callId }) => callId !== call.callId)) {
      this.#calls.push({ ...call, nonce: 'process-1' });
    }
    const cause = step.orphan ? 'orphan' : 'end';
    const stored = {
      bytes: Math.ceil((step.shares * RESULTS_BYTES_MAX) / 3),
      untilMs: this.nowMs + step.hours * HOUR_MS,
    };
    const made = step.made ? { video: videoFile, stored } : {};
    const end = step.refused && !step.made ? { ...callEnd, errorCode: 'service_unavailable' } : callEnd;
    return { type: 'settle', ...call, costNanoUsd: this.#nano(step.units), end, cause, ...made };
  }

  #putKey(step: StepOf<'put_key'>): PutKey {
    const hash = step.hash === 'own' ? `hash-${step.agent}-${step.key}` : 'hash-1-1';
    return {
      type: 'put_key',
      readVersion: null,
      agentId: step.agent,
      keyId: step.key,
      label: `label ${step.label}`,
      prefix: 'fg_prefix000',
      hash,
      limit: this.#limit(step.limitUnits, step.reset),
      actingKeyId: step.acting,
      madeOverMcp: step.overMcp,
      limits: this.#profile.keyLimits,
    };
  }

  #limit(units: number | null, reset: KeyLimit['reset']): PutKey['limit'] {
    return units === null ? null : { limitNanoUsd: this.#nano(units), reset };
  }

  /** Mostly a new name, for a pick of 0 the latest again. */
  #name(prefix: 'g' | 't' | 'u' | 'k', pick: number): string {
    if (pick > 0) this.#latest[prefix]++;
    return `${prefix}${this.#latest[prefix]}`;
  }

  #lot(step: { days: number; crooked: boolean }): { expiresAtMs: number } {
    return { expiresAtMs: startOfDayMs(this.nowMs) + step.days * DAY_MS + (step.crooked ? 1 : 0) };
  }

  #nano = (units: number): bigint => BigInt(units) * this.#profile.unit;
}
