import { z } from 'zod';
import { AgentDetail } from './agent-record.ts';

export const CreditGrant = z
  .object({
    grant_id: z.string(),
    repeated: z
      .boolean()
      .meta({ description: 'True: this id was booked before, and nothing was added now.' }),
    agent: AgentDetail,
  })
  .meta({ id: 'CreditGrant' });
