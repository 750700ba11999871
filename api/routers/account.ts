import { z } from 'zod';
import { Balance } from '../contract/balance.ts';
import { balanceExample } from '../contract/examples.ts';
import { answerOrRefuse } from '../contract/refusal.ts';
import { keyedProcedure, t } from './trpc.ts';

export const accountRouter = t.router({
  balance: keyedProcedure({
    method: 'GET',
    path: '/balance',
    operationId: 'getBalance',
    tag: 'Account',
    summary: 'Get the balance',
    description:
      "The agent's credit: what new calls can reserve, what running calls hold, and what expires when.",
    errors: [],
    headers: ['x-service-call-id', 'x-request-id'],
    examples: { answer: balanceExample },
  })
    .input(z.void())
    .output(Balance)
    .query(async ({ ctx }) => answerOrRefuse(await ctx.deps.readBalance(ctx.caller))),
});
