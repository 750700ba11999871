import { z } from 'zod';
import type { ImageModel } from '#core/catalog/image-model.ts';
import type { ImportedList, ListReading } from '#core/catalog/import-source.ts';
import { ABOUT_ENTRIES_MAX } from '#core/limits.ts';
import { isServableId } from '../../servable-id.ts';
import { fetchMediaList } from './fetch-media-list.ts';
import { imageEndpoint, toImageModel } from './import-image-endpoint.ts';
import { type MediaRow, mediaRow, rowList } from './read-rows.ts';

/** Image models whose prices are fetched at one time. */
export const IMAGE_ENDPOINT_FETCHES = 4;

const endpoints = z.object({ endpoints: z.array(z.unknown()).max(ABOUT_ENTRIES_MAX) });
const endpointsAnswer = z.union([endpoints, z.object({ data: endpoints }).transform(({ data }) => data)]);

/** `GET /images/models` names the models, and each one's endpoints, a few asked for at once, have its prices. */
export async function readImageModels({
  provider,
  fetchJson,
  before,
}: ListReading<ImageModel>): Promise<ImportedList<ImageModel> | null> {
  const answer = await fetchMediaList(fetchJson, provider, '/images/models');
  if (answer === null) return { models: [], notServed: [] };
  const parsed = rowList.safeParse(answer);
  if (!parsed.success) return null;
  const rows = parsed.data.data.flatMap((each) => mediaRow.safeParse(each).data ?? []);
  const known = new Map(before?.models.map((model) => [model.id, model]));
  const models = new Map<string, ImageModel>();
  const notServed = new Set<string>();
  const failures: unknown[] = [];

  async function read(row: MediaRow): Promise<void> {
    if (!isServableId(row.id)) {
      notServed.add(row.id);
      return;
    }
    try {
      const path = `/images/models/${row.id.split('/').map(encodeURIComponent).join('/')}/endpoints`;
      const model = chooseEndpoint(await fetchJson(provider, path), row, provider.id);
      if (model === null) notServed.add(row.id);
      else models.set(row.id, model);
    } catch (error) {
      failures.push(error);
      const old = known.get(row.id);
      if (old !== undefined) models.set(row.id, old);
    }
  }

  const waiting = rows.values();
  const readOn = async (): Promise<void> => {
    for (const row of waiting) await read(row);
  };
  await Promise.all(Array.from({ length: IMAGE_ENDPOINT_FETCHES }, readOn));
  // Of an outage in the middle nothing is believed; single answers that fail cost no more than their models.
  if (failures.length > 0 && failures.length === rows.length) throw failures[0];
  const inOrder = rows.flatMap(({ id }) => models.get(id) ?? []);
  return { models: [...new Set(inOrder)], notServed: [...notServed] };
}

/** The one that is pinned: of those with a bound the first of no special tier, so that its prices are the call's. */
function chooseEndpoint(answer: unknown, row: MediaRow, providerId: string): ImageModel | null {
  const parsed = endpointsAnswer.safeParse(answer);
  if (!parsed.success) return null;
  const all = parsed.data.endpoints;
  const usable = all.flatMap((each) => {
    const endpoint = imageEndpoint.safeParse(each);
    return endpoint.success ? (toImageModel(row, endpoint.data, providerId) ?? []) : [];
  });
  // One that cannot be pinned must be the only one.
  const pinned = usable.filter(({ endpointTag }) => endpointTag !== null || all.length === 1);
  return pinned.find(({ endpointTag }) => !TIER.test(endpointTag ?? '')) ?? pinned[0] ?? null;
}

const TIER = /\/(priority|flex|fast|batch)$/;
