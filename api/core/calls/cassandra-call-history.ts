import type { Client, QueryOptions, types } from 'cassandra-driver';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { answerInTime } from '../drivers/cassandra.ts';
import type { CallHistory, CallPage, UsageRange, UsageRow } from './call-history.ts';
import type { CallRecord } from './call-record.ts';
import { CALL_COLUMNS, callDay, toCallRecord } from './cassandra-call-rows.ts';
import { monthOf, toUsageRows } from './cassandra-usage-rows.ts';
import { dayNumber } from './day-number.ts';

/** The history as the projector has written it to Cassandra. */
export function createCassandraCallHistory(client: Client, clock: Clock): CallHistory {
  async function read<T>(
    query: string,
    values: unknown[],
    toItem: (row: types.Row) => T,
    options: QueryOptions = {},
  ): Promise<T[]> {
    const items: T[] = [];
    // `rows` would be the first page alone.
    for await (const row of await client.execute(query, values, options)) items.push(toItem(row));
    return items;
  }

  async function list({ agentId, keyId, limit, beforeCallId = NEWEST }: CallPage): Promise<CallRecord[]> {
    const days = await read(DAYS, [BigInt(agentId), callDay(beforeCallId)], (row) =>
      dayCell.parse(row.get('day')),
    );
    const calls: CallRecord[] = [];
    let daysRead = 0;
    // Mostly one day fills the page; the days of an agent that calls seldom, or of one key, are many.
    for (let round = 0; daysRead < days.length && calls.length < limit; round++) {
      const left = limit - calls.length;
      const needed = daysRead === 0 ? 1 : Math.ceil((left * daysRead) / Math.max(1, calls.length));
      // What was seen of few days says little of the others: each of them may be full.
      const some = days.slice(daysRead, daysRead + Math.min(needed, 4 ** round, DAYS_AT_ONCE));
      const page = [some, BigInt(beforeCallId), left, left];
      const found =
        keyId === undefined
          ? await read(BY_AGENT, [BigInt(agentId), ...page], toCallRecord, WHOLE)
          : await read(BY_KEY, [BigInt(agentId), BigInt(keyId), ...page], toCallRecord, WHOLE);
      calls.push(...found);
      daysRead += some.length;
    }
    return calls;
  }

  async function find(callId: number): Promise<CallRecord | null> {
    const [agentId] = await read(AGENT_OF, [BigInt(callId)], (row) => agentIdCell.parse(row.get('agent_id')));
    if (agentId === undefined) return null;
    const [call] = await read(ONE, [agentId, callDay(callId), BigInt(callId)], toCallRecord);
    return call ?? null;
  }

  async function usage({ agentId, fromDay, toDay }: UsageRange): Promise<UsageRow[]> {
    const [from, to] = [dayNumber(fromDay), dayNumber(toDay)];
    const months = new Set<string>();
    for (let day = from; day <= to; day++) months.add(monthOf(day));
    const rows = await Promise.all(
      [...months].map((month) => read(USAGE, [BigInt(agentId), month, from, to], toUsageRows)),
    );
    return rows.flat(2);
  }

  return {
    list: (page) => answerInTime(clock, list(page)),
    find: (callId) => answerInTime(clock, find(callId)),
    usage: (range) => answerInTime(clock, usage(range)),
  };
}

const NEWEST = Number.MAX_SAFE_INTEGER;
const DAYS_AT_ONCE = 32;

const DAYS = 'SELECT day FROM call_days WHERE agent_id = ? AND day <= ?';
/**
 * The node puts the days' rows in order and sends no more than are wanted, which it does only for an answer of one page. Without a
 * limit for each day it would read the whole of each.
 */
const PAGE = 'day IN ? AND call_id < ? ORDER BY call_id DESC PER PARTITION LIMIT ? LIMIT ?';
const WHOLE: QueryOptions = { fetchSize: 0 };
const BY_AGENT = `SELECT ${CALL_COLUMNS} FROM calls_by_agent WHERE agent_id = ? AND ${PAGE}`;
const BY_KEY = `SELECT ${CALL_COLUMNS} FROM calls_by_key WHERE agent_id = ? AND key_id = ? AND ${PAGE}`;
const AGENT_OF = 'SELECT agent_id FROM call_agents WHERE call_id = ? LIMIT 1';
const ONE = `SELECT ${CALL_COLUMNS} FROM calls_by_agent WHERE agent_id = ? AND day = ? AND call_id = ?`;
const USAGE = `SELECT day, models FROM usage_days WHERE agent_id = ? AND month = ? AND day >= ? AND day <= ?`;

const dayCell = z.int();
const agentIdCell = z.bigint();
