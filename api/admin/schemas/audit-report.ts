import { z } from 'zod';

/** Problems that an audit shows. All are counted. */
export const AUDIT_PROBLEMS_MAX = 1_000;

/** Signed: an audit that fails on a sum below zero would be silent exactly when it is needed. */
const signedUsd = () =>
  z
    .string()
    .regex(/^-?\d+(\.\d{1,9})?$/)
    .meta({ description: 'US dollars, exact.' });

const AuditProblem = z.object({ agent_id: z.int(), problem: z.string() }).meta({ id: 'AuditProblem' });

const AuditTotals = z
  .object({
    granted_usd: signedUsd(),
    moved_in_usd: signedUsd(),
    free_usd: signedUsd(),
    held_usd: signedUsd(),
    charged_usd: signedUsd(),
    expired_usd: signedUsd(),
    moved_out_usd: signedUsd(),
    in_transit_usd: signedUsd().meta({
      description:
        'US dollars, exact: moved out − moved in. On its way from sellers to buyers; 0 once every trade is dealt with. ' +
        'While trades run it may be off, even below 0, because each agent is read at a moment of its own.',
    }),
  })
  .meta({
    id: 'AuditTotals',
    description: 'Of all agents: granted + moved in = free + held + charged + expired + moved out.',
  });

const AuditHolds = z
  .object({
    open: z.int(),
    pending: z.int().meta({ description: 'Of them: ended calls whose cost is not known yet.' }),
    usd: signedUsd(),
    oldest_started_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'AuditHolds' });

export const AuditReport = z
  .object({
    ok: z.boolean().meta({ description: 'Nothing is off.' }),
    agents: z.int(),
    keys: z.int(),
    totals: AuditTotals,
    holds: AuditHolds,
    problems_found: z.int(),
    problems: z
      .array(AuditProblem)
      .meta({ description: `At most ${AUDIT_PROBLEMS_MAX.toLocaleString('en-US')} of them.` }),
  })
  .meta({ id: 'AuditReport' });
export type AuditReport = z.infer<typeof AuditReport>;
