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

/** A request for images or videos as it was read, or why it is refused. */
export type Reading<Request> =
  | { ok: true; request: Request }
  | { ok: false; status: number; message: string };

export const refused = (status: number, message: string) => ({ ok: false, status, message }) as const;

/** The facts of a call at which the conditions of a rule look. */
export const callOf = ({ model, prompt }: { model: { id: string }; prompt: string }) => ({
  model: model.id,
  lastUserText: prompt,
});

export const image = z.looseObject({
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

/** As the real one reads it: a field or shape that the model does not list is dropped. What is made is billed. */
export function readImageRequest(body: unknown, seed: string): Reading<ImageRequest> {
  const parsed = imageBody.safeParse(body);
  if (!parsed.success) return refused(400, z.prettifyError(parsed.error));
  const { data } = parsed;
  const model = findSimImageModel(data.model);
  if (model === undefined) return refused(404, `No image model ${data.model}`);
  const { parameters, endpoints } = model;
  const only = data.provider?.only;
  const endpoint = only === undefined ? endpoints[0] : endpoints.find(({ tag }) => only.includes(tag));
  if (endpoint === undefined) return refused(404, 'No allowed providers are available');
  const resolution = 'resolution' in parameters ? data.resolution : '1K';
  const ratios = parameters.aspect_ratio;
  const isListed = ratios?.type === 'enum' && ratios.values.includes(data.aspect_ratio);
  const images = 'n' in parameters ? data.n : 1;
  const made = {
    images,
    ...sides(resolution, isListed ? data.aspect_ratio : '1:1'),
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
