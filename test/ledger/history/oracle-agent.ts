import type { PutKey } from '#core/ledger/command.ts';
import type { HoldKind } from '#core/ledger/machine/state.ts';

export type Answer = Record<string, unknown>;

export interface OracleCall {
  id: number;
  nonce: string;
  keyId: number;
  kind: HoldKind;
  order: OracleVideo | null;
  amount: bigint;
  /** Of each lot: what is held, and once settled what was paid. */
  parts: { lot: number; amount: bigint }[];
  startedAtMs: number;
  timeLimitMs: number;
  leaseEndsAtMs: number;
  pending: boolean;
  settledAtMs: number | null;
  charged: bigint;
}

/** What makes a call a video's. */
export interface OracleVideo {
  id: string;
  key: string | null;
  claim: string | null;
  job: string | null;
  made: boolean;
}

export interface OracleKey {
  hash: string;
  label: string;
  limit: PutKey['limit'];
  overMcp: boolean;
  madeAtMs: number;
  revoked: boolean;
}

export interface OracleTrade {
  name: string;
  untilMs: number;
  accepted: boolean;
  expired: bigint;
  /** Of a sale: what the same one again has to name, and why it was refused. */
  terms?: { lot: number; amount: bigint; buyerAgentId: number };
  reason?: string;
}

export class OracleAgent {
  /** Credit that came into a lot, or left it other than by a call. */
  readonly credits: { lot: number; amount: bigint; grantId: string | null; atMs: number }[] = [];
  readonly calls: OracleCall[] = [];
  readonly keys = new Map<number, OracleKey>();
  readonly stored: { bytes: number; endsAtMs: number }[] = [];
  readonly uploads: { id: string; atMs: number }[] = [];
  readonly trades: OracleTrade[] = [];
  /** Calls that were given up before the ledger knew them. */
  readonly givenUp = new Set<number>();
  readonly sources = new Map<string, { version: number; status: string }>();

  call(id: number): OracleCall | undefined {
    return this.calls.find((call) => call.id === id);
  }

  /** Open, or ended less than a day ago. */
  videos(nowMs: number): { call: OracleCall; order: OracleVideo }[] {
    return this.calls.flatMap((call) => {
      const isKnown = call.settledAtMs === null || nowMs - call.settledAtMs < 86_400_000;
      return call.order !== null && isKnown ? [{ call, order: call.order }] : [];
    });
  }

  trade(name: string, nowMs: number) {
    return this.trades.find((trade) => trade.name === name && nowMs < trade.untilMs);
  }

  status(): string {
    const said = [...this.sources.values()].map((source) => source.status);
    if (said.includes('suspended')) return 'suspended';
    return said.includes('active') ? 'active' : 'inactive';
  }

  refuseActing(keyId: number | null, repeats: boolean): Answer | null {
    if (keyId === null) return null;
    const key = this.keys.get(keyId);
    if (key === undefined || key.revoked) return repeats ? null : no('acting_key_revoked');
    return key.limit === null ? null : no('acting_key_limited');
  }
}

export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

export const yes = (repeated: boolean): Answer => ({ ok: true, repeated });
export const no = (reason: string, more: Answer = {}): Answer => ({ ok: false, reason, ...more });

export const isRemembered = (call: OracleCall, nowMs: number): boolean =>
  call.settledAtMs !== null && nowMs - call.settledAtMs < 3_600_000;

export function freeByLot(agent: OracleAgent): Map<number, bigint> {
  const free = new Map<number, bigint>();
  for (const { lot, amount } of agent.credits) free.set(lot, (free.get(lot) ?? 0n) + amount);
  for (const call of agent.calls) {
    for (const { lot, amount } of call.parts) free.set(lot, (free.get(lot) ?? 0n) - amount);
  }
  return free;
}

export function heldOfLot(agent: OracleAgent, expiresAtMs: number): bigint {
  let held = 0n;
  for (const call of agent.calls) {
    if (call.settledAtMs !== null) continue;
    for (const { lot, amount } of call.parts) if (lot === expiresAtMs) held += amount;
  }
  return held;
}

export function sumOfCalls(agent: OracleAgent, amountOf: (call: OracleCall) => bigint): bigint {
  let sum = 0n;
  for (const call of agent.calls) sum += amountOf(call);
  return sum;
}

export const openAmount = (call: OracleCall): bigint => (call.settledAtMs === null ? call.amount : 0n);

export function roomOf(agent: OracleAgent | undefined): bigint {
  let room = 9_000_000_000_000_000n;
  if (agent === undefined) return room;
  for (const amount of freeByLot(agent).values()) room -= amount;
  return room - sumOfCalls(agent, openAmount);
}
