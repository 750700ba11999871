import { z } from 'zod';

const RecordOutcome = z
  .object({
    outcome: z.enum(['done', 'rejected', 'dead_letter', 'try_again']).meta({
      description:
        '`rejected`: a trade that moved no credit, such as one whose seller lacks it. `dead_letter`: nobody can ' +
        'make sense of it, or its reason says that it is in no candle: the credit of that one has moved all the ' +
        'same. `try_again`: not now; send it again, with all behind it.',
    }),
    reason: z.string().optional(),
  })
  .meta({ id: 'RecordOutcome' });

export const FedRecords = z
  .object({
    outcomes: z.array(RecordOutcome).meta({ description: 'Of each record, in their order.' }),
    wanted_snapshots: z.array(z.string()).meta({
      description:
        'Open markets of which there is no book, or whose book has stopped: it is shown after the next snapshot.',
    }),
  })
  .meta({ id: 'FedRecords' });
