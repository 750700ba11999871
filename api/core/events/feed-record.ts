import { isUtf8 } from 'node:buffer';
import type { z } from 'zod';

/** The largest record of a feed. */
const FEED_RECORD_BYTES_MAX = 64 * 1024;
/** Problems that are named in the reason for a dead letter. A book with wrong levels has thousands. */
const FEED_REASON_PROBLEMS = 5;

/** What comes of one record of a feed. Records may come twice. */
export type HandleRecord = (bytes: Buffer) => Promise<RecordOutcome>;

export type RecordOutcome =
  /** `rejected`: of a trade that has moved nothing, why; whose problem it is has been told. */
  | { outcome: 'done'; rejected?: string }
  /** Not now: what it needs is away. The same record comes again. */
  | { outcome: 'try_again' }
  /** Never: it is kept apart with this reason, which repeats nothing of its content. */
  | { outcome: 'dead_letter'; reason: string };

export type ParsedRecord<T> = { ok: true; record: T } | { ok: false; reason: string };

export function parseFeedRecord<S extends z.ZodType>(
  schema: S,
  bytes: Buffer,
  bytesMax: number = FEED_RECORD_BYTES_MAX,
): ParsedRecord<z.infer<S>> {
  if (bytes.length > bytesMax) return { ok: false, reason: 'the record is too large' };
  if (!isUtf8(bytes)) return { ok: false, reason: 'the record is no UTF-8' };
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    return { ok: false, reason: 'the record is no JSON' };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, record: parsed.data };
  const { issues } = parsed.error;
  const problems = issues.slice(0, FEED_REASON_PROBLEMS).map(({ path, code, message }) => {
    // Zod's own message of an unknown key names the key, and that may be anything.
    const what = code === 'unrecognized_keys' ? 'has keys that are not known' : message;
    return `${path.join('.') || 'the record'}: ${what}`;
  });
  if (issues.length > problems.length) problems.push(`and ${issues.length - problems.length} more`);
  return { ok: false, reason: problems.join('; ') };
}

/** A record of a market, which has to stand where the others of its market do: two that read them would both be wrong. */
export function parseMarketRecord<T extends { market: string }>(
  schema: z.ZodType<T>,
  { bytes, key }: FeedBatch['records'][number],
  bytesMax: number = FEED_RECORD_BYTES_MAX,
): ParsedRecord<T> {
  const parsed = parseFeedRecord(schema, bytes, bytesMax);
  if (!parsed.ok || key === undefined || String(key) === parsed.record.market) return parsed;
  return { ok: false, reason: 'market: is not what the record is keyed by' };
}

/** Many records of one partition at once, in their order. Their places count up, not always by one. */
export interface FeedBatch {
  partition: number;
  /** `key`: what the record was keyed by; none where records come without one. */
  records: readonly { offset: bigint; bytes: Buffer; key?: Buffer | null }[];
  /** False while more waits behind these, as when a successor reads again what came before; not said: true. */
  atEnd?: boolean;
}

export interface BatchOutcome {
  /** Of each record, in their order; after one that is to be tried again there are no more. */
  outcomes: readonly RecordOutcome[];
  /** Where a process that takes over has to begin; `null`: where this batch began, or before. */
  resumeOffset: bigint | null;
}

export interface BatchHandler {
  handle(batch: FeedBatch): Promise<BatchOutcome>;
  /** Another process reads on, or this one begins anew: nothing that is known of this partition counts any more. */
  forget(partition: number): void;
}
