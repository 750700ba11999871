import { describe, expect, test } from 'vitest';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import { follow, LOG_START, LogGapError } from '#core/ledger/cluster/effective-log.ts';
import {
  decodeLogRecord,
  eventRecordText,
  HEARTBEAT_TEXT,
  type LogRecord,
  markRecordText,
} from '#core/ledger/cluster/log-record.ts';

const made: LedgerEvent = { v: 1, type: 'key_revoked', agentId: 1, version: 1, atMs: 1, keyId: 1 };
const event = (epoch: number, seq: number): LogRecord => ({ v: 1, type: 'event', epoch, seq, event: made });
const mark = (epoch: number, nonce = 'a'): LogRecord => ({ v: 1, type: 'mark', epoch, nonce });

const walk = (...records: LogRecord[]) => {
  const position = { ...LOG_START };
  return { effects: records.map((record) => follow(position, record).kind), position };
};

describe('a shard’s partition', () => {
  test('counts every event of the present epoch once, in order, however often it was produced', () => {
    const { effects, position } = walk(
      mark(1),
      event(1, 1),
      event(1, 1),
      event(1, 2),
      event(1, 1),
      event(1, 3),
    );
    expect(effects).toEqual(['mark', 'event', 'duplicate', 'event', 'duplicate', 'event']);
    expect(position).toEqual({ epoch: 1, nonce: 'a', seq: 3 });
  });

  test('takes what comes of an ended epoch for void, and goes on counting where the epoch ended', () => {
    const { effects, position } = walk(mark(1), event(1, 1), mark(2), event(1, 2), event(2, 2));
    expect(effects).toEqual(['mark', 'event', 'mark', 'void', 'event']);
    expect(position).toEqual({ epoch: 2, nonce: 'a', seq: 2 });
  });

  test('of two marks of one epoch counts the first', () => {
    const { effects, position } = walk(mark(1, 'first'), mark(1, 'second'));
    expect(effects).toEqual(['mark', 'void']);
    expect(position.nonce).toBe('first');
  });

  test('is built on by nobody where something is missing', () => {
    expect(() => walk(mark(1), event(1, 1), event(1, 3))).toThrow(LogGapError);
    expect(() => walk(mark(1), mark(3))).toThrow(LogGapError);
    expect(() => walk(mark(1), event(2, 1))).toThrow(LogGapError);
  });

  test('has records that move nothing but the log’s own time', () => {
    expect(walk(mark(1), decodeLogRecord(Buffer.from(HEARTBEAT_TEXT))).effects).toEqual(['mark', 'nothing']);
  });

  test('is written and read by one schema, and poison in it stops its reader', () => {
    expect(decodeLogRecord(Buffer.from(markRecordText(2, 'n')))).toEqual(mark(2, 'n'));
    expect(decodeLogRecord(Buffer.from(eventRecordText(3, 4, JSON.stringify(made))))).toEqual(event(3, 4));
    expect(() => decodeLogRecord(Buffer.from('{"v":1,"type":"event","epoch":1,"seq":1}'))).toThrow();
    expect(() => decodeLogRecord(Buffer.from('nonsense'))).toThrow();
  });
});
