import { DAY_MS } from '../../clock.ts';
import type { LedgerEventOf } from '../../events/ledger-event.ts';
import { BALANCE_CAP_NANO_USD, LOG_KEPT_MS, LOT_DAYS_MAX } from '../../limits.ts';
import { minBigint, type NanoUsd } from '../../money.ts';
import {
  type MoveIn,
  type MoveInResult,
  type MoveOut,
  type MoveOutResult,
  type MoveRefusal,
  moveRefusals,
} from '../command.ts';
import { changed, type Decision, headOf, requireAmount, unchanged } from './decision.ts';
import { LedgerEventError } from './ledger-errors.ts';
import { addFree, balanceNanoUsd, findLot, takeFree } from './lots.ts';
import type { AgentState, LedgerState, TradeDone } from './state.ts';

/**
 * The seller's half of a trade. A refusal is an event like an acceptance: a retry elsewhere must not turn it
 * into the other answer, or credit would be in transit for ever.
 */
export function decideMoveOut(state: LedgerState, command: MoveOut, nowMs: number): Decision<MoveOutResult> {
  requireAmount(command.nanoUsd);
  const agent = state.agents.get(command.agentId);
  const known = findTrade(agent, outTrade(command.tradeId), nowMs);
  if (known !== null) return unchanged(answerAgain(known, command));
  const { agentId, tradeId, expiresAtMs, buyerAgentId } = command;
  const header = { v: 1, agentId, version: (agent?.version ?? 0) + 1, atMs: nowMs, tradeId } as const;
  const reason = refuseMoveOut(agent, command, nowMs);
  if (reason !== null) {
    const event: LedgerEventOf<'move_refused'> = { ...header, type: 'move_refused', reason };
    return changed({ ok: false, repeated: false, reason }, event);
  }
  const lots = [{ expiresAtMs, nanoUsd: String(command.nanoUsd) }];
  const event: LedgerEventOf<'moved_out'> = { ...header, type: 'moved_out', lots, buyerAgentId };
  return changed({ ok: true, repeated: false }, event);
}

/** A sale on other terms has to be told from the same one again: its buyer would be given what nobody gave. */
function answerAgain(known: TradeDone, command: MoveOut): MoveOutResult {
  if (known.result === 'move_refused') {
    return { ok: false, repeated: true, reason: toMoveRefusal(known.detail) };
  }
  const { buyerAgentId, expiresAtMs, nanoUsd } = command;
  return known.detail === saleTerms(buyerAgentId, expiresAtMs, nanoUsd)
    ? { ok: true, repeated: true }
    : { ok: false, repeated: true, reason: 'other_terms' };
}

export const toMoveRefusal = (text: string): MoveRefusal =>
  moveRefusals.find((refusal) => refusal === text) ?? 'balance';

export const saleTerms = (buyerAgentId: number, expiresAtMs: number, nanoUsd: NanoUsd): string =>
  `${buyerAgentId}:${expiresAtMs}:${nanoUsd}`;

export function parseSaleTerms(
  text: string,
): Pick<MoveOut, 'buyerAgentId' | 'expiresAtMs' | 'nanoUsd'> | null {
  const [, buyer, expires, amount] = /^(\d+):(\d+):(\d+)$/.exec(text) ?? [];
  if (amount === undefined) return null;
  return { buyerAgentId: Number(buyer), expiresAtMs: Number(expires), nanoUsd: BigInt(amount) };
}

function refuseMoveOut(agent: AgentState | undefined, command: MoveOut, nowMs: number): MoveRefusal | null {
  if (agent === undefined) return 'unknown_agent';
  if (command.expiresAtMs <= nowMs) return 'lot_ended';
  if (command.nanoUsd === 0n) return 'nothing';
  const free = findLot(agent, command.expiresAtMs)?.freeNanoUsd ?? 0n;
  return command.nanoUsd > free ? 'balance' : null;
}

/** The buyer's half. It never refuses, because the seller's half is already done: what cannot be kept expires. */
export function decideMoveIn(state: LedgerState, command: MoveIn, nowMs: number): Decision<MoveInResult> {
  requireAmount(command.nanoUsd);
  if (command.nanoUsd > BALANCE_CAP_NANO_USD) throw new RangeError('no lot can have held so much');
  const agent = state.agents.get(command.agentId);
  const known = findTrade(agent, inTrade(command.tradeId), nowMs);
  if (known !== null) return unchanged({ ok: true, repeated: true, expiredNanoUsd: known.expiredNanoUsd });
  const expiredNanoUsd = command.nanoUsd - keptOf(agent, command, nowMs);
  const event: LedgerEventOf<'moved_in'> = {
    ...headOf('moved_in', command.agentId, agent, nowMs),
    tradeId: command.tradeId,
    expiresAtMs: command.expiresAtMs,
    nanoUsd: String(command.nanoUsd),
    expiredNanoUsd: String(expiredNanoUsd),
  };
  return changed({ ok: true, repeated: false, expiredNanoUsd }, event);
}

function keptOf(agent: AgentState | undefined, command: MoveIn, nowMs: number): NanoUsd {
  if (command.expiresAtMs <= nowMs) return 0n;
  const room = BALANCE_CAP_NANO_USD - (agent === undefined ? 0n : balanceNanoUsd(agent));
  return minBigint(command.nanoUsd, room);
}

export const outTrade = (tradeId: string): string => `out:${tradeId}`;
export const outTradeId = (name: string): string => name.slice(outTrade('').length);
export const inTrade = (tradeId: string): string => `in:${tradeId}`;

function findTrade(agent: AgentState | undefined, name: string, nowMs: number): TradeDone | null {
  const trade = agent?.trades.get(name);
  return trade !== undefined && trade.keptUntilMs > nowMs ? trade : null;
}

export function applyMovedOut(agent: AgentState, event: LedgerEventOf<'moved_out'>): void {
  const [lot, ...others] = event.lots;
  if (lot === undefined || others.length > 0) throw new LedgerEventError(event, 'a sale is of one lot');
  agent.movedOutNanoUsd += takeFree(agent, event);
  agent.trades.set(outTrade(event.tradeId), {
    keptUntilMs: Math.max(lot.expiresAtMs, event.atMs) + LOG_KEPT_MS,
    result: 'moved_out',
    expiredNanoUsd: 0n,
    detail: saleTerms(event.buyerAgentId, lot.expiresAtMs, BigInt(lot.nanoUsd)),
  });
}

/** The refusal is remembered as if its lot ended as late as any lot may. */
export function applyMoveRefused(agent: AgentState, event: LedgerEventOf<'move_refused'>): void {
  agent.trades.set(outTrade(event.tradeId), {
    keptUntilMs: event.atMs + LOT_DAYS_MAX * DAY_MS + LOG_KEPT_MS,
    result: 'move_refused',
    expiredNanoUsd: 0n,
    detail: event.reason,
  });
}

export function applyMovedIn(agent: AgentState, event: LedgerEventOf<'moved_in'>): void {
  const nanoUsd = BigInt(event.nanoUsd);
  const expiredNanoUsd = BigInt(event.expiredNanoUsd);
  if (expiredNanoUsd > nanoUsd) throw new LedgerEventError(event, 'expires more than it moves');
  addFree(agent, event.expiresAtMs, nanoUsd - expiredNanoUsd);
  agent.movedInNanoUsd += nanoUsd;
  agent.expiredNanoUsd += expiredNanoUsd;
  agent.trades.set(inTrade(event.tradeId), {
    keptUntilMs: Math.max(event.atMs, event.expiresAtMs) + LOG_KEPT_MS,
    result: 'moved_in',
    expiredNanoUsd,
    detail: '',
  });
}
