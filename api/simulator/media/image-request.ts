import { hash } from 'node:crypto';
import { z } from 'zod';
import type { AttoUsd } from '#core/money.ts';
import { textTokens } from '../tokens.ts';
import {
  findSimImageModel,
  IMAGE_TOKENS,
  type MadeImages,
  type SimImageEndpoint,
  type SimImageModel,
} from './image-models.ts';

export interface ImageRequest {
  model: SimImageModel;
  endpoint: SimImageEndpoint;
  prompt: string;
  stream: boolean;
  format: 'png' | 'webp';
  made: MadeImages;
  costAtto: AttoUsd;
  /** Of the request and the simulator's seed. */
  digest: string;
}

export type ImageReading =
  | { ok: true; request: ImageRequest }
  | { ok: false; status: number; message: string };

const image = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.looseObject({ url: z.string().min(1) }),
});

const imageBody = z.looseObject({
  model: z.string(),
  prompt: z.string().min(1),
  n: z.int().min(1).max(10).default(1),
  resolution: z.string().default('1K'),
  aspect_ratio: z.string().default('1:1'),
  output_format: z.string().default('png'),
  input_references: z.array(image).max(16).default([]),
  stream: z.boolean().default(false),
  provider: z.looseObject({ only: z.array(z.string()).optional() }).optional(),
});

/** As the real one reads it: a field that the model does not list is dropped, and what is made is billed. */
export function readImageRequest(body: unknown, seed: string): ImageReading {
  const parsed = imageBody.safeParse(body);
  if (!parsed.success) return { ok: false, status: 400, message: z.prettifyError(parsed.error) };
  const { data } = parsed;
  const model = findSimImageModel(data.model);
  if (model === undefined) return { ok: false, status: 404, message: `No image model ${data.model}` };
  const { parameters, endpoints } = model;
  const only = data.provider?.only;
  const endpoint = only === undefined ? endpoints[0] : endpoints.find(({ tag }) => only.includes(tag));
  if (endpoint === undefined)
    return { ok: false, status: 404, message: 'No allowed providers are available' };
  const resolution = 'resolution' in parameters ? data.resolution : '1K';
  const images = 'n' in parameters ? data.n : 1;
  const made = {
    images,
    ...sides(resolution, 'aspect_ratio' in parameters ? data.aspect_ratio : '1:1'),
    resolution,
    references: 'input_references' in parameters ? data.input_references.length : 0,
    promptTokens: textTokens(data.prompt),
    outputTokens: images * IMAGE_TOKENS,
  };
  return {
    ok: true,
    request: {
      model,
      endpoint,
      prompt: data.prompt,
      stream: data.stream && model.streaming,
      format: 'output_format' in parameters && data.output_format === 'webp' ? 'webp' : 'png',
      made,
      costAtto: endpoint.priceAtto(made),
      digest: hash('sha256', JSON.stringify([seed, data])),
    },
  };
}

/** Tiers are areas: whatever the shape, as many pixels as the square has. */
function sides(resolution: string, aspectRatio: string): { widthPx: number; heightPx: number } {
  const square = resolution === '512' ? 512 : resolution === '2K' ? 2048 : 1024;
  const [width = 1, height = 1] = aspectRatio.split(':').map(Number);
  const stretch = Math.sqrt(width / height);
  return { widthPx: Math.floor(square * stretch), heightPx: Math.floor(square / stretch) };
}
