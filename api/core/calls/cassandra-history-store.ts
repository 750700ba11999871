import type { Client } from 'cassandra-driver';
import { z } from 'zod';
import { DAY_MS, SECOND_MS } from '../clock.ts';
import { placeTimestamp } from '../drivers/cassandra-timestamp.ts';
import { idTimeMs } from '../ids.ts';
import { inPieces } from '../in-pieces.ts';
import { limitTasks } from '../limit-tasks.ts';
import { CALLS_KEPT_MS, VIDEO_JOB_KEPT_MS } from '../limits.ts';
import type { VideoJob } from '../videos/video-job.ts';
import { printVideoJob } from '../videos/video-job-json.ts';
import type { CallRecord } from './call-record.ts';
import { CALL_COLUMNS, callDay, toCallValues } from './cassandra-call-rows.ts';
import { formatCounted, monthOf, parseCounted } from './cassandra-usage-rows.ts';
import { dayOf } from './day-number.ts';
import type { HistoryRows, HistoryStore, LedgerEntry, UsageSum } from './history-store.ts';

/** Rows of one partition go together: a batch of them is one mutation, all or nothing. */
export function createCassandraHistoryStore(client: Client): HistoryStore {
  const inTurn = limitTasks(WRITES_AT_ONCE);
  const notedDays = new Set<string>();

  async function put(statements: Statement[]): Promise<void> {
    const [first, ...others] = statements;
    if (first === undefined) return;
    if (others.length === 0) await client.execute(first.query, first.params);
    else await client.batch(statements, { prepare: true, logged: false });
  }

  async function write(rows: HistoryRows): Promise<void> {
    const partitions = new Partitions();
    const days = new Set<string>();
    for (const call of rows.calls) addCall(partitions, call, notedDays, days);
    for (const entry of rows.entries) addEntry(partitions, entry);
    for (const sum of rows.usage) addUsage(partitions, sum);
    for (const job of rows.videos) addVideo(partitions, job);
    await Promise.all(partitions.batches().map((statements) => inTurn(() => put(statements))));
    if (notedDays.size > NOTED_DAYS_MAX) notedDays.clear();
    for (const day of days) notedDays.add(day);
  }

  return {
    write,
    async readUsage({ agentId, day, model }) {
      const params = [model, BigInt(agentId), monthOf(day), day];
      const [row] = (await inTurn(() => client.execute(READ_USAGE, params))).rows;
      const text = countedText.parse(row?.get('counted'));
      return text == null ? null : { agentId, day, model, ...parseCounted(text) };
    },
  };
}

const countedText = z.string().nullish();

interface Statement {
  query: string;
  params: (bigint | number | string | boolean)[];
}

/** Statements by the partition that they change. */
class Partitions {
  readonly #statements = new Map<string, Statement[]>();

  add(table: string, partition: readonly (bigint | number | string)[], statement: Statement): void {
    const name = [table, ...partition].join(' ');
    const known = this.#statements.get(name);
    if (known === undefined) this.#statements.set(name, [statement]);
    else known.push(statement);
  }

  batches(): Statement[][] {
    return [...this.#statements.values()].flatMap((statements) => inPieces(statements, BATCH_ROWS));
  }
}

function addCall(
  partitions: Partitions,
  record: CallRecord,
  notedDays: ReadonlySet<string>,
  days: Set<string>,
): void {
  const { agentId, callId, key } = record;
  const day = callDay(callId);
  const values = toCallValues(record);
  const atUs = BigInt(idTimeMs(callId)) * 1_000n;
  const at = atUs + (record.outcome === 'pending' ? PENDING_RANK : FINAL_RANK);
  const params = [...values, CALLS_KEPT_S, at];
  partitions.add('calls_by_agent', [agentId, day], { query: PUT_BY_AGENT, params });
  partitions.add('calls_by_key', [agentId, key.keyId, day], { query: PUT_BY_KEY, params });
  partitions.add('call_agents', [callId], {
    query: PUT_AGENT_OF,
    params: [BigInt(callId), BigInt(agentId), CALLS_KEPT_S, atUs],
  });
  const name = `${agentId} ${day}`;
  if (notedDays.has(name) || days.has(name)) return;
  days.add(name);
  const dayUs = BigInt(day) * BigInt(DAY_MS) * 1_000n;
  partitions.add('call_days', [agentId], {
    query: PUT_DAY,
    params: [BigInt(agentId), day, DAYS_KEPT_S, dayUs],
  });
}

function addEntry(partitions: Partitions, entry: LedgerEntry): void {
  const { agentId, epoch, seq, version, atMs, type, callId, postings } = entry;
  const month = monthOf(dayOf(atMs));
  const texts = postings.map(({ from, to, nanoUsd }) => [from, to, String(nanoUsd)]);
  partitions.add('ledger_entries', [agentId, month], {
    query: PUT_ENTRY,
    params: [
      ...[BigInt(agentId), month, BigInt(epoch), BigInt(seq), BigInt(version), BigInt(atMs), type],
      ...[BigInt(callId ?? NO_CALL), JSON.stringify(texts), placeTimestamp(epoch, seq)],
    ],
  });
}

function addUsage(partitions: Partitions, sum: UsageSum): void {
  partitions.add('usage_days', [sum.agentId, monthOf(sum.day)], {
    query: PUT_USAGE,
    params: [
      ...[DAYS_KEPT_S, placeTimestamp(sum.epoch, sum.seq), sum.model, formatCounted(sum)],
      ...[BigInt(sum.agentId), monthOf(sum.day), sum.day],
    ],
  });
}

function addVideo(partitions: Partitions, job: VideoJob): void {
  const { agentId, videoId, idempotencyKey, end } = job;
  const kept = [VIDEOS_KEPT_S, BigInt(end?.atMs ?? 0) * 1_000n];
  partitions.add('videos', [agentId], {
    query: PUT_VIDEO,
    params: [BigInt(agentId), videoId, JSON.stringify(printVideoJob(job)), ...kept],
  });
  if (idempotencyKey === null) return;
  partitions.add('video_keys', [agentId, idempotencyKey], {
    query: PUT_VIDEO_KEY,
    params: [BigInt(agentId), idempotencyKey, videoId, ...kept],
  });
}

/** A call that was priced replaces the one whose price was not known, whichever is written last. */
const PENDING_RANK = 1n;
const FINAL_RANK = 2n;
const NO_CALL = -1;

const CALLS_KEPT_S = CALLS_KEPT_MS / SECOND_MS;
const VIDEOS_KEPT_S = VIDEO_JOB_KEPT_MS / SECOND_MS;
/** What stands for a day is written with its first call, and has to outlive its last. */
const DAYS_KEPT_S = CALLS_KEPT_S + (3 * DAY_MS) / SECOND_MS;

/** A mutation of some tens of kilobytes. */
const BATCH_ROWS = 50;
const WRITES_AT_ONCE = 64;
/** Known to be stored; forgotten ones are written again. */
const NOTED_DAYS_MAX = 100_000;

const marks = (count: number): string => Array(count).fill('?').join(', ');
const columns = (list: string): string => `(${list}) VALUES (${marks(list.split(',').length)})`;
const KEPT_FOR = 'USING TTL ? AND TIMESTAMP ?';
const PUT_BY_AGENT = `INSERT INTO calls_by_agent ${columns(CALL_COLUMNS)} ${KEPT_FOR}`;
const PUT_BY_KEY = `INSERT INTO calls_by_key ${columns(CALL_COLUMNS)} ${KEPT_FOR}`;
const PUT_AGENT_OF = `INSERT INTO call_agents ${columns('call_id, agent_id')} ${KEPT_FOR}`;
const PUT_VIDEO = `INSERT INTO videos ${columns('agent_id, video_id, job')} ${KEPT_FOR}`;
const PUT_VIDEO_KEY = `INSERT INTO video_keys ${columns('agent_id, idempotency_key, video_id')} ${KEPT_FOR}`;
const PUT_DAY = `INSERT INTO call_days ${columns('agent_id, day')} ${KEPT_FOR}`;
const PUT_USAGE = `
  UPDATE usage_days ${KEPT_FOR} SET models[?] = ? WHERE agent_id = ? AND month = ? AND day = ?`;
const PUT_ENTRY = `INSERT INTO ledger_entries ${columns(
  'agent_id, month, epoch, seq, version, at_ms, type, call_id, postings',
)} USING TIMESTAMP ?`;
const READ_USAGE = `
  SELECT models[?] AS counted FROM usage_days WHERE agent_id = ? AND month = ? AND day = ?`;
