import type { CatalogEntry } from '#core/catalog/catalog.ts';
import { type ApiError, apiError } from '../../contract/errors.ts';

/** A model's id as messages repeat it. */
export const shorten = (id: string): string =>
  id.length > MODEL_ID_CHARS_SHOWN ? `${id.slice(0, MODEL_ID_CHARS_SHOWN)}…` : id;

const MODEL_ID_CHARS_SHOWN = 100;

/** As refusals name them, with where they are listed. */
const lists = {
  model: 'GET /models',
  'image model': 'GET /images/models',
  'video model': 'GET /videos/models',
} as const;
export type ModelKind = keyof typeof lists;

/** Why an id names no served model of its kind. */
export function refuseModel(
  kind: ModelKind,
  entry: Exclude<CatalogEntry<unknown>, { status: 'served' }>,
  id: string,
  param = 'model',
): ApiError {
  switch (entry.status) {
    case 'not_served':
      return modelNotServed(kind, id, param);
    case 'unavailable':
      return apiError('catalog_unavailable', { param });
    case 'unknown':
      return unknownModel(kind, id, param, entry.nearest);
    default:
      return entry satisfies never;
  }
}

export const modelNotServed = (kind: ModelKind, id: string, param: string): ApiError =>
  apiError('model_not_served', {
    param,
    message: `The model \`${shorten(id)}\` is not served here; \`${lists[kind]}\` lists those that are.`,
  });

export function unknownModel(
  kind: ModelKind,
  id: string,
  param: string,
  nearest: readonly string[],
): ApiError {
  const hint =
    nearest.length === 0
      ? `\`${lists[kind]}\` lists those that are served.`
      : `Did you mean ${nearest.map((name) => `\`${name}\``).join(' or ')}?`;
  return apiError('unknown_model', { param, message: `No ${kind} has the id \`${shorten(id)}\`. ${hint}` });
}
