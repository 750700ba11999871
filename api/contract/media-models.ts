import { z } from 'zod';
import { billables, billedUnits, type ImageModel, type ImagePrice } from '#core/catalog/image-model.ts';
import { frameTypes, type VideoModel } from '#core/catalog/video-model.ts';
import { fromPriceNanoUsd } from '#core/catalog/video-price.ts';
import { formatAttoUsd, formatUsd } from '#core/money.ts';

const id = z.string().meta({ description: 'Sent as `model`.', examples: ['acme/clip'] });
const name = z.string().meta({ description: 'For people.' });

const VideoDuration = z.int().positive().meta({ id: 'VideoDuration', description: 'Whole seconds.' });

/** Spec: Video model entry. */
const VideoModelEntry = z
  .object({
    id,
    object: z.literal('model'),
    name,
    supported_resolutions: z.array(z.string()).meta({ examples: [['720p', '1080p']] }),
    supported_aspect_ratios: z.array(z.string()).meta({ examples: [['16:9', '9:16']] }),
    supported_durations: z.array(VideoDuration).meta({ description: 'Ascending.' }),
    supported_frame_images: z
      .array(z.enum(frameTypes))
      .meta({ description: 'For which of its frames an image may be given.' }),
    max_input_references: z.int().nonnegative().meta({ description: '0: it takes none.' }),
    generate_audio: z.boolean().meta({ description: 'Whether it can make sound.' }),
    seed: z.boolean().meta({ description: 'Whether it takes a seed.' }),
    extends: z.boolean().meta({ description: 'Whether it carries an earlier video on.' }),
    from_price: z
      .string()
      .meta({ description: 'US dollars, exact: the shortest, smallest video, silent.', examples: ['0.05'] }),
  })
  .meta({ id: 'VideoModel' });

export const VideoModelList = z
  .object({ object: z.literal('list'), data: z.array(VideoModelEntry) })
  .meta({ id: 'VideoModelList' });
export type VideoModelList = z.infer<typeof VideoModelList>;

const ImageModelValue = z.union([z.string(), z.number(), z.boolean()]).meta({ id: 'ImageModelValue' });

/** One object for both types: some generators cannot read a union. */
const ImageModelParameter = z
  .object({
    type: z.enum(['enum', 'range']),
    values: z
      .array(ImageModelValue)
      .optional()
      .meta({ description: 'Of an `enum`: what it takes, mostly strings.' }),
    min: z.number().optional().meta({ description: 'Of a `range`: the least.' }),
    max: z
      .number()
      .optional()
      .meta({ description: 'Of a `range`: the most; of `input_references`, how many.' }),
  })
  .meta({ id: 'ImageModelParameter', description: 'What one field takes.' });

export const ImageModelPrice = z
  .object({
    billable: z.enum(billables),
    unit: z.enum(billedUnits),
    usd: z.string().meta({ description: 'US dollars per unit, exact.', examples: ['0.02'] }),
    variant: z
      .string()
      .optional()
      .meta({ description: 'A tier or quality that the price is for, such as `2k` or `high`.' }),
  })
  .meta({ id: 'ImageModelPrice', description: 'One billed item.' });

/** Spec: Image model entry. */
const ImageModelEntry = z
  .object({
    id,
    object: z.literal('model'),
    name,
    reads_images: z.boolean().meta({ description: 'Whether it takes `input_references`.' }),
    streaming: z.boolean().meta({ description: 'Whether it streams partial images.' }),
    parameters: z.record(z.string(), ImageModelParameter).meta({
      description: 'Fields that it takes, by name. A field that is not listed is not taken.',
    }),
    pricing: z.array(ImageModelPrice),
  })
  .meta({ id: 'ImageModel' });

export const ImageModelList = z
  .object({ object: z.literal('list'), data: z.array(ImageModelEntry) })
  .meta({ id: 'ImageModelList' });
export type ImageModelList = z.infer<typeof ImageModelList>;

export const shapeVideoModels = (models: readonly VideoModel[]): VideoModelList => ({
  object: 'list',
  data: models.map((model) => ({
    id: model.id,
    object: 'model',
    name: model.name,
    supported_resolutions: [...model.supportedResolutions],
    supported_aspect_ratios: [...model.supportedAspectRatios],
    supported_durations: [...model.supportedDurations],
    supported_frame_images: [...model.supportedFrameImages],
    max_input_references: model.maxInputReferences,
    generate_audio: model.generateAudio,
    seed: model.seed,
    extends: model.extends,
    // A model of which no video has a price is not in the catalogue.
    from_price: formatUsd(fromPriceNanoUsd(model) ?? 0n),
  })),
});

export const shapeImageModels = (models: readonly ImageModel[]): ImageModelList => ({
  object: 'list',
  data: models.map((model) => ({
    id: model.id,
    object: 'model',
    name: model.name,
    reads_images: model.readsImages,
    streaming: model.streaming,
    parameters: Object.fromEntries(
      Array.from(model.parameters, ([field, parameter]) => [
        field,
        parameter.type === 'enum' ? { ...parameter, values: [...parameter.values] } : parameter,
      ]),
    ),
    pricing: model.pricing.map(shapeImagePrice),
  })),
});

export const shapeImagePrice = ({
  billable,
  unit,
  price,
  variant,
}: ImagePrice): z.infer<typeof ImageModelPrice> => ({
  billable,
  unit,
  usd: formatAttoUsd(price),
  ...(variant === null ? {} : { variant }),
});
