import { hash } from 'node:crypto';
import { z } from 'zod';
import { image, type Reading, refused } from './image-request.ts';
import { findSimVideoModel, type SimVideo, type SimVideoModel, sidesOf } from './video-models.ts';

export interface VideoRequest {
  model: SimVideoModel;
  prompt: string;
  video: SimVideo;
  /** Of the request and the simulator's seed. */
  digest: string;
}

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
export function readVideoRequest(body: unknown, seed: string): Reading<VideoRequest> {
  const parsed = videoBody.safeParse(body);
  if (!parsed.success) return refused(400, z.prettifyError(parsed.error));
  const { data } = parsed;
  const model = findSimVideoModel(data.model);
  if (model === undefined) return refused(404, `No video model ${data.model}`);
  const resolution = chosen(data.resolution, model.resolutions, '480p');
  const aspectRatio = chosen(data.aspect_ratio, model.aspectRatios, '16:9');
  const seconds = chosen(data.duration, model.durations, 1);
  for (const [name, value, listed] of [
    ['resolution', resolution, model.resolutions],
    ['aspect_ratio', aspectRatio, model.aspectRatios],
    ['duration', seconds, model.durations],
  ] as const) {
    if (listed === null || (listed as readonly unknown[]).includes(value)) continue;
    return refused(400, `${name} ${value} is not supported`);
  }
  const images = data.frame_images.length > 0 ? data.frame_images : data.input_references;
  if (data.prompt === '' && images.length === 0) return refused(400, 'prompt is missing');
  const sound = data.generate_audio ?? model.generateAudio === true;
  const sides = sidesOf(resolution, aspectRatio);
  const video = { seconds, ...sides, resolution, sound, images: images.length };
  const digest = hash('sha256', JSON.stringify([seed, data]));
  return { ok: true, request: { model, prompt: data.prompt, video, digest } };
}

/** A model that lists nothing makes the same video whatever is asked for, because there is a file for it. */
const chosen = <T>(asked: T | undefined, listed: readonly T[] | null, otherwise: T): T =>
  listed === null ? otherwise : (asked ?? listed[0] ?? otherwise);
