import { z } from 'zod';
import { type FrameType, frameTypes, type VideoModel } from '#core/catalog/video-model.ts';
import { VIDEO_PROMPT_CHARS_MAX } from '#core/limits.ts';
import { imageLink, modelId, wholeNumber } from './request-fields.ts';

/** A 32-bit integer without its sign: what every provider takes. */
const SEED_MAX = 2_147_483_647;

/** What the fields of an order may hold: of one model, or of any. */
type VideoFields = Pick<
  VideoModel,
  | 'supportedDurations'
  | 'supportedResolutions'
  | 'supportedAspectRatios'
  | 'supportedFrameImages'
  | 'maxInputReferences'
  | 'generateAudio'
  | 'seed'
  | 'extends'
>;

/**
 * Spec: Video request fields. Each refusal names the field and the values that this model allows; with `null` for the model, the
 * values of any model, as the document shows them. Optional fields may be null and arrays empty, which counts as absent. Any other
 * field is refused by name: if it were dropped, the caller would pay for a video without it.
 */
export function videoRequest(model: VideoFields | null) {
  return z.strictObject(
    {
      model: videoModelId,
      prompt: prompt.nullish().meta({
        description: `Up to ${VIDEO_PROMPT_CHARS_MAX} characters. Required unless the video starts from images or carries one on.`,
      }),
      duration: duration(model?.supportedDurations ?? null).meta({
        description: "Seconds; one of the model's `supported_durations`.",
      }),
      resolution: listed(model?.supportedResolutions ?? null).meta({
        description: "One of the model's `supported_resolutions`.",
        examples: ['720p'],
      }),
      aspect_ratio: listed(model?.supportedAspectRatios ?? null).meta({
        description: "One of the model's `supported_aspect_ratios`.",
        examples: ['16:9'],
      }),
      generate_audio: audio(model?.generateAudio ?? true)
        .nullish()
        .meta({ description: 'Only for models with `generate_audio: true`; off when omitted.' }),
      seed: seed(model?.seed ?? true)
        .nullish()
        .meta({
          description: 'Only for models with `seed: true`; same seed and settings give a similar video.',
        }),
      frame_images: frameImages(model?.supportedFrameImages ?? null)
        .nullish()
        .meta({
          description:
            "Images that the video starts and ends with, each at most once, as the model's `supported_frame_images` allow. " +
            'A last frame needs a first one, unless the model takes last frames alone.',
        }),
      input_references: inputReferences(model?.maxInputReferences ?? null)
        .nullish()
        .meta({
          description:
            "Images of what is to be seen; at most the model's `max_input_references`. Not together with `frame_images`.",
        }),
      previous_job_id: previousJobId(model?.extends ?? true)
        .nullish()
        .meta({
          description:
            "One of this agent's completed videos to carry on; only for models with `extends: true`.",
        }),
    },
    { error: 'an object' },
  );
}

const videoModelId = modelId().meta({ description: 'An id from `GET /videos/models`.' });

/** Read first: what the other fields may hold depends on it. */
export const VideoRequestModel = z.looseObject({ model: videoModelId });

const promptError = `a string of at most ${VIDEO_PROMPT_CHARS_MAX} characters`;
const prompt = z
  .string({ error: promptError })
  .refine(fitsPrompt, { error: promptError })
  .meta({ maxLength: VIDEO_PROMPT_CHARS_MAX });

/** Characters, not halves of them: an emoji is one. */
function fitsPrompt(text: string): boolean {
  if (text.length <= VIDEO_PROMPT_CHARS_MAX) return true;
  if (text.length > 2 * VIDEO_PROMPT_CHARS_MAX) return false;
  return Array.from(text).length <= VIDEO_PROMPT_CHARS_MAX;
}

function duration(durations: readonly number[] | null) {
  const error =
    durations === null
      ? 'a whole number of seconds'
      : `${durations.length > 1 ? 'one of ' : ''}${durations.join(', ')} (whole seconds)`;
  const seconds = z.int({ error }).min(1, { error });
  return durations === null ? seconds : seconds.refine((value) => durations.includes(value), { error });
}

function listed(values: readonly string[] | null) {
  const error = values === null ? "one of the model's values" : oneOf(values);
  return values === null
    ? z.string({ error })
    : z.string({ error }).refine((value) => values.includes(value), { error });
}

const quoted = (value: string): string => `\`${value}\``;
const oneOf = (values: readonly string[]): string =>
  `${values.length > 1 ? 'one of ' : ''}${values.map(quoted).join(', ')}`;

function audio(makesAudio: boolean) {
  const error = makesAudio ? '`true` or `false`' : '`false` or left out: this model makes no sound';
  return z.boolean({ error }).refine((value) => makesAudio || !value, { error });
}

function seed(takesSeed: boolean) {
  const error = takesSeed ? `a whole number from 0 to ${SEED_MAX}` : 'left out: this model takes no seed';
  return wholeNumber(0, SEED_MAX, error).refine(() => takesSeed, { error });
}

const link = imageLink('VideoImageUrl');

function frameImages(supported: readonly FrameType[] | null) {
  const frames = supported ?? frameTypes;
  const none = frames.length === 0;
  const error = none
    ? 'left out: this model takes no frame images'
    : `an array of at most ${frames.length} image${frames.length === 1 ? '' : 's'}, one for each of ${frames.map(quoted).join(', ')}`;
  const frame = z.enum(frames, { error: oneOf(frames) });
  return z
    .array(
      z.strictObject({ ...link, frame_type: frame }, { error: 'an object' }).meta({
        ...(supported === null ? { id: 'VideoFrame' } : {}),
        description: 'An image that the video starts or ends with.',
      }),
      { error },
    )
    .max(frames.length, { error });
}

function inputReferences(max: number | null) {
  const error =
    max === 0 ? 'left out: this model takes no reference images' : `an array of at most ${max} images`;
  const array = z.array(
    z.strictObject(link, { error: 'an object' }).meta({
      ...(max === null ? { id: 'VideoReference' } : {}),
      description: 'An image of what is to be seen.',
    }),
    { error: max === null ? 'an array of images' : error },
  );
  return max === null ? array : array.max(max, { error });
}

const VIDEO_ID = /^vid_[0-9A-Za-z]{20}$/;
export const isVideoId = (text: string): boolean => VIDEO_ID.test(text);

function previousJobId(canExtend: boolean) {
  const error = canExtend
    ? 'the id of one of your completed videos'
    : 'left out: this model carries no video on';
  return z.string({ error }).refine((text) => canExtend && isVideoId(text), { error });
}

/** As the document shows it. */
export const VideoRequest = videoRequest(null).meta({ id: 'VideoRequest' });
export type VideoRequest = z.infer<typeof VideoRequest>;
