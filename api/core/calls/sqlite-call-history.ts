import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { CallPage, UsageRange, UsageRow } from './call-history.ts';
import type { CallRecord } from './call-record.ts';
import { dayNumber, dayText } from './day-number.ts';

/** The history's reads, in the thread that owns the file. */
export interface SqliteCallHistory {
  list(page: CallPage): CallRecord[];
  find(callId: number): CallRecord | null;
  usage(range: UsageRange): UsageRow[];
}

export function createSqliteCallHistory(db: DatabaseSync): SqliteCallHistory {
  const calls = (where: string) => exact(db.prepare(`${CALLS} WHERE ${where}`));
  const byAgent = calls('agent_id = ? AND call_id < ? ORDER BY call_id DESC LIMIT ?');
  const byKey = calls('agent_id = ? AND key_id = ? AND call_id < ? ORDER BY call_id DESC LIMIT ?');
  const byId = calls('call_id = ? LIMIT 1');
  const usage = exact(
    db.prepare('SELECT * FROM usage_days WHERE agent_id = ? AND day BETWEEN ? AND ? ORDER BY day, model'),
  );
  return {
    list({ agentId, keyId, limit, beforeCallId = Number.MAX_SAFE_INTEGER }) {
      const rows =
        keyId === undefined
          ? byAgent.all(agentId, beforeCallId, limit)
          : byKey.all(agentId, keyId, beforeCallId, limit);
      return rows.map(toCallRecord);
    },
    find(callId) {
      const row = byId.get(callId);
      return row === undefined ? null : toCallRecord(row);
    },
    usage({ agentId, fromDay, toDay }) {
      return usage.all(agentId, dayNumber(fromDay), dayNumber(toDay)).map(toUsageRow);
    },
  };
}

/** `CROSS`: calls first, so that a page is read in the order of an index of theirs. */
export const CALLS = 'SELECT * FROM calls CROSS JOIN call_kinds USING (kind_id)';

/** Integers come as `bigint`: sums of money pass 2^53. */
function exact(statement: StatementSync): StatementSync {
  statement.setReadBigInts(true);
  return statement;
}

type Row = Record<string, SQLOutputValue>;

function toCallRecord(row: Row): CallRecord {
  return {
    callId: count(row.call_id),
    agentId: count(row.agent_id),
    startedAtMs: count(row.started_at_ms),
    durationMs: count(row.duration_ms),
    key: { keyId: count(row.key_id), label: text(row.key_label), prefix: text(row.key_prefix) },
    call: {
      model: text(row.model),
      modelName: text(row.model_name),
      endpoint: text(row.endpoint),
      stream: row.stream === 1n,
    },
    outcome: outcome(row.outcome),
    httpStatus: row.http_status === null ? null : count(row.http_status),
    errorCode: row.error_code === null ? null : text(row.error_code),
    tokens: {
      prompt: count(row.prompt_tokens),
      completion: count(row.completion_tokens),
      reasoning: row.reasoning_tokens === null ? null : count(row.reasoning_tokens),
      cached: count(row.cached_tokens),
      ...(row.tokens_estimated === 1n ? { estimated: true } : {}),
    },
    reservedNanoUsd: amount(row.reserved_nano_usd),
    chargedNanoUsd: amount(row.charged_nano_usd),
  };
}

function toUsageRow(row: Row): UsageRow {
  return {
    day: dayText(count(row.day)),
    model: text(row.model),
    modelName: text(row.model_name),
    calls: count(row.calls),
    tokens: count(row.tokens),
    chargedNanoUsd: amount(row.charged_nano_usd),
  };
}

// STRICT tables hold no other types than these.
const amount = (value: SQLOutputValue | undefined): bigint => BigInt(String(value));
const count = (value: SQLOutputValue | undefined): number => Number(value);
const text = (value: SQLOutputValue | undefined): string => String(value);
const outcome = (value: SQLOutputValue | undefined): CallRecord['outcome'] =>
  String(value) as CallRecord['outcome'];
