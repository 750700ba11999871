import { isoTime } from '#core/clock.ts';
import type { AgentView, HoldView } from '#core/ledger/ledger.ts';
import { BALANCE_CAP_NANO_USD, ORPHAN_MARGIN_MS, PRICE_LOOKUP_MS } from '#core/limits.ts';
import { formatUsd, type NanoUsd } from '#core/money.ts';

/**
 * What is off with an agent's money, in sentences. From the ledger's port alone, so that it holds for either
 * shape and does not believe the ledger's own check.
 */
export function auditAgent(view: AgentView, nowMs: number): string[] {
  return [...auditTotals(view), ...auditLots(view), ...auditHolds(view), ...auditLateHolds(view, nowMs)];
}

function auditTotals(view: AgentView): string[] {
  const { grantedNanoUsd, movedInNanoUsd, chargedNanoUsd, expiredNanoUsd, movedOutNanoUsd } = view;
  const balance = sum(view.lots, (lot) => lot.freeNanoUsd + lot.heldNanoUsd);
  const came = grantedNanoUsd + movedInNanoUsd;
  const is = balance + chargedNanoUsd + expiredNanoUsd + movedOutNanoUsd;
  const problems: string[] = [];
  if (came !== is) {
    problems.push(
      `$${formatUsd(came)} came in, but free, held, charged, expired and moved out are $${formatUsd(is)}.`,
    );
  }
  if (balance > BALANCE_CAP_NANO_USD) problems.push(`The balance $${formatUsd(balance)} is above the cap.`);
  if (view.chargedTodayNanoUsd > chargedNanoUsd) problems.push('More was charged today than ever.');
  return problems;
}

function auditLots({ lots }: AgentView): string[] {
  const problems: string[] = [];
  let lastExpiry = 0;
  for (const { expiresAtMs, freeNanoUsd, heldNanoUsd } of lots) {
    const name = `The credit that ends at ${isoTime(expiresAtMs)}`;
    if (expiresAtMs <= lastExpiry) problems.push(`${name} stands out of order, or twice.`);
    if (freeNanoUsd < 0n || heldNanoUsd < 0n) problems.push(`${name} is below zero.`);
    lastExpiry = expiresAtMs;
  }
  return problems;
}

function auditHolds({ lots, holds, keys }: AgentView): string[] {
  const problems: string[] = [];
  const inLots = sum(lots, (lot) => lot.heldNanoUsd);
  const byCalls = sum(holds, (hold) => hold.nanoUsd);
  if (inLots !== byCalls) {
    problems.push(`$${formatUsd(inLots)} of its credit is held, but its calls hold $${formatUsd(byCalls)}.`);
  }
  for (const { keyId, limit } of keys) {
    if (limit === null) continue;
    const byKey = sum(holds, (hold) => (hold.keyId === keyId ? hold.nanoUsd : 0n));
    if (limit.heldNanoUsd === byKey) continue;
    problems.push(
      `Key ${keyId} counts $${formatUsd(limit.heldNanoUsd)} as held, its calls hold $${formatUsd(byKey)}.`,
    );
  }
  for (const { callId, keyId } of holds) {
    if (!keys.some((key) => key.keyId === keyId)) problems.push(`Call ${callId} holds for an unknown key.`);
  }
  return problems;
}

/** Money held for longer than any rule holds it: the settlement does not run, or has forgotten a call. */
function auditLateHolds({ holds }: AgentView, nowMs: number): string[] {
  return holds
    .filter((hold) => nowMs > settledByMs(hold))
    .map(
      (hold) =>
        `Call ${hold.callId} of ${isoTime(hold.startedAtMs)} still holds $${formatUsd(hold.nanoUsd)}: ` +
        `it should have been settled by ${isoTime(settledByMs(hold))}.`,
    );
}

function settledByMs({ startedAtMs, timeLimitMs, pending }: HoldView): number {
  const dueMs =
    pending === null
      ? startedAtMs + timeLimitMs + ORPHAN_MARGIN_MS
      : startedAtMs + pending.end.durationMs + PRICE_LOOKUP_MS;
  // Whoever settles it looks from time to time, not at the moment.
  return dueMs + ORPHAN_MARGIN_MS;
}

const sum = <T>(items: readonly T[], amount: (item: T) => NanoUsd): NanoUsd =>
  items.reduce((total, item) => total + amount(item), 0n);
