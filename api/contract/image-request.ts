import { z } from 'zod';
import type { ImageModel, ImageParameter } from '#core/catalog/image-model.ts';
import { DAY_MS } from '#core/clock.ts';
import { IMAGE_PROMPT_CHARS_MAX, IMAGE_REFERENCES_MAX, IMAGES_MAX, RESULT_LINK_MS } from '#core/limits.ts';
import { type ApiError, apiError } from './errors.ts';
import { imageLink, modelId } from './request-fields.ts';

const promptError = `a string of 1 to ${IMAGE_PROMPT_CHARS_MAX} characters, not blank`;
const referencesError = `an array of at most ${IMAGE_REFERENCES_MAX} images`;
const formatError = '`url` or `b64_json`';

const reference = z
  .strictObject(imageLink('ImageReferenceUrl'), { error: 'an object' })
  .meta({ id: 'ImageReference', description: 'An image that the model reads.' });

/** What every model takes. Optional fields may be null, and arrays empty, which counts as absent. */
const common = {
  model: modelId().meta({ description: 'An id from `GET /images/models`.' }),
  prompt: z
    .string({ error: promptError })
    .min(1, { error: promptError })
    .max(IMAGE_PROMPT_CHARS_MAX, { error: promptError })
    .refine((text) => text.trim() !== '', { error: promptError }),
  input_references: z
    .array(reference, { error: referencesError })
    .max(IMAGE_REFERENCES_MAX, { error: referencesError })
    .nullish()
    .meta({ description: 'Images to start from; only for models with `reads_images: true`.' }),
  stream: z.boolean({ error: 'a boolean' }).nullish().meta({
    description:
      'Partial images by server-sent events; `true` only for models with `streaming: true`, and for one image.',
  }),
  response_format: z
    .enum(['url', 'b64_json'], { error: formatError })
    .nullish()
    .meta({
      description:
        `A link that lives ${RESULT_LINK_MS / DAY_MS} days, or the image itself, which is then not stored. ` +
        'Default `url`.',
    }),
};

/** Its other fields are as each model lists them. */
export const CommonImageRequest = z.looseObject(common, { error: 'an object' });
export type CommonImageRequest = z.infer<typeof CommonImageRequest>;

const COMMON_FIELDS: ReadonlySet<string> = new Set(Object.keys(common));

const text = (description: string) => z.string().nullish().meta({ description });

/** As the document shows it. */
export const ImageRequest = z
  .looseObject({
    ...common,
    n: z.int().min(1).max(IMAGES_MAX).nullish().meta({ description: 'At most so many images.' }),
    resolution: text('Such as `1K`.'),
    aspect_ratio: text('Such as `16:9`.'),
    size: text('A tier, or pixels such as `1024x1024`.'),
    quality: text('Such as `low`.'),
    output_format: text('`png`, `jpeg` or `webp`.'),
    output_compression: z.int().min(0).max(100).nullish(),
    background: text('Such as `transparent`.'),
    seed: z.int().nullish(),
  })
  .meta({
    id: 'ImageRequest',
    description:
      'Besides `model`, `prompt`, `input_references`, `stream` and `response_format` only the fields of the model’s ' +
      '`parameters` are taken, with the values listed there; any other is refused by name.',
  });

/** A generated client sends `null` for each field of the document that is not set. */
const DOCUMENTED_FIELDS: ReadonlySet<string> = new Set(Object.keys(ImageRequest.shape));

/** What is sent to the provider of a model's own fields; whichever the model does not list is refused by name. */
export function readImageParameters(
  { id, parameters }: Pick<ImageModel, 'id' | 'parameters'>,
  body: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, Parameter> | ApiError {
  const read = new Map<string, Parameter>();
  for (const [name, value] of Object.entries(body)) {
    if (COMMON_FIELDS.has(name)) continue;
    const parameter = parameters.get(name);
    if (value === null && (parameter !== undefined || DOCUMENTED_FIELDS.has(name))) continue;
    if (parameter === undefined) return notListed(name, id, [...parameters.keys()]);
    const wanted = wantedOf(name, parameter);
    if (!isListed(wanted, value)) {
      return apiError('invalid_request', {
        param: shown(name),
        message: `\`${shown(name)}\` has to be ${describeExpected(wanted)}.`,
      });
    }
    read.set(name, value);
  }
  return read;
}

export type Parameter = string | number | boolean;

/** Leaves out formats that the gateway does not accept, and counts above the limit of one answer. */
function wantedOf(name: string, parameter: ImageParameter): ImageParameter {
  if (parameter.type === 'enum')
    return { type: 'enum', values: parameter.values.filter((value) => value !== 'svg') };
  return name === 'n' ? { ...parameter, max: Math.min(parameter.max, IMAGES_MAX) } : parameter;
}

function isListed(wanted: ImageParameter, value: unknown): value is Parameter {
  if (wanted.type === 'enum') return wanted.values.some((each) => each === value);
  const { min, max } = wanted;
  if (typeof value !== 'number' || value < min || value > max) return false;
  return !isWhole(wanted) || Number.isSafeInteger(value);
}

const isWhole = ({ min, max }: { min: number; max: number }): boolean =>
  Number.isInteger(min) && Number.isInteger(max);

function describeExpected(wanted: ImageParameter): string {
  if (wanted.type === 'range')
    return `a ${isWhole(wanted) ? 'whole number' : 'number'} from ${wanted.min} to ${wanted.max}`;
  const values = wanted.values.map((value) => `\`${value}\``);
  return values.length === 1 ? `${values[0]}` : `one of ${values.join(', ')}`;
}

function notListed(name: string, modelId: string, listed: readonly string[]): ApiError {
  const takes =
    listed.length === 0
      ? 'no fields of its own'
      : `only ${listed.map((each) => `\`${each}\``).join(', ')} of such fields`;
  return apiError('invalid_request', {
    param: shown(name),
    message: `\`${shown(name)}\` is not taken by the model \`${modelId}\`, which takes ${takes}.`,
  });
}

/** A key is the caller's text: shown only this far. */
const shown = (name: string): string => name.slice(0, 64);
