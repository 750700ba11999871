import { isDeepStrictEqual } from 'node:util';
import type { LedgerEvent, LedgerEventOf } from '#core/events/ledger-event.ts';
import { checkIdentity } from '#core/ledger/machine/check-identity.ts';
import { day } from '../ledger/case.ts';
import { MARKET_DAYS } from './draw-trades.ts';
import type { MoveHistory } from './move-history.ts';
import { marketOf } from './trades.ts';

/** Throws at the first promise that the history has broken. */
export function checkMoves(history: MoveHistory): void {
  checkBooks(history);
  checkHalves(history);
  checkEnds(history);
  if (history.timeStandsStill) checkOutcome(history);
}

/** Every agent's books are right, nothing is in transit, and all that was granted is somewhere. */
function checkBooks({ shards, granted, readers }: MoveHistory): void {
  let [inTransit, there] = [0n, 0n];
  for (const { state } of shards) {
    for (const agent of state.agents.values()) {
      const problem = checkIdentity(agent);
      if (problem !== null) throw new Error(`agent ${agent.agentId}: ${problem}`);
      inTransit += agent.movedOutNanoUsd - agent.movedInNanoUsd;
      there += agent.expiredNanoUsd;
      for (const { freeNanoUsd, heldNanoUsd } of agent.lots) {
        if (freeNanoUsd < 0n) throw new Error(`agent ${agent.agentId} has ${freeNanoUsd} free`);
        there += freeNanoUsd + heldNanoUsd;
      }
    }
  }
  if (inTransit !== 0n) throw new Error(`${inTransit} are in transit`);
  const sum = granted.reduce((total, { nanoUsd }) => total + nanoUsd, 0n);
  if (there !== sum) throw new Error(`of ${sum} that were granted there are ${there}`);
  for (const { isAlive, mover } of readers) {
    if (isAlive && mover.inTransitNanoUsd !== 0n) throw new Error('a process still shows credit in transit');
  }
}

/** Nobody was given what nobody gave, or twice, or less. */
function checkHalves({ shards }: MoveHistory): void {
  const events = shards.flatMap(({ journal }) => journal);
  const outs = onceEach(events, 'moved_out');
  const ins = onceEach(events, 'moved_in');
  for (const tradeId of onceEach(events, 'move_refused').keys()) {
    if (outs.has(tradeId)) throw new Error(`trade ${tradeId} was refused and has moved`);
  }
  for (const [tradeId, { lots, buyerAgentId }] of outs) {
    const into = ins.get(tradeId);
    const given = { agentId: buyerAgentId, ...lots[0] };
    const got = into && { agentId: into.agentId, expiresAtMs: into.expiresAtMs, nanoUsd: into.nanoUsd };
    if (!isDeepStrictEqual(got, given))
      throw new Error(`trade ${tradeId}: its buyer was not given what was sold`);
  }
  for (const tradeId of ins.keys()) if (!outs.has(tradeId)) throw new Error(`nobody sold trade ${tradeId}`);
}

type MoveEvent = LedgerEventOf<'moved_out' | 'moved_in' | 'move_refused'>;

function onceEach<T extends MoveEvent['type']>(
  events: readonly LedgerEvent[],
  type: T,
): Map<string, Extract<MoveEvent, { type: T }>> {
  const found = new Map<string, Extract<MoveEvent, { type: T }>>();
  for (const event of events) {
    if (!isOf(event, type)) continue;
    if (found.has(event.tradeId)) throw new Error(`trade ${event.tradeId} has ${type} twice`);
    found.set(event.tradeId, event);
  }
  return found;
}

const isOf = <T extends MoveEvent['type']>(
  event: LedgerEvent,
  type: T,
): event is Extract<MoveEvent, { type: T }> => event.type === type;

/** Each record has moved, was rejected in always the same words, or was kept apart. */
function checkEnds({ trades, rejected, deadLetters }: MoveHistory): void {
  const words = new Map<string, string>();
  for (const { partition, seq, reason } of rejected) {
    const name = `${partition}:${seq}`;
    const before = words.get(name);
    if (before !== undefined && before !== reason) {
      throw new Error(`trade ${name} was rejected as ${before} and as ${reason}`);
    }
    words.set(name, reason);
  }
  for (const [partition, ofPartition] of trades.entries()) {
    for (const [place, { trade }] of ofPartition.entries()) {
      const isApart = deadLetters[partition === 0 ? 0 : 1].has(BigInt(place));
      if (isApart !== (trade === null))
        throw new Error(`record ${partition}:${place} was kept apart: ${isApart}`);
    }
  }
}

/** As if each market's trades had been dealt with one after the other, by one process that never dies. */
function checkOutcome({ trades, rejected, granted, shards }: MoveHistory): void {
  const free = new Map<string, bigint>();
  const lotOf = (agentId: number, market: string) => `${agentId} ${market}`;
  for (const { agentId, days, nanoUsd } of granted) free.set(lotOf(agentId, marketOf(days)), nanoUsd);
  const known = new Map<string, string>();
  const expected = new Set<string>();
  for (const [partition, ofPartition] of trades.entries()) {
    for (const { trade } of ofPartition) {
      if (trade === null) continue;
      const { sellerAgentId, buyerAgentId, market, tradeId, nanoUsd, seq } = trade;
      const name = `${sellerAgentId}:${tradeId}`;
      const terms = `${market} ${buyerAgentId} ${nanoUsd}`;
      const seller = lotOf(sellerAgentId, market);
      const has = free.get(seller) ?? 0n;
      if (!known.has(name)) {
        known.set(name, nanoUsd <= has ? terms : 'refused');
        if (nanoUsd <= has) {
          free.set(seller, has - nanoUsd);
          const buyer = lotOf(buyerAgentId, market);
          free.set(buyer, (free.get(buyer) ?? 0n) + nanoUsd);
        }
      }
      if (known.get(name) !== terms) expected.add(`${partition}:${seq}`);
    }
  }
  const actual = new Set(rejected.map(({ partition, seq }) => `${partition}:${seq}`));
  if (!isDeepStrictEqual(new Set([...actual].sort()), new Set([...expected].sort()))) {
    throw new Error(`rejected were ${[...actual]}, not ${[...expected]}`);
  }
  for (const { state } of shards) {
    for (const { agentId, lots } of state.agents.values()) {
      for (const days of MARKET_DAYS) {
        const is = lots.find(({ expiresAtMs }) => expiresAtMs === day(days))?.freeNanoUsd ?? 0n;
        const should = free.get(lotOf(agentId, marketOf(days))) ?? 0n;
        if (is !== should) throw new Error(`agent ${agentId} has ${is} of day ${days}, not ${should}`);
      }
    }
  }
}
