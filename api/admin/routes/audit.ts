import { z } from 'zod';
import { DAY_MS } from '#core/clock.ts';
import { AUDIT_KEPT_MS } from '#core/limits.ts';
import { answerOrRefuse } from '../../contract/errors.ts';
import { adminExamples } from '../examples.ts';
import { unavailable } from '../refusals.ts';
import { AuditedChangeList, shapeChange } from '../schemas/audited-change.ts';
import { id, instant, rowLimit } from '../schemas/values.ts';
import { operatorProcedure, t } from '../trpc.ts';

const action = 'an action such as agents.suspend';

export const auditRouter = t.router({
  list: operatorProcedure({
    method: 'GET',
    path: '/audit',
    operationId: 'listChanges',
    tag: 'Audit log',
    summary: 'List changes',
    description:
      'Who changed what, or tried to, newest first, a page at a time. ' +
      `Kept for ${AUDIT_KEPT_MS / DAY_MS} days. In a cluster, of all its gateways.`,
    errors: ['invalid_request'],
    examples: { answer: { changes: [adminExamples.change], next: null } },
  })
    .input(
      z.strictObject({
        since: instant().optional().meta({ description: 'Only changes that began then or later.' }),
        action: z
          .string({ error: action })
          .regex(/^[a-z]+(\.[a-zA-Z]+)?$/, { error: action })
          .optional()
          .meta({ description: 'Only changes of this kind.' }),
        before: id().optional(),
        limit: rowLimit(),
      }),
    )
    .output(AuditedChangeList)
    .query(async ({ ctx, input }) => {
      const limit = input.limit ?? CHANGES;
      const found = await ctx.deps.audit.list({
        limit: limit + 1,
        beforeId: input.before,
        sinceMs: input.since,
        action: input.action,
      });
      if (found === 'unavailable') return answerOrRefuse<never>(unavailable(NOT_READ));
      const page = found.slice(0, limit);
      const next = found.length > limit ? (page.at(-1)?.id ?? null) : null;
      return { changes: page.map(shapeChange), next };
    }),
});

const CHANGES = 50;
const NOT_READ = 'The audit log cannot be read now; look at the disk of the data folder, or at Cassandra.';
