import type { Client, types } from 'cassandra-driver';
import { z } from 'zod';
import { monthOf } from '../calls/cassandra-usage-rows.ts';
import { dayOf } from '../calls/day-number.ts';
import { type Clock, DAY_MS, SECOND_MS } from '../clock.ts';
import { answerInTime } from '../drivers/cassandra.ts';
import { firstIdAt, idTimeMs } from '../ids.ts';
import { AUDIT_KEPT_MS } from '../limits.ts';
import type { AuditedChange, AuditLine, AuditLog, AuditPage } from './audit-log.ts';
import { linesOf, parseSubject, partOf, printSubject, toChanges } from './to-changes.ts';

/** In the cluster's tables, one partition a month. Changes are few, and `client` belongs to who made it. */
export function createCassandraAuditLog(client: Client, clock: Clock): AuditLog {
  async function write(line: AuditLine): Promise<void> {
    const { id, atMs, operator, address, action, subject, result } = line;
    const values = [
      ...[monthOfId(id), BigInt(id), partOf(line), BigInt(atMs), operator, address, action],
      ...[printSubject(subject), result, AUDIT_KEPT_S],
    ];
    // Asked for once: after a lost answer, the second try would find the line of the first.
    const put = await client.execute(PUT, values, { isIdempotent: false });
    if (!put.wasApplied()) throw new Error(`another change has the id ${id}`);
  }

  async function list(page: AuditPage): Promise<AuditedChange[]> {
    const { limit, beforeId = Number.MAX_SAFE_INTEGER, action } = page;
    const nowMs = clock.now();
    const sinceMs = Math.max(page.sinceMs ?? 0, nowMs - AUDIT_KEPT_MS);
    // The clocks of others may be ahead of ours.
    const untilMs = Math.min(nowMs + DAY_MS, idTimeMs(beforeId));
    const lines: AuditLine[] = [];
    for (const month of monthsBack(sinceMs, untilMs)) {
      const left = linesOf({ limit }) - lines.length;
      if (left <= 0) break;
      const ids = [month, BigInt(firstIdAt(sinceMs)), BigInt(beforeId)];
      const found =
        action === undefined
          ? await client.execute(LIST, [...ids, left])
          : await client.execute(LIST_OF_ACTION, [...ids, action, left]);
      for await (const row of found) lines.push(toLine(row));
    }
    return toChanges(lines, limit);
  }

  return { write, list: (page) => answerInTime(clock, list(page)), async close() {} };
}

/** Both lines of a change stand in one partition, whenever it ended. */
const monthOfId = (id: number): string => monthOf(dayOf(idTimeMs(id)));

/** From the newer end to the older. */
function* monthsBack(sinceMs: number, untilMs: number): Generator<string> {
  let last = '';
  for (let day = dayOf(untilMs); day >= dayOf(sinceMs); day--) {
    const month = monthOf(day);
    if (month !== last) yield month;
    last = month;
  }
}

const AUDIT_KEPT_S = AUDIT_KEPT_MS / SECOND_MS;
const COLUMNS = 'month, id, part, at_ms, operator, address, action, subject, result';
const PUT = `INSERT INTO audit_lines (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) IF NOT EXISTS USING TTL ?`;
const OF_MONTH = `SELECT ${COLUMNS} FROM audit_lines WHERE month = ? AND id >= ? AND id < ?`;
const LIST = `${OF_MONTH} LIMIT ?`;
/** The filter is for one month's rows. */
const LIST_OF_ACTION = `${OF_MONTH} AND action = ? LIMIT ? ALLOW FILTERING`;

const count = z.bigint().transform(Number);
const auditRow = z.object({
  id: count,
  at_ms: count,
  operator: z.string(),
  address: z.string(),
  action: z.string(),
  subject: z.string().transform(parseSubject),
  result: z.string(),
});

function toLine(row: types.Row): AuditLine {
  const { at_ms: atMs, ...line } = auditRow.parse(row);
  return { ...line, atMs };
}
