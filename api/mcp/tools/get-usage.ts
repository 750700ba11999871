import { z } from 'zod';
import { USAGE_DAYS_DEFAULT, USAGE_DAYS_MAX } from '#core/limits.ts';
import { readUsage } from '../../account/read-account.ts';
import { UsageRecord } from '../../contract/usage-record.ts';
import { answerOf, defineTool, readsOnly } from '../tool.ts';

export const getUsage = defineTool({
  name: 'get_usage',
  title: 'Get the usage',
  description:
    'What all keys of the agent spent: in total, by UTC day and by model. A call counts once its cost is known, usually within a minute.',
  input: z.object({
    days: z
      .int()
      .min(1)
      .max(USAGE_DAYS_MAX)
      .default(USAGE_DAYS_DEFAULT)
      .meta({ description: 'UTC days back, today included: 1 is today only.' }),
  }),
  output: UsageRecord,
  annotations: readsOnly,
  run: async ({ account }, { agentId }, { days }) => answerOf(await readUsage(account, { agentId, days })),
});
