import { z } from 'zod';
import type { ImportedList } from '#core/catalog/import-source.ts';
import { MODEL_ID_CHARS_MAX, MODELS_MAX } from '#core/limits.ts';

/** A row of a list of image or video models, as far as both are alike. */
export const mediaRow = z.object({
  id: z.string().min(1).max(MODEL_ID_CHARS_MAX),
  name: z.string().min(1).max(MODEL_ID_CHARS_MAX).optional().catch(undefined),
  created: z.int().nonnegative().optional().catch(undefined),
});
export type MediaRow = z.infer<typeof mediaRow>;

/** The answer's rows, not read yet. */
export const rowList = z.object({ data: z.array(z.unknown()).max(MODELS_MAX) });
const named = z.object({ id: z.string().max(MODEL_ID_CHARS_MAX) });

/** The first model of each id. `toModel` answers `null` for a row that cannot be served. */
export function readRows<M extends { id: string }>(
  rows: readonly unknown[],
  toModel: (row: unknown) => M | null,
): ImportedList<M> {
  const models = new Map<string, M>();
  const notServed = new Set<string>();
  for (const row of rows) {
    const model = toModel(row);
    if (model === null) {
      const nameOnly = named.safeParse(row);
      if (nameOnly.success) notServed.add(nameOnly.data.id);
    } else if (!models.has(model.id)) models.set(model.id, model);
  }
  return { models: [...models.values()], notServed: [...notServed] };
}
