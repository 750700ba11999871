import type { LedgerEvent } from '../../events/ledger-event.ts';
import type { StoredRecord } from './ledger-log.ts';
import { decodeLogRecord, type LogRecord } from './log-record.ts';

/** Where a walk through a shard's partition stands. `seq` runs on across epochs. */
export interface LogPosition {
  epoch: number;
  /** Of the mark that began the epoch; empty before the first. */
  nonce: string;
  seq: number;
}

export const LOG_START: LogPosition = { epoch: 0, nonce: '', seq: 0 };

export type Effect =
  | { kind: 'event'; event: LedgerEvent }
  | { kind: 'mark' }
  /** Already counted: producers repeat themselves. */
  | { kind: 'duplicate' }
  /** Of an epoch that had ended when it came: it never happened. */
  | { kind: 'void' }
  | { kind: 'nothing' };

/** Between this record and the last one that counted, some are missing: nobody may build on it. */
export class LogGapError extends Error {
  override readonly name = 'LogGapError';
}

/** A record that no release can have written, or that does not fit what stands before it. Money is never skipped. */
export class PoisonRecordError extends Error {
  override readonly name = 'PoisonRecordError';

  constructor(offset: bigint, cause: unknown) {
    super(`the record at offset ${offset} cannot be followed`, { cause });
  }
}

/** As `follow`, from what is stored: the event that counts, if one does. Throws `PoisonRecordError`. */
export function followStored(position: LogPosition, { offset, bytes }: StoredRecord): LedgerEvent | null {
  try {
    const effect = follow(position, decodeLogRecord(bytes));
    return effect.kind === 'event' ? effect.event : null;
  } catch (cause) {
    throw new PoisonRecordError(offset, cause);
  }
}

/** What one record means after all before it, and moves the position on. The order of the partition decides. */
export function follow(position: LogPosition, record: LogRecord): Effect {
  switch (record.type) {
    case 'heartbeat':
      return { kind: 'nothing' };
    case 'mark':
      // Of two recoverers that were equally far, the first mark counts.
      if (record.epoch <= position.epoch) return { kind: 'void' };
      if (record.epoch !== position.epoch + 1) {
        throw new LogGapError(`epoch ${record.epoch} follows epoch ${position.epoch}`);
      }
      position.epoch = record.epoch;
      position.nonce = record.nonce;
      return { kind: 'mark' };
    case 'event':
      if (record.epoch < position.epoch) return { kind: 'void' };
      if (record.epoch > position.epoch) {
        throw new LogGapError(`an event of epoch ${record.epoch} stands in epoch ${position.epoch}`);
      }
      if (record.seq <= position.seq) return { kind: 'duplicate' };
      if (record.seq !== position.seq + 1) {
        throw new LogGapError(`event ${record.seq} follows event ${position.seq}`);
      }
      position.seq = record.seq;
      return { kind: 'event', event: record.event };
    default:
      return record satisfies never;
  }
}
