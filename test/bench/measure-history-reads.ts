import type { CallHistory, CallPage, UsageRange } from '#core/calls/call-history.ts';
import { dayOf, dayText } from '#core/calls/day-number.ts';
import { DAY_MS } from '#core/clock.ts';
import { firstIdAt } from '#core/ids.ts';
import { busyKeys, historyAgent, seldomKey } from './history-calls.ts';

/** The largest page and the longest time that may be asked for. */
const PAGE = 50;
const USAGE_DAYS = 90;

export interface HistoryReads {
  what: string;
  ms: number[];
}

/** How long each kind of read takes, as the use cases ask for it, one after the other; a first round warms the store. */
export async function measureHistoryReads(
  history: CallHistory,
  { reads, nowMs }: { reads: number; nowMs: number },
): Promise<HistoryReads[]> {
  const page = (more: Partial<CallPage> = {}) =>
    history.list({ agentId: historyAgent, limit: PAGE, ...more });
  const deep = () => ({ beforeCallId: firstIdAt(nowMs - Math.random() * 80 * DAY_MS) });
  const busy = () => ({ keyId: busyKeys[Math.floor(Math.random() * busyKeys.length)] ?? 1 });
  const usage = (days: number) => {
    const today = dayOf(nowMs);
    const range: UsageRange = {
      agentId: historyAgent,
      fromDay: dayText(today - days + 1),
      toDay: dayText(today),
    };
    return history.usage(range);
  };
  const kinds: [string, () => Promise<readonly unknown[] | 'unavailable'>][] = [
    ['list_calls, the newest', () => page()],
    ['list_calls, from anywhere', () => page(deep())],
    ['list_calls, of a key', () => page(busy())],
    ['list_calls, of a key from anywhere', () => page({ ...busy(), ...deep() })],
    ['list_calls, of a key that is seldom used', () => page({ keyId: seldomKey })],
    ['list_calls, of such a key from anywhere', () => page({ keyId: seldomKey, ...deep() })],
    ['get_usage, 7 days', () => usage(7)],
    [`get_usage, ${USAGE_DAYS} days`, () => usage(USAGE_DAYS)],
  ];
  const measureAll = async (): Promise<HistoryReads[]> => {
    const measured: HistoryReads[] = [];
    for (const [what, read] of kinds) {
      const ms: number[] = [];
      for (let n = 0; n < reads; n++) {
        const startedMs = performance.now();
        const rows = await read();
        ms.push(performance.now() - startedMs);
        if (rows === 'unavailable' || rows.length === 0) throw new Error(`${what}: no answer`);
      }
      measured.push({ what, ms });
    }
    return measured;
  };
  await measureAll();
  return measureAll();
}
