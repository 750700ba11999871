import { z } from 'zod';
import type { ImportedList, ListReading } from '#core/catalog/import-source.ts';
import { priced } from '#core/catalog/priced-video-model.ts';
import { frameTypes, type VideoModel } from '#core/catalog/video-model.ts';
import { parseVideoSku } from '#core/catalog/video-sku.ts';
import { SECOND_MS } from '#core/clock.ts';
import { ABOUT_ENTRIES_MAX, IMAGE_REFERENCES_MAX } from '#core/limits.ts';
import { type AttoUsd, parseAttoUsd } from '#core/money.ts';
import { isServableId } from '../../servable-id.ts';
import { fetchMediaList } from './fetch-media-list.ts';
import { mediaRow, readRows, rowList } from './read-rows.ts';

/** Reads the list of video models. */
export async function readVideoModels({
  provider,
  fetchJson,
}: ListReading<VideoModel>): Promise<ImportedList<VideoModel> | null> {
  const answer = await fetchMediaList(fetchJson, provider, '/videos/models');
  return answer === null ? { models: [], notServed: [] } : importVideoModels(answer, provider.id);
}

const texts = z.array(z.string().min(1).max(32)).min(1).max(ABOUT_ENTRIES_MAX);

/** Only what we need, so that a new or odd field elsewhere in a row never costs us the model. */
const videoRow = mediaRow.extend({
  // `null` in rows of models that edit or upscale: what they make of a request cannot be said beforehand.
  supported_resolutions: texts,
  supported_aspect_ratios: texts,
  supported_durations: z.array(z.int().positive()).min(1).max(ABOUT_ENTRIES_MAX),
  supported_frame_images: z.array(z.string()).max(ABOUT_ENTRIES_MAX).nullish().catch(null),
  generate_audio: z.boolean().nullish().catch(null),
  seed: z.boolean().nullish().catch(null),
  max_input_references: z.int().min(0).max(IMAGE_REFERENCES_MAX).optional().catch(undefined),
  pricing_skus: z.record(z.string(), z.string()),
});
type VideoRow = z.infer<typeof videoRow>;

/** Reads an answer of `GET /videos/models` in OpenRouter's dialect. `null`: it is no such list. */
export function importVideoModels(answer: unknown, providerId: string): ImportedList<VideoModel> | null {
  const parsed = rowList.safeParse(answer);
  if (!parsed.success) return null;
  return readRows(parsed.data.data, (each) => {
    const row = videoRow.safeParse(each);
    return row.success ? toVideoModel(row.data, providerId) : null;
  });
}

function toVideoModel(row: VideoRow, providerId: string): VideoModel | null {
  const skus = readSkus(row.pricing_skus);
  if (skus === null || !isServableId(row.id)) return null;
  return priced({
    id: row.id,
    name: row.name ?? row.id,
    createdAtMs: row.created === undefined ? null : row.created * SECOND_MS,
    supportedResolutions: [...new Set(row.supported_resolutions)],
    supportedAspectRatios: [...new Set(row.supported_aspect_ratios)],
    supportedDurations: [...new Set(row.supported_durations)].sort((a, b) => a - b),
    supportedFrameImages: frameTypes.filter((type) => row.supported_frame_images?.includes(type)),
    maxInputReferences: row.max_input_references ?? 0,
    // Not said is no: what nobody says it can do is not sold.
    generateAudio: row.generate_audio === true,
    seed: row.seed === true,
    // Nothing of the dialect carries a video on.
    extends: false,
    providerId,
    upstreamModel: row.id,
    skus,
  });
}

/** `null`: one cannot be read, or bills by what nobody knows, or all are free. */
function readSkus(rows: Readonly<Record<string, string>>): Map<string, AttoUsd> | null {
  const skus = new Map<string, AttoUsd>();
  for (const [key, text] of Object.entries(rows)) {
    const price = parseAttoUsd(text);
    if (price === null || parseVideoSku(key) === null) return null;
    skus.set(key, price);
  }
  return [...skus.values()].some((price) => price > 0n) ? skus : null;
}
