import { initTRPC, type TRPCError } from '@trpc/server';
import type { AuditLine, AuditSubject } from '#core/audit-log/audit-log.ts';
import { isRecord } from '#core/is-record.ts';
import { apiError, Refusal } from '../contract/errors.ts';
import { type RouteFacts, type RouteMeta, routeMeta } from '../contract/route.ts';
import { traceOf } from '../contract/trace-id.ts';
import type { AdminContext, AdminDeps, Operator } from './context.ts';

export const t = initTRPC.context<AdminContext>().meta<RouteMeta<AdminDeps, Operator>>().create();

/** A route that only the admin token opens. */
export const operatorProcedure = (facts: Omit<RouteFacts, 'auth'>) =>
  t.procedure.meta(routeMeta({ ...facts, auth: 'key' }));

/** All that an audit line can hold of an input or an answer: a list of what is secret could be too short. */
const SUBJECT_FIELDS = [
  'id',
  'agent_id',
  'key_id',
  'grant_id',
  'usd',
  'days',
  'name',
  'label',
  'status',
  'repeated',
  'accept_prices',
  'ok',
];

/**
 * Goes on every procedure that changes something, after its input. Nothing is done before its line is durable, so a
 * change that a crash cut off has at least that line.
 */
export const audited = t.middleware(async ({ ctx, path, input, next }) => {
  const { deps, caller, callId, req } = ctx;
  const { audit, clock, log } = deps;
  const line = (subject: AuditSubject, result: AuditLine['result']) =>
    audit.write({
      id: callId,
      atMs: clock.now(),
      operator: caller.name,
      address: caller.address,
      action: path,
      subject,
      result,
    });
  const subject = pickSubject(input);
  try {
    await line(subject, 'started');
  } catch (error) {
    log.error('audit log not written', { callId, path, ...traceOf(req), error });
    throw new Refusal(apiError('service_unavailable', { message: NOT_WRITTEN }));
  }
  const result = await next();
  try {
    if (result.ok) await line({ ...subject, ...pickSubject(result.data) }, 'ok');
    else await line(subject, codeOf(result.error));
  } catch (error) {
    // What was done is done: its first line and the ledger's journal tell of it.
    log.error('audit log not written', { callId, path, ...traceOf(req), error });
  }
  return result;
});

const NOT_WRITTEN =
  'The audit log cannot be written, so nothing was done; look at the disk of the data folder, or at Cassandra.';

function pickSubject(record: unknown): AuditSubject {
  const subject: AuditSubject = {};
  if (!isRecord(record)) return subject;
  for (const field of SUBJECT_FIELDS) {
    const value = record[field];
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      subject[field] = value;
    }
  }
  const limit = limitIn(record.spending_limit);
  return limit === null ? subject : { ...subject, spending_limit: limit };
}

/** In a word, as asked for or as answered; `null`: nothing is said of a limit. */
function limitIn(limit: unknown): string | null {
  if (limit === null) return 'none';
  if (!isRecord(limit)) return null;
  return `${limit.usd ?? limit.limit_usd} ${limit.reset}`;
}

const codeOf = ({ cause }: TRPCError): string =>
  cause instanceof Refusal ? cause.apiError.code : 'gateway_error';
