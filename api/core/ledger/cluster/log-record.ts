import { z } from 'zod';
import { ledgerEvent } from '../../events/ledger-event.ts';

/**
 * What stands in a shard's partition of `ledger.v1`.
 *
 * `event`: one change, at its place in its epoch. `mark`: a new epoch begins here; what comes later of an older one is
 * void. `heartbeat`: nothing, but the log's own time moves on.
 */
export const logRecord = z.discriminatedUnion('type', [
  z.strictObject({
    v: z.literal(1),
    type: z.literal('event'),
    epoch: z.int().positive(),
    seq: z.int().positive(),
    event: ledgerEvent,
  }),
  z.strictObject({
    v: z.literal(1),
    type: z.literal('mark'),
    epoch: z.int().positive(),
    /** Of the recoverer that wrote it: two marks of one epoch are told apart. */
    nonce: z.string(),
  }),
  z.strictObject({ v: z.literal(1), type: z.literal('heartbeat') }),
]);
export type LogRecord = z.infer<typeof logRecord>;

export const decodeLogRecord = (bytes: Buffer): LogRecord =>
  logRecord.parse(JSON.parse(bytes.toString('utf8')));

/** An event's text as Redis made it goes into the log as it is. */
export const eventRecordText = (epoch: number, seq: number, eventText: string): string =>
  `{"v":1,"type":"event","epoch":${epoch},"seq":${seq},"event":${eventText}}`;

export const markRecordText = (epoch: number, nonce: string): string =>
  JSON.stringify({ v: 1, type: 'mark', epoch, nonce } satisfies LogRecord);

export const HEARTBEAT_TEXT = JSON.stringify({ v: 1, type: 'heartbeat' } satisfies LogRecord);
