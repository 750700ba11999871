import { z } from 'zod';
import type { CallRecord } from '#core/calls/call-record.ts';
import { openCall } from '#core/calls/open-call.ts';
import { DAY_MS } from '#core/clock.ts';
import { CALLS_KEPT_MS } from '#core/limits.ts';
import { CallEntry, shapeCallRecord } from '../../contract/call-entry.ts';
import { answerOrRefuse, apiError } from '../../contract/errors.ts';
import type { AdminDeps } from '../context.ts';
import { adminExamples } from '../examples.ts';
import { unavailable } from '../refusals.ts';
import { id } from '../schemas/values.ts';
import { operatorProcedure, t } from '../trpc.ts';

const FoundCall = z
  .object({
    agent_id: z.int(),
    generation_id: z
      .string()
      .nullable()
      .meta({ description: "The provider's id for the answer, of a call that is still open." }),
    call: CallEntry,
  })
  .meta({ id: 'FoundCall' });

export const callsRouter = t.router({
  find: operatorProcedure({
    method: 'GET',
    path: '/calls/{call_id}',
    operationId: 'findCall',
    tag: 'Calls',
    summary: 'Find a call',
    description:
      'By the id that its answer carried, of any agent; running calls too. ' +
      `Kept for ${CALLS_KEPT_MS / DAY_MS} days.`,
    errors: ['invalid_request', 'not_found'],
    examples: { answer: adminExamples.call },
  })
    .input(z.strictObject({ call_id: id() }))
    .output(FoundCall)
    .query(async ({ ctx, input }) => {
      const found = await findCall(ctx.deps, input.call_id);
      if (found === 'ledger_unavailable') return answerOrRefuse<never>(unavailable());
      if (found === 'history_unavailable') return answerOrRefuse<never>(unavailable(NO_HISTORY));
      if (found === null) {
        const message = `There is no call ${input.call_id}: none of the last 90 days has this id.`;
        return answerOrRefuse<never>(apiError('not_found', { message }));
      }
      const { record, generationId } = found;
      return { agent_id: record.agentId, generation_id: generationId, call: shapeCallRecord(record) };
    }),
});

const NO_HISTORY =
  'The store of the call history does not answer now. Calls go on without it; try again once it is back.';

interface FoundCall {
  record: CallRecord;
  generationId: string | null;
}

/** Open holds are read before the history: a call that ends in between is found in one of the two. */
async function findCall(
  { ledger, history, clock }: Pick<AdminDeps, 'ledger' | 'history' | 'clock'>,
  callId: number,
): Promise<FoundCall | null | 'ledger_unavailable' | 'history_unavailable'> {
  const holds = await ledger.listHolds();
  const ended = await history.find(callId);
  if (holds === 'unavailable') return 'ledger_unavailable';
  const hold = holds.find((each) => each.callId === callId);
  if (ended !== null && ended !== 'unavailable') {
    return { record: ended, generationId: hold?.generationId ?? null };
  }
  if (hold === undefined) return ended === null ? null : 'history_unavailable';
  const agent = await ledger.readAgent(hold.agentId);
  if (agent === 'unavailable') return 'ledger_unavailable';
  const key = agent?.keys.find((each) => each.keyId === hold.keyId);
  return { record: openCall(hold, key, clock.now()), generationId: hold.generationId };
}
