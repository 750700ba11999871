import { z } from 'zod';

export const ClockAccepted = z
  .object({
    accepted: z.boolean().meta({ description: 'False: the clock was not doubted.' }),
    now: z.iso.datetime().meta({ description: "The gateway's time from now on." }),
  })
  .meta({ id: 'ClockAccepted' });
export type ClockAccepted = z.infer<typeof ClockAccepted>;
