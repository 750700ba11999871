import type { Client, types } from 'cassandra-driver';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { isCassandraUnavailable } from '../drivers/cassandra.ts';
import { HISTORY_READ_MS } from '../limits.ts';
import type { CallHistory, CallPage, UsageRange, UsageRow } from './call-history.ts';
import type { CallRecord } from './call-record.ts';
import { CALL_COLUMNS, callDay, toCallRecord } from './cassandra-call-rows.ts';
import { monthOf, toUsageSum, USAGE_COLUMNS } from './cassandra-usage-rows.ts';
import { dayNumber, dayText } from './day-number.ts';

/** The history as the projector has written it to Cassandra. */
export function createCassandraCallHistory(client: Client, clock: Clock): CallHistory {
  async function read<T>(query: string, values: unknown[], toItem: (row: types.Row) => T): Promise<T[]> {
    const items: T[] = [];
    // `rows` would be the first page alone.
    for await (const row of await client.execute(query, values)) items.push(toItem(row));
    return items;
  }

  async function list({ agentId, keyId, limit, beforeCallId = NEWEST }: CallPage): Promise<CallRecord[]> {
    const days = await read(DAYS, [BigInt(agentId), callDay(beforeCallId)], (row) =>
      z.int().parse(row.get('day')),
    );
    const calls: CallRecord[] = [];
    // Mostly one day fills the page; the days of an agent that calls seldom, or of one key, are many.
    let atOnce = 1;
    while (days.length > 0 && calls.length < limit) {
      const before = [BigInt(beforeCallId), limit - calls.length];
      const pages = await Promise.all(
        days
          .splice(0, atOnce)
          .map((day) =>
            keyId === undefined
              ? read(BY_AGENT, [BigInt(agentId), day, ...before], toCallRecord)
              : read(BY_KEY, [BigInt(agentId), BigInt(keyId), day, ...before], toCallRecord),
          ),
      );
      calls.push(...pages.flat());
      atOnce = DAYS_AT_ONCE;
    }
    return calls.slice(0, limit);
  }

  async function find(callId: number): Promise<CallRecord | null> {
    const [agentId] = await read(AGENT_OF, [BigInt(callId)], (row) => z.bigint().parse(row.get('agent_id')));
    if (agentId === undefined) return null;
    const [call] = await read(ONE, [agentId, callDay(callId), BigInt(callId)], toCallRecord);
    return call ?? null;
  }

  async function usage({ agentId, fromDay, toDay }: UsageRange): Promise<UsageRow[]> {
    const [from, to] = [dayNumber(fromDay), dayNumber(toDay)];
    const months = new Set<string>();
    for (let day = from; day <= to; day++) months.add(monthOf(day));
    const sums = await Promise.all(
      [...months].map((month) => read(USAGE, [BigInt(agentId), month, from, to], toUsageSum)),
    );
    const rows: UsageRow[] = [];
    let namedBySeq = 0;
    // Each day and model once: the keys stand next to each other.
    for (const { day, model, modelName, calls, tokens, chargedNanoUsd, seq } of sums.flat()) {
      const last = rows.at(-1);
      if (last === undefined || last.day !== dayText(day) || last.model !== model) {
        rows.push({ day: dayText(day), model, modelName, calls, tokens, chargedNanoUsd });
        namedBySeq = seq;
        continue;
      }
      last.calls += calls;
      last.tokens += tokens;
      last.chargedNanoUsd += chargedNanoUsd;
      if (seq > namedBySeq) last.modelName = modelName;
      namedBySeq = Math.max(namedBySeq, seq);
    }
    return rows;
  }

  /** An answer, or that there is none at this moment; never a part of one. */
  async function inTime<T>(answer: Promise<T>): Promise<T | 'unavailable'> {
    const late = Promise.withResolvers<'unavailable'>();
    const timer = clock.setTimer(HISTORY_READ_MS, () => late.resolve('unavailable'));
    try {
      return await Promise.race([answer, late.promise]);
    } catch (error) {
      if (isCassandraUnavailable(error)) return 'unavailable';
      throw error;
    } finally {
      timer.cancel();
    }
  }

  return {
    list: (page) => inTime(list(page)),
    find: (callId) => inTime(find(callId)),
    usage: (range) => inTime(usage(range)),
  };
}

const NEWEST = Number.MAX_SAFE_INTEGER;
const DAYS_AT_ONCE = 8;

const DAYS = 'SELECT day FROM call_days WHERE agent_id = ? AND day <= ?';
const BY_AGENT = `SELECT ${CALL_COLUMNS} FROM calls_by_agent WHERE agent_id = ? AND day = ? AND call_id < ? LIMIT ?`;
const BY_KEY = `
  SELECT ${CALL_COLUMNS} FROM calls_by_key WHERE agent_id = ? AND key_id = ? AND day = ? AND call_id < ? LIMIT ?`;
const AGENT_OF = 'SELECT agent_id FROM call_agents WHERE call_id = ? LIMIT 1';
const ONE = `SELECT ${CALL_COLUMNS} FROM calls_by_agent WHERE agent_id = ? AND day = ? AND call_id = ?`;
const USAGE = `SELECT ${USAGE_COLUMNS} FROM usage_day WHERE agent_id = ? AND month = ? AND day >= ? AND day <= ?`;
