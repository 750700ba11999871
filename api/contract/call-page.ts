import { z } from 'zod';
import { CallEntry } from './call-entry.ts';

/** What `list_calls` answers. */
export const CallPage = z
  .object({
    calls: z.array(CallEntry).meta({ description: 'Newest first.' }),
    next: z
      .string()
      .nullable()
      .meta({ description: 'Pass it as `before` for the next page; null on the last one.' }),
  })
  .meta({ id: 'CallPage' });
export type CallPage = z.infer<typeof CallPage>;
