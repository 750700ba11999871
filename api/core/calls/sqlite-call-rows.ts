import type { DatabaseSync } from 'node:sqlite';
import { DAY_MS } from '../clock.ts';
import type { CallRecord } from './call-record.ts';

/** A call in the order of the table's columns; amounts in decimal digits. */
export type CallRow = (string | number | null)[];

/** The table keeps days as their number since 1970. */
export const dayNumber = (day: string): number => Date.parse(`${day}T00:00:00Z`) / DAY_MS;
export const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/**
 * Calls as they cross from thread to thread, for `parseCallRows`; empty for none. As one text: twenty values a call,
 * copied one by one, cost four times as much.
 */
export const printCallRows = (records: readonly CallRecord[]): string =>
  records.length === 0 ? '' : JSON.stringify(records.map(toCallRow));

/** What `printCallRows` of this very process wrote, so its shape needs no check. */
export const parseCallRows = (text: string): CallRow[] => (text === '' ? [] : JSON.parse(text));

function toCallRow(record: CallRecord): CallRow {
  const { key, call, tokens } = record;
  return [
    record.callId,
    record.agentId,
    key.keyId,
    key.label,
    key.prefix,
    call.model,
    call.modelName,
    call.endpoint,
    call.stream ? 1 : 0,
    record.startedAtMs,
    record.durationMs,
    record.outcome,
    record.httpStatus,
    record.errorCode,
    tokens.prompt,
    tokens.completion,
    tokens.reasoning,
    tokens.cached,
    String(record.reservedNanoUsd),
    String(record.chargedNanoUsd),
  ];
}

const COLUMNS = 20;
const CALL_ID = 0;
const AGENT_ID = 1;
const MODEL = 5;
const MODEL_NAME = 6;
const STARTED_AT_MS = 9;
const OUTCOME = 11;
const PROMPT_TOKENS = 14;
const COMPLETION_TOKENS = 15;
const CHARGED = 19;

/**
 * Writes calls and adds them to their agents' usage; to be called inside a transaction, once for each row. A call
 * counts in the usage once its cost is known, so a `pending` row counts when it comes again as settled.
 */
export function createCallWriter(db: DatabaseSync): (rows: CallRow[]) => void {
  const putCall = db.prepare(`
    INSERT INTO calls VALUES (${Array(COLUMNS).fill('?').join(', ')})
    ON CONFLICT (call_id, agent_id) DO UPDATE SET
      duration_ms = excluded.duration_ms, outcome = excluded.outcome, http_status = excluded.http_status,
      error_code = excluded.error_code, prompt_tokens = excluded.prompt_tokens,
      completion_tokens = excluded.completion_tokens, reasoning_tokens = excluded.reasoning_tokens,
      cached_tokens = excluded.cached_tokens, charged_nano_usd = excluded.charged_nano_usd`);
  const addUsage = db.prepare(`
    INSERT INTO usage_days VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (agent_id, day, model) DO UPDATE SET
      model_name = excluded.model_name, calls = calls + excluded.calls, tokens = tokens + excluded.tokens,
      charged_nano_usd = charged_nano_usd + excluded.charged_nano_usd`);
  return (rows) => {
    // In the order of the indexes, so that one page is changed once.
    rows.sort((a, b) => Number(a[AGENT_ID]) - Number(b[AGENT_ID]) || Number(a[CALL_ID]) - Number(b[CALL_ID]));
    for (const row of rows) putCall.run(...row);
    for (const { agentId, day, model, modelName, calls, tokens, charged } of usageOf(rows))
      addUsage.run(agentId, day, model, modelName, calls, tokens, charged);
  };
}

interface Usage {
  agentId: number;
  day: number;
  model: string;
  modelName: string;
  calls: number;
  tokens: number;
  charged: bigint;
}

/** Summed first: a statement for each call would cost as much again as its row. `rows` in the order of agents. */
function usageOf(rows: readonly CallRow[]): Usage[] {
  const sums: Usage[] = [];
  let ofAgent: Usage[] = [];
  for (const row of rows) {
    if (row[OUTCOME] === 'pending') continue;
    const agentId = Number(row[AGENT_ID]);
    const day = Math.floor(Number(row[STARTED_AT_MS]) / DAY_MS);
    const model = String(row[MODEL]);
    if (ofAgent[0]?.agentId !== agentId) ofAgent = [];
    let sum = ofAgent.find((other) => other.day === day && other.model === model);
    if (sum === undefined) {
      sum = { agentId, day, model, modelName: '', calls: 0, tokens: 0, charged: 0n };
      ofAgent.push(sum);
      sums.push(sum);
    }
    sum.modelName = String(row[MODEL_NAME]);
    sum.calls += 1;
    sum.tokens += Number(row[PROMPT_TOKENS]) + Number(row[COMPLETION_TOKENS]);
    sum.charged += BigInt(row[CHARGED] ?? 0);
  }
  return sums;
}
