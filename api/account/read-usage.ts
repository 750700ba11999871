import type { CallHistory } from '#core/calls/call-history.ts';
import { dayOf, dayText } from '#core/calls/day-number.ts';
import type { Clock } from '#core/clock.ts';
import type { Unavailable } from '#core/ledger/ledger.ts';
import { shapeUsage, type UsageRecord } from '../contract/usage-record.ts';

/** @param days UTC days back, today included: 1 is today alone. */
export async function readUsage(
  { history, clock }: { history: Pick<CallHistory, 'usage'>; clock: Pick<Clock, 'now'> },
  { agentId, days }: { agentId: number; days: number },
): Promise<UsageRecord | Unavailable> {
  const today = dayOf(clock.now());
  const range = { fromDay: dayText(today - days + 1), toDay: dayText(today) };
  const rows = await history.usage({ agentId, ...range });
  return rows === 'unavailable' ? rows : shapeUsage(range, rows);
}
