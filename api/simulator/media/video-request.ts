import { hash } from 'node:crypto';
import { z } from 'zod';
import { findSimVideoModel, type SimVideo, type SimVideoModel, sidesOf } from './video-models.ts';

export interface VideoRequest {
  model: SimVideoModel;
  prompt: string;
  video: SimVideo;
  /** Of the request and the simulator's seed. */
  digest: string;
}

export type VideoReading =
  | { ok: true; request: VideoRequest }
  | { ok: false; status: number; message: string };

const image = z.looseObject({
  type: z.literal('image_url'),
  image_url: z.looseObject({ url: z.string().min(1) }),
});

const videoBody = z.looseObject({
  model: z.string(),
  prompt: z.string().max(32_000).default(''),
  duration: z.int().min(1).optional(),
  resolution: z.string().optional(),
  aspect_ratio: z.string().optional(),
  generate_audio: z.boolean().optional(),
  seed: z.int().optional(),
  frame_images: z
    .array(image.extend({ frame_type: z.enum(['first_frame', 'last_frame']) }))
    .max(2)
    .default([]),
  input_references: z.array(image).max(16).default([]),
});

/** As the real one reads it: what is left out has a default, sound is on where the model can, unknown fields pass. */
export function readVideoRequest(body: unknown, seed: string): VideoReading {
  const parsed = videoBody.safeParse(body);
  if (!parsed.success) return { ok: false, status: 400, message: z.prettifyError(parsed.error) };
  const { data } = parsed;
  const model = findSimVideoModel(data.model);
  if (model === undefined) return { ok: false, status: 404, message: `No video model ${data.model}` };
  const resolution = data.resolution ?? model.resolutions?.[0] ?? '480p';
  const aspectRatio = data.aspect_ratio ?? model.aspectRatios?.[0] ?? '16:9';
  const seconds = data.duration ?? model.durations?.[0] ?? 1;
  for (const [name, value, listed] of [
    ['resolution', resolution, model.resolutions],
    ['aspect_ratio', aspectRatio, model.aspectRatios],
    ['duration', seconds, model.durations],
  ] as const) {
    if (listed === null || (listed as readonly unknown[]).includes(value)) continue;
    return { ok: false, status: 400, message: `${name} ${value} is not supported` };
  }
  const images = data.frame_images.length > 0 ? data.frame_images : data.input_references;
  if (data.prompt === '' && images.length === 0)
    return { ok: false, status: 400, message: 'prompt is missing' };
  const sound = data.generate_audio ?? model.generateAudio === true;
  const video = {
    seconds,
    ...sidesOf(resolution, aspectRatio),
    resolution,
    sound,
    images: images.length,
  };
  const digest = hash('sha256', JSON.stringify([seed, data]));
  return { ok: true, request: { model, prompt: data.prompt, video, digest } };
}
