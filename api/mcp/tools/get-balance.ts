import { z } from 'zod';
import { readBalance } from '../../account/read-account.ts';
import { Balance } from '../../contract/balance.ts';
import { answerOf, defineTool, readsOnly } from '../tool.ts';

export const getBalance = defineTool({
  name: 'get_balance',
  title: 'Get the balance',
  description:
    "The agent's credit: what new calls can reserve, what running calls hold, what expires when, and this key's own limit.",
  input: z.object({}),
  output: Balance,
  annotations: readsOnly,
  run: async ({ account }, caller) => answerOf(await readBalance(account, caller)),
});
