import { MODEL_ID_CHARS_MAX } from '../limits.ts';
import type { CatalogEntry } from './catalog.ts';
import type { ImportedList } from './import-source.ts';
import { createNearestNames, type NearestNames } from './nearest-names.ts';

/** Everything that is asked of one kind of models, made anew when any of it changes and never changed after. */
export interface ServedModels<M> {
  models: readonly M[];
  served: ReadonlyMap<string, M>;
  /** Of lists that are too old: their prices may be wrong by now. */
  outdated: ReadonlySet<string>;
  notServed: ReadonlySet<string>;
  nearest: NearestNames;
}

/**
 * An id that stands in several places is served by the first of: the configuration, then the providers' lists
 * in the configuration's order. Endpoints are never mixed, because contexts and prices of one id differ by
 * provider.
 */
export function serveModels<M extends { id: string }>({
  own,
  lists,
  stopped: stoppedIds,
  finish,
}: {
  own: readonly M[];
  lists: readonly (ImportedList<M> & { stale: boolean })[];
  stopped: readonly string[];
  /** Puts the operator's margin into its prices. */
  finish: (model: M) => M;
}): ServedModels<M> {
  const stopped = new Set(stoppedIds);
  const served = new Map<string, M>();
  const fresh = lists.filter((list) => !list.stale);
  const outdated = lists.filter((list) => list.stale).flatMap((list) => list.models.map(({ id }) => id));
  for (const model of [...own, ...fresh.flatMap((list) => list.models)]) {
    if (!served.has(model.id) && !stopped.has(model.id)) served.set(model.id, finish(model));
  }
  const models = [...served.values()];
  return {
    models,
    served,
    outdated: new Set(outdated.filter((id) => !stopped.has(id))),
    notServed: new Set([...stopped, ...lists.flatMap((list) => list.notServed)]),
    nearest: createNearestNames(models.map((model) => model.id)),
  };
}

/** @param mayExist A list that could name it is missing, or all are old. */
export function findModel<M>(
  { served, outdated, notServed, nearest }: ServedModels<M>,
  modelId: string,
  mayExist: () => boolean,
): CatalogEntry<M> {
  const model = served.get(modelId);
  if (model !== undefined) return { status: 'served', model };
  if (outdated.has(modelId)) return { status: 'unavailable' };
  if (notServed.has(modelId)) return { status: 'not_served' };
  if (modelId.length > MODEL_ID_CHARS_MAX) return { status: 'unknown', nearest: [] };
  if (mayExist()) return { status: 'unavailable' };
  return {
    status: 'unknown',
    // Searched only when a message is written: ids with a steering suffix miss here on every call.
    get nearest() {
      return nearest(modelId);
    },
  };
}
