import { z } from 'zod';
import { grantCredit } from '#core/accounts/grant-credit.ts';
import { BALANCE_CAP_NANO_USD, GRANT_DAYS_MAX, GRANT_ID_CHARS_MAX } from '#core/limits.ts';
import { formatUsd } from '#core/money.ts';
import { answerOrRefuse } from '../../contract/errors.ts';
import { wholeNumber } from '../../contract/request-fields.ts';
import { adminExamples } from '../examples.ts';
import { grantRefusal, readAgent } from '../refusals.ts';
import { CreditGrant, shapeAgentDetail } from '../schemas/agent-record.ts';
import { id, toNanoUsd, usdBetween } from '../schemas/values.ts';
import { audited, operatorProcedure, t } from '../trpc.ts';

const days = wholeNumber(1, GRANT_DAYS_MAX, `a whole number of days from 1 to ${GRANT_DAYS_MAX}`);
const grantId = `1 to ${GRANT_ID_CHARS_MAX} letters, digits, or any of . _ : -`;
const GRANT_ID = new RegExp(`^[\\w.:-]{1,${GRANT_ID_CHARS_MAX}}$`);

export const creditRouter = t.router({
  grant: operatorProcedure({
    method: 'POST',
    path: '/agents/{agent_id}/grants',
    operationId: 'grantCredit',
    tag: 'Credit',
    summary: 'Grant credit',
    description:
      'Adds credit that lasts `days` full UTC days after today. Give a `grant_id` to be able to repeat a ' +
      'request whose answer was lost: for as long as the credit lives, an agent is granted an id once, ' +
      'whatever the amount.',
    errors: ['not_found'],
    examples: {
      request: { usd: '5', days: 7, grant_id: 'invoice-2026-118' },
      answer: { grant_id: 'invoice-2026-118', repeated: false, agent: adminExamples.agentDetail },
    },
  })
    .input(
      z.strictObject({
        agent_id: id(),
        usd: usdBetween(1n, BALANCE_CAP_NANO_USD, `above 0 and up to ${formatUsd(BALANCE_CAP_NANO_USD)}`),
        days: days.default(GRANT_DAYS_MAX),
        grant_id: z.string({ error: grantId }).regex(GRANT_ID, { error: grantId }).optional(),
      }),
    )
    .use(audited)
    .output(CreditGrant)
    .mutation(async ({ ctx, input }) => {
      const { ledger, clock } = ctx.deps;
      const { agent_id: agentId, usd, days: lastsDays, grant_id: given } = input;
      const grant = {
        agentId,
        nanoUsd: toNanoUsd(usd),
        days: lastsDays,
        grantId: given ?? `operator-${ctx.callId}`,
      };
      const granted = await grantCredit({ ledger, clock }, grant);
      if (!granted.ok) return answerOrRefuse<never>(grantRefusal(granted.reason, agentId));
      const agent = shapeAgentDetail(await readAgent(ledger, agentId), clock.now());
      return { grant_id: grant.grantId, repeated: granted.repeated, agent };
    }),
});
