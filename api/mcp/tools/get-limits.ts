import { z } from 'zod';
import { readLimits } from '../../account/read-account.ts';
import { LimitsRecord } from '../../contract/limits-record.ts';
import { answerOf, defineTool, readsOnly } from '../tool.ts';

export const getLimits = defineTool({
  name: 'get_limits',
  title: 'Get the limits',
  description:
    'What this key and its agent may do: calls a minute, running calls, keys, sizes, times, uploads. Limits of the agent are shared by all its keys.',
  input: z.object({}),
  output: LimitsRecord,
  annotations: readsOnly,
  run: async ({ account }, caller) => answerOf(await readLimits(account, caller)),
});
