import type { CallHistory, UsageRow } from '#core/calls/call-history.ts';
import type { CallRecord } from '#core/calls/call-record.ts';
import { dayNumber, dayText } from '#core/calls/day-number.ts';
import type { HistoryStore, LedgerEntry, UsageSum } from '#core/calls/history-store.ts';

export interface MemoryHistory extends HistoryStore {
  read: CallHistory;
  entries(agentId: number): LedgerEntry[];
}

/** The cluster's history in memory, by the rules of the real store: what is older never replaces what is newer. */
export function createMemoryHistory(): MemoryHistory {
  const calls = new Map<string, CallRecord>();
  const entries = new Map<string, LedgerEntry>();
  const usage = new Map<string, UsageSum>();
  const nameOf = ({ agentId, day, model, keyId }: Omit<UsageSum, 'calls'>) =>
    `${agentId} ${day} ${model} ${keyId}`;
  return {
    async write(rows) {
      for (const call of rows.calls) {
        const name = `${call.agentId} ${call.callId}`;
        if (call.outcome !== 'pending' || !calls.has(name)) calls.set(name, structuredClone(call));
      }
      for (const entry of rows.entries) entries.set(`${entry.agentId} ${entry.epoch} ${entry.seq}`, entry);
      for (const sum of rows.usage) {
        const known = usage.get(nameOf(sum));
        if (known === undefined || known.epoch < sum.epoch || known.seq <= sum.seq)
          usage.set(nameOf(sum), { ...sum });
      }
    },
    async readUsage({ agentId, day, model, keyId }) {
      const sum = usage.get(`${agentId} ${day} ${model} ${keyId}`);
      return sum === undefined ? null : { ...sum };
    },
    entries: (agentId) => [...entries.values()].filter((entry) => entry.agentId === agentId),
    read: {
      list: async ({ agentId, keyId, limit, beforeCallId = Number.MAX_SAFE_INTEGER }) =>
        [...calls.values()]
          .filter((call) => call.agentId === agentId && call.callId < beforeCallId)
          .filter(({ key }) => keyId === undefined || key.keyId === keyId)
          .sort((a, b) => b.callId - a.callId)
          .slice(0, limit),
      find: async (callId) => [...calls.values()].find((call) => call.callId === callId) ?? null,
      async usage({ agentId, fromDay, toDay }) {
        const sums = [...usage.values()].filter((sum) => sum.agentId === agentId);
        const rows = new Map<string, UsageRow & { seq: number }>();
        for (const sum of sums) {
          if (sum.day < dayNumber(fromDay) || sum.day > dayNumber(toDay)) continue;
          const name = `${dayText(sum.day)} ${sum.model}`;
          const { model, modelName, seq } = sum;
          const row = rows.get(name) ?? { ...NOTHING, day: dayText(sum.day), model, modelName, seq };
          if (seq > row.seq) Object.assign(row, { modelName, seq });
          row.calls += sum.calls;
          row.tokens += sum.tokens;
          row.chargedNanoUsd += sum.chargedNanoUsd;
          rows.set(name, row);
        }
        const ordered = [...rows.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
        return ordered.map(([, { seq: _, ...row }]) => row);
      },
    },
  };
}

const NOTHING = { calls: 0, tokens: 0, chargedNanoUsd: 0n };
