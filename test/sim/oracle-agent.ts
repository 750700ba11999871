import { DAY_MS, startOfDayMs, startOfMonthMs, startOfWeekMs } from '#core/clock.ts';
import type { LedgerEvent, LedgerEventOf } from '#core/events/ledger-event.ts';

/** What the log says of one call. */
export interface OracleCall {
  callId: number;
  keyId: number;
  heldNanoUsd: bigint;
  parts: { lot: number; nanoUsd: bigint }[];
  startedAtMs: number;
  leaseEndsAtMs: number | null;
  state: 'running' | 'pending' | 'settled';
  settledAtMs: number;
  chargedNanoUsd: bigint;
}

interface OracleKey {
  revoked: boolean;
  /** A charge was dated by a clock that was ahead, across a midnight: it stands in another period. */
  misdated: boolean;
  limit: { nanoUsd: bigint; reset: 'daily' | 'weekly' | 'monthly' } | null;
}

export type Broken = (rule: string, facts?: object) => void;

const RUNNING_MAX = 8;
const BURST = 60;
/** Few, so that it is reached. */
export const UPLOADS_PER_DAY = 1;
const STARTS_PER_MS = 600 / 60_000;
const CLOCKS_APART_MS = 5 * 60_000;
/** Longer windows hold what shorter ones do. */
const STARTS_LOOKED_AT = 500;

/**
 * One agent by the log alone, counted without any of the product's code for it: every event has to keep every promise
 * of the ledger.
 */
export class OracleAgent {
  readonly agentId: number;
  version = 0;
  grantedNanoUsd = 0n;
  movedInNanoUsd = 0n;
  movedOutNanoUsd = 0n;
  chargedNanoUsd = 0n;
  expiredNanoUsd = 0n;
  readonly free = new Map<number, bigint>();
  readonly calls = new Map<number, OracleCall>();
  readonly #open = new Map<number, OracleCall>();
  readonly keys = new Map<number, OracleKey>();
  /** What happened, by a name of its own. */
  readonly done = new Set<string>();
  /** Calls whose process said that they are read on for their usage alone. */
  readonly leftSlots = new Set<number>();
  /** After each version. */
  readonly sums: string[] = [''];
  readonly #sources = new Map<string, string>();
  readonly #startsAtMs: number[] = [];
  readonly #uploads = new Map<string, number>();
  /** Of any event. */
  #latestAtMs = 0;

  constructor(agentId: number) {
    this.agentId = agentId;
  }

  get active(): boolean {
    const said = [...this.#sources.values()];
    return !said.includes('suspended') && said.includes('active');
  }

  get freeNanoUsd(): bigint {
    return sum(this.free.values());
  }

  get open(): OracleCall[] {
    return [...this.#open.values()];
  }

  get heldNanoUsd(): bigint {
    return sum(this.open.map(({ heldNanoUsd }) => heldNanoUsd));
  }

  lotText(): string {
    const held = new Map<number, bigint>();
    for (const { parts } of this.open) {
      for (const { lot, nanoUsd } of parts) held.set(lot, (held.get(lot) ?? 0n) + nanoUsd);
    }
    const lots = [...new Set([...this.free.keys(), ...held.keys()])].sort((a, b) => a - b);
    return lots
      .map((lot) => ({ lot, free: this.free.get(lot) ?? 0n, held: held.get(lot) ?? 0n }))
      .filter(({ free, held: taken }) => free > 0n || taken > 0n)
      .map(({ lot, free, held: taken }) => `${lot}:${free}:${taken}`)
      .join(' ');
  }

  take(event: LedgerEvent, trueMs: number, broken: Broken): void {
    if (event.version !== this.version + 1) {
      broken('VERSION', { agentId: this.agentId, has: this.version, event });
    }
    this.version = event.version;
    this.#latestAtMs = Math.max(this.#latestAtMs, event.atMs);
    for (const name of namesOf(event)) {
      if (ONCE.test(name) && this.done.has(name)) broken('TWICE', { name });
      this.done.add(name);
    }
    this.#change(event, trueMs, broken);
    for (const [lot, free] of this.free) if (free < 0n) broken('OVERSPENT', { lot, event });
    const came = this.grantedNanoUsd + this.movedInNanoUsd;
    const went = this.chargedNanoUsd + this.expiredNanoUsd + this.movedOutNanoUsd;
    if (came !== this.freeNanoUsd + this.heldNanoUsd + went) broken('IDENTITY', { event });
    this.sums.push(`${this.freeNanoUsd} ${this.heldNanoUsd} ${this.chargedNanoUsd}`);
  }

  #change(event: LedgerEvent, trueMs: number, broken: Broken): void {
    switch (event.type) {
      case 'granted':
        this.#add(event.expiresAtMs, BigInt(event.nanoUsd));
        this.grantedNanoUsd += BigInt(event.nanoUsd);
        break;
      case 'moved_in': {
        const expired = BigInt(event.expiredNanoUsd);
        this.#add(event.expiresAtMs, BigInt(event.nanoUsd) - expired);
        this.movedInNanoUsd += BigInt(event.nanoUsd);
        this.expiredNanoUsd += expired;
        break;
      }
      case 'moved_out':
        for (const { expiresAtMs, nanoUsd } of event.lots) {
          this.#add(expiresAtMs, -BigInt(nanoUsd));
          this.movedOutNanoUsd += BigInt(nanoUsd);
        }
        break;
      case 'move_refused':
        break;
      case 'expired':
        for (const { expiresAtMs, nanoUsd } of event.lots) {
          if (expiresAtMs > trueMs) broken('EXPIRED_EARLY', { event, byMs: expiresAtMs - trueMs });
          this.#add(expiresAtMs, -BigInt(nanoUsd));
          this.expiredNanoUsd += BigInt(nanoUsd);
        }
        break;
      case 'reserved':
        this.#reserve(event, broken);
        break;
      case 'renewed':
        if (this.calls.get(event.callId)?.state !== 'running') broken('RENEWED_NOT_RUNNING', { event });
        break;
      case 'finished': {
        const call = this.calls.get(event.callId);
        if (call?.state !== 'running') {
          broken('FINISHED_NOT_RUNNING', { event });
          return;
        }
        call.state = 'pending';
        break;
      }
      case 'settled':
        this.#settle(event, trueMs, broken);
        break;
      case 'key_put': {
        const key = this.keys.get(event.keyId);
        if (key?.revoked) broken('REVOKED_KEY_CHANGED', { event });
        const limit =
          event.limit === null
            ? null
            : { nanoUsd: BigInt(event.limit.limitNanoUsd), reset: event.limit.reset };
        this.keys.set(event.keyId, { revoked: false, misdated: key?.misdated ?? false, limit });
        break;
      }
      case 'key_revoked': {
        const key = this.keys.get(event.keyId);
        if (key === undefined) {
          broken('UNKNOWN_KEY_REVOKED', { event });
          return;
        }
        key.revoked = true;
        break;
      }
      case 'upload_started':
        this.#countUpload(event, broken);
        break;
      case 'video_claimed':
      case 'video_submitted':
      case 'video_withdrawn':
        break;
      case 'agent_set':
        this.#sources.set(event.source, event.status);
        break;
      default:
        event satisfies never;
    }
  }

  #reserve(event: LedgerEventOf<'reserved'>, broken: Broken): void {
    const key = this.keys.get(event.keyId);
    if (key === undefined || key.revoked) broken('STARTED_WITH_REVOKED_KEY', { event });
    if (!this.active) broken('STARTED_WHILE_SUSPENDED', { event });
    const parts = event.allocations.map((part) => ({ lot: part.expiresAtMs, nanoUsd: BigInt(part.nanoUsd) }));
    const heldNanoUsd = sum(parts.map(({ nanoUsd }) => nanoUsd));
    if (heldNanoUsd !== BigInt(event.nanoUsd)) broken('ALLOCATIONS', { event });
    // The slots that nobody can have lost: of starts of the last minute that have not ended.
    const running = this.open.filter(
      ({ callId, state, leaseEndsAtMs }) =>
        state === 'running' && !this.leftSlots.has(callId) && (leaseEndsAtMs ?? 0) > event.atMs,
    );
    if (running.length >= RUNNING_MAX) broken('SLOTS', { event, running: running.length });
    this.#countStart(event.atMs, broken);
    for (const { lot, nanoUsd } of parts) {
      if (lot <= event.atMs) broken('HELD_FROM_ENDED_LOT', { event });
      this.#add(lot, -nanoUsd);
    }
    const call: OracleCall = {
      callId: event.callId,
      keyId: event.keyId,
      heldNanoUsd,
      parts,
      startedAtMs: event.atMs,
      leaseEndsAtMs: event.leaseEndsAtMs,
      state: 'running',
      settledAtMs: 0,
      chargedNanoUsd: 0n,
    };
    this.calls.set(event.callId, call);
    this.#open.set(event.callId, call);
    const limit = key?.limit ?? null;
    // A known weakness: a Redis that believes for a moment that it is tomorrow begins tomorrow's sums.
    if (
      limit !== null &&
      !key?.misdated &&
      this.#usedOf(event.keyId, limit.reset, event.atMs) > limit.nanoUsd
    ) {
      broken('KEY_LIMIT', { event });
    }
  }

  /** In any `w` milliseconds at most the burst and what the rate gives in them. */
  #countStart(atMs: number, broken: Broken): void {
    const starts = this.#startsAtMs;
    starts.push(atMs);
    for (let i = starts.length - BURST - 1; i >= 0 && i > starts.length - STARTS_LOOKED_AT; i--) {
      const windowMs = atMs - (starts[i] ?? 0);
      if (starts.length - i > BURST + 1 + windowMs * STARTS_PER_MS) broken('START_RATE', { atMs });
    }
  }

  /** Of an active agent with credit, each once and so many in any 24 hours. */
  #countUpload(event: LedgerEventOf<'upload_started'>, broken: Broken): void {
    const { uploadId, atMs } = event;
    if (!this.active) broken('UPLOAD_WHILE_SUSPENDED', { event });
    const hasCredit = [...this.free].some(([lot, nanoUsd]) => lot > atMs && nanoUsd > 0n);
    if (!hasCredit) broken('UPLOAD_WITHOUT_CREDIT', { event });
    // What has left the window by a clock that was ahead may be forgotten.
    for (const [earlier, startedAtMs] of this.#uploads) {
      if (startedAtMs <= this.#latestAtMs - DAY_MS) this.#uploads.delete(earlier);
    }
    if (this.#uploads.has(uploadId)) broken('UPLOAD_TWICE', { event });
    this.#uploads.set(uploadId, atMs);
    // A start that a wrong clock dated further ahead than clocks may be apart does not count: no agent waits for it.
    const counted = [...this.#uploads.values()].filter(
      (startedAtMs) => startedAtMs <= atMs + CLOCKS_APART_MS,
    );
    if (counted.length > UPLOADS_PER_DAY) broken('UPLOADS_PER_DAY', { event });
  }

  #usedOf(keyId: number, reset: 'daily' | 'weekly' | 'monthly', atMs: number): bigint {
    const since = { daily: startOfDayMs, weekly: startOfWeekMs, monthly: startOfMonthMs }[reset](atMs);
    let used = 0n;
    for (const call of this.calls.values()) {
      if (call.keyId !== keyId) continue;
      if (call.state !== 'settled') used += call.heldNanoUsd;
      else if (call.settledAtMs >= since) used += call.chargedNanoUsd;
    }
    return used;
  }

  #settle(event: LedgerEventOf<'settled'>, trueMs: number, broken: Broken): void {
    const call = this.calls.get(event.callId);
    if (call === undefined || call.state === 'settled') {
      broken('SETTLED_WITHOUT_HOLD', { event });
      return;
    }
    if (event.end.errorCode === 'gateway_error' && call.state === 'pending') {
      broken('ORPHAN_TOOK_PENDING', { event });
    }
    const charged = BigInt(event.chargedNanoUsd);
    if (charged > call.heldNanoUsd) broken('CHARGED_ABOVE_HOLD', { event });
    let left = charged;
    for (const { lot, nanoUsd } of call.parts) {
      const taken = left < nanoUsd ? left : nanoUsd;
      left -= taken;
      this.#add(lot, nanoUsd - taken);
    }
    const key = this.keys.get(call.keyId);
    if (key !== undefined && startOfDayMs(event.atMs) > startOfDayMs(trueMs)) key.misdated = true;
    call.state = 'settled';
    this.#open.delete(event.callId);
    call.settledAtMs = event.atMs;
    call.chargedNanoUsd = charged;
    this.chargedNanoUsd += charged;
  }

  #add(lot: number, nanoUsd: bigint): void {
    if (lot % DAY_MS !== 0) throw new RangeError(`a lot that ends at ${lot}`);
    this.free.set(lot, (this.free.get(lot) ?? 0n) + nanoUsd);
  }
}

const sum = (amounts: Iterable<bigint>): bigint => {
  let total = 0n;
  for (const amount of amounts) total += amount;
  return total;
};

/** Names under which others ask whether something happened. */
function namesOf(event: LedgerEvent): string[] {
  switch (event.type) {
    case 'granted':
      return [`granted ${event.grantId}`];
    case 'moved_out':
    case 'move_refused':
      return [`trade out ${event.tradeId}`, `${event.type} ${event.tradeId}`];
    case 'moved_in':
      return [`moved_in ${event.tradeId}`];
    case 'reserved':
    case 'finished':
    case 'settled':
      return [`${event.type} ${event.callId}`];
    case 'key_put':
      return [`key_put ${event.keyId}`, `key_put ${event.keyId} ${event.label}`];
    case 'key_revoked':
      return [`key_revoked ${event.keyId}`];
    case 'upload_started':
      return [`upload_started ${event.uploadId}`];
    case 'agent_set':
      return [`agent_set ${event.source} ${event.sourceVersion}`];
    default:
      return [];
  }
}

const ONCE = /^(granted|trade out|moved_in|reserved|finished|settled|key_revoked|agent_set) /;
