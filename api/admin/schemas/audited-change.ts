import { z } from 'zod';
import type { AuditedChange } from '#core/audit-log/audit-log.ts';
import { isoTime } from '#core/clock.ts';

export const AuditedChangeRecord = z
  .object({
    id: z.int().meta({ description: "The request's id, as in its answer's headers." }),
    started_at: z.iso.datetime().meta({ description: 'Before anything was done.' }),
    ended_at: z.iso.datetime().nullable(),
    operator: z
      .string()
      .meta({ description: 'As the client names its user. Proven is that it held the admin token.' }),
    address: z.string().meta({ description: "Of the connection: behind a proxy, the proxy's." }),
    action: z.string().meta({ examples: ['agents.suspend'] }),
    subject: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .meta({ description: 'Ids, names and amounts.' }),
    result: z
      .string()
      .nullable()
      .meta({ description: '`ok`, or the code of the refusal. Null: it runs, or was cut off.' }),
  })
  .meta({ id: 'AuditedChange' });
export type AuditedChangeRecord = z.infer<typeof AuditedChangeRecord>;

export const AuditedChangeList = z
  .object({
    changes: z.array(AuditedChangeRecord).meta({ description: 'Newest first.' }),
    next: z
      .int()
      .nullable()
      .meta({ description: 'Pass it as `before` for the next page; null on the last.' }),
  })
  .meta({ id: 'AuditedChangeList' });

export const shapeChange = ({ startedAtMs, ended, ...act }: AuditedChange): AuditedChangeRecord => ({
  ...act,
  started_at: isoTime(startedAtMs),
  ended_at: ended === null ? null : isoTime(ended.atMs),
  result: ended?.result ?? null,
});
