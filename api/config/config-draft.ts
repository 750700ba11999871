import { z } from 'zod';

const text = z.string().optional().catch(undefined);

/**
 * The file read with goodwill: what is wrong in shape counts as absent, and every list keeps its positions.
 * So the checks across the file run, and all mistakes are listed at once, even while a key somewhere has the
 * wrong type.
 */
export const configDraft = z
  .object({
    providers: z
      .array(
        z
          .object({
            id: text,
            kind: text,
            baseUrl: text,
            apiKeyEnv: text,
            apiKeyFile: text,
            catalog: text,
            dialect: text,
          })
          .catch({}),
      )
      .optional()
      .catch(undefined),
    models: z
      .array(
        z
          .object({
            id: text,
            contextLength: z.unknown().optional(),
            stopped: z.unknown().optional(),
            endpoints: z
              .array(z.object({ provider: text }).catch({}))
              .optional()
              .catch([]),
          })
          .catch({ contextLength: 0, stopped: false }),
      )
      .catch([]),
  })
  .catch({ models: [] });
export type ConfigDraft = z.infer<typeof configDraft>;
