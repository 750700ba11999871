import { z } from 'zod';
import { frameTypes } from '#core/catalog/video-model.ts';
import { parseVideoSku } from '#core/catalog/video-sku.ts';
import { ABOUT_ENTRIES_MAX, IMAGE_REFERENCES_MAX } from '#core/limits.ts';
import { mediaModelId, modelStopSwitch, price, text, upstreamPlace, wholeNumber } from './values.ts';

const shortText = text(32);
const some = <T extends z.ZodType>(value: T) => z.array(value).min(1).max(ABOUT_ENTRIES_MAX);

const skuName = z
  .string()
  .max(128)
  .refine((key) => parseVideoSku(key) !== null, 'is no price key of a router, such as duration_seconds_720p');

export const videoModelFile = z.strictObject({
  id: mediaModelId,
  name: text(256).optional().describe('Name for people; else the id, or what its list says.'),
  ...upstreamPlace,
  resolutions: some(shortText).optional().describe('Resolutions that it makes, as "720p".'),
  aspectRatios: some(shortText).optional().describe('Aspect ratios that it makes, as "16:9".'),
  durations: some(wholeNumber(1, 3_600)).optional().describe('Lengths that it makes, in whole seconds.'),
  frameImages: z
    .array(z.enum(frameTypes))
    .max(frameTypes.length)
    .optional()
    .describe('Which of its frames an image may be given for.'),
  maxInputReferences: wholeNumber(0, IMAGE_REFERENCES_MAX)
    .optional()
    .describe('Images that it takes as references. Of an imported model, too: no list says it.'),
  generateAudio: z.boolean().optional().describe('Whether it can make sound.'),
  seed: z.boolean().optional().describe('Whether it takes a seed.'),
  extends: z
    .boolean()
    .optional()
    .describe('Whether it carries an earlier video on. Of an imported model, too: no list says it.'),
  pricing: z
    .record(skuName, price)
    .optional()
    .describe(
      "Prices by the router's own keys, as decimal strings: dollars, or cents where the key says so; the margin is added by priceFactor.",
    ),
  stopped: modelStopSwitch,
});
export type VideoModelFile = z.infer<typeof videoModelFile>;
