import { Balance } from '../contract/balance.ts';
import { balanceExample } from '../contract/examples.ts';
import { rawQuery, t } from './trpc.ts';

export const accountRouter = t.router({
  balance: rawQuery(
    {
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
    },
    Balance,
    (call) => call.deps.sendBalance(call),
  ),
});
