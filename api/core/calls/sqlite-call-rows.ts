import type { DatabaseSync } from 'node:sqlite';
import type { CallFacts } from '../events/ledger-event.ts';
import type { NanoUsd } from '../money.ts';
import type { CallRecord } from './call-record.ts';
import { dayOf } from './day-number.ts';
import { isSameKind } from './is-same-kind.ts';

/** A call in the order of the table's columns, but that in the place of its kind's id stands the kind, see `printKind`. */
export type CallRow = (string | number | null)[];

/**
 * Calls as they cross from thread to thread, for `parseCallRows`; empty for none. As one text: values that are copied
 * one by one cost four times as much. Kinds are written once.
 */
export function printCallRows(records: readonly CallRecord[]): string {
  if (records.length === 0) return '';
  const kinds: string[] = [];
  const facts: CallFacts[] = [];
  const rows = records.map((record) => {
    let place = facts.findIndex((known) => isSameKind(known, record.call));
    if (place < 0) {
      place = facts.push(record.call) - 1;
      kinds.push(printKind(record.call));
    }
    return toCallRow(record, place);
  });
  return JSON.stringify({ kinds, rows });
}

/** What `printCallRows` of this very process wrote, so its shape needs no check. */
export function parseCallRows(text: string): CallRow[] {
  if (text === '') return [];
  const { kinds, rows } = JSON.parse(text) as { kinds: string[]; rows: CallRow[] };
  for (const row of rows) row[KIND] = kinds[Number(row[KIND])] ?? null;
  return rows;
}

/** All calls of a kind have the same text. */
const printKind = ({ model, modelName, endpoint, stream }: CallFacts): string =>
  JSON.stringify([model, modelName, endpoint, stream ? 1 : 0]);

function toCallRow(record: CallRecord, kindPlace: number): CallRow {
  const { key, tokens } = record;
  return [
    record.callId,
    record.agentId,
    key.keyId,
    key.label,
    key.prefix,
    kindPlace,
    record.startedAtMs,
    record.durationMs,
    record.outcome,
    record.httpStatus,
    record.errorCode,
    tokens.prompt,
    tokens.completion,
    tokens.reasoning,
    tokens.cached,
    amountCell(record.reservedNanoUsd),
    amountCell(record.chargedNanoUsd),
    tokens.estimated === true ? 1 : 0,
  ];
}

/** Text only where a number would not be exact: SQLite turns each text into a number again. */
const amountCell = (nanoUsd: NanoUsd): number | string =>
  nanoUsd <= Number.MAX_SAFE_INTEGER ? Number(nanoUsd) : String(nanoUsd);

const COLUMNS = 18;
const CALL_ID = 0;
const AGENT_ID = 1;
const KIND = 5;
const STARTED_AT_MS = 6;
const OUTCOME = 8;
const PROMPT_TOKENS = 11;
const COMPLETION_TOKENS = 12;
const CHARGED = 16;

/**
 * Writes calls and adds them to their agents' usage; to be called inside a transaction, once for each row. A call
 * counts in the usage once its cost is known, so a `pending` row counts when it comes again as settled.
 */
export function createCallWriter(db: DatabaseSync): (rows: CallRow[]) => void {
  const putKinds = createKindWriter(db);
  const putCall = db.prepare(`
    INSERT INTO calls VALUES (${Array(COLUMNS).fill('?').join(', ')})
    ON CONFLICT (call_id, agent_id) DO UPDATE SET
      key_label = excluded.key_label, key_prefix = excluded.key_prefix,
      duration_ms = excluded.duration_ms, outcome = excluded.outcome, http_status = excluded.http_status,
      error_code = excluded.error_code, prompt_tokens = excluded.prompt_tokens,
      completion_tokens = excluded.completion_tokens, reasoning_tokens = excluded.reasoning_tokens,
      cached_tokens = excluded.cached_tokens, charged_nano_usd = excluded.charged_nano_usd,
      tokens_estimated = excluded.tokens_estimated`);
  const addUsage = db.prepare(`
    INSERT INTO usage_days VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (agent_id, day, model) DO UPDATE SET
      model_name = excluded.model_name, calls = calls + excluded.calls, tokens = tokens + excluded.tokens,
      charged_nano_usd = charged_nano_usd + excluded.charged_nano_usd`);
  return (rows) => {
    // In the order of the indexes, so that one page is changed once.
    rows.sort((a, b) => Number(a[AGENT_ID]) - Number(b[AGENT_ID]) || Number(a[CALL_ID]) - Number(b[CALL_ID]));
    const kinds = putKinds(rows);
    for (const { agentId, day, model, modelName, calls, tokens, charged } of sumUsage(rows, kinds))
      addUsage.run(agentId, day, model, modelName, calls, tokens, charged);
    for (const row of rows) {
      row[KIND] = kindOf(row, kinds).kindId;
      putCall.run(...row);
    }
  };
}

interface Kind {
  kindId: number;
  model: string;
  modelName: string;
}

/** By its newest call a kind is dropped when all its calls are. */
function createKindWriter(db: DatabaseSync): (rows: readonly CallRow[]) => ReadonlyMap<string, Kind> {
  const putKind = db.prepare(`
    INSERT INTO call_kinds (newest_call_id, model, model_name, endpoint, stream) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (model, model_name, endpoint, stream) DO UPDATE SET
      newest_call_id = max(newest_call_id, excluded.newest_call_id)
    RETURNING kind_id`);
  return (rows) => {
    const newest = new Map<string, number>();
    for (const row of rows) {
      const kind = String(row[KIND]);
      newest.set(kind, Math.max(newest.get(kind) ?? 0, Number(row[CALL_ID])));
    }
    const kinds = new Map<string, Kind>();
    for (const [text, newestCallId] of newest) {
      const [model, modelName, endpoint, stream]: [string, string, string, number] = JSON.parse(text);
      const kindId = Number(putKind.get(newestCallId, model, modelName, endpoint, stream)?.kind_id);
      kinds.set(text, { kindId, model, modelName });
    }
    return kinds;
  };
}

function kindOf(row: CallRow, kinds: ReadonlyMap<string, Kind>): Kind {
  const kind = kinds.get(String(row[KIND]));
  if (kind === undefined) throw new Error('a call of no kind');
  return kind;
}

interface Usage {
  agentId: number;
  day: number;
  model: string;
  modelName: string;
  calls: number;
  tokens: number;
  /** In nano-dollars. */
  charged: bigint;
}

/** One sum for each agent, day and model. A statement for each call would make its row a fifth dearer. */
function sumUsage(rows: readonly CallRow[], kinds: ReadonlyMap<string, Kind>): Iterable<Usage> {
  const sums = new Map<string, Usage>();
  for (const row of rows) {
    if (row[OUTCOME] === 'pending') continue;
    const agentId = Number(row[AGENT_ID]);
    const day = dayOf(Number(row[STARTED_AT_MS]));
    const { model, modelName } = kindOf(row, kinds);
    const place = `${agentId} ${day} ${model}`;
    const sum = sums.get(place) ?? { agentId, day, model, modelName, calls: 0, tokens: 0, charged: 0n };
    sum.modelName = modelName;
    sum.calls += 1;
    sum.tokens += Number(row[PROMPT_TOKENS]) + Number(row[COMPLETION_TOKENS]);
    sum.charged += BigInt(row[CHARGED] ?? 0);
    sums.set(place, sum);
  }
  return sums.values();
}
