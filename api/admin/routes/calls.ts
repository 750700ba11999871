import { z } from 'zod';
import { CallEntry, shapeCallRecord } from '../../contract/call-entry.ts';
import { apiError } from '../../contract/errors.ts';
import { answerOrRefuse } from '../../contract/refusal.ts';
import { adminExamples } from '../examples.ts';
import { findCall } from '../find-call.ts';
import { historyUnavailable, unavailable } from '../refusals.ts';
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
    description: 'By the id that its answer carried, of any agent; running calls too. Kept for 90 days.',
    errors: ['invalid_request', 'not_found'],
    examples: { answer: adminExamples.call },
  })
    .input(z.strictObject({ call_id: id() }))
    .output(FoundCall)
    .query(async ({ ctx, input }) => {
      const found = await findCall(ctx.deps, input.call_id);
      if (found === 'ledger_unavailable') return answerOrRefuse<never>(unavailable());
      if (found === 'history_unavailable') return answerOrRefuse<never>(historyUnavailable());
      if (found === null) {
        const message = `There is no call ${input.call_id}: none of the last 90 days has this id.`;
        return answerOrRefuse<never>(apiError('not_found', { message }));
      }
      const { record, generationId } = found;
      return { agent_id: record.agentId, generation_id: generationId, call: shapeCallRecord(record) };
    }),
});
