import { z } from 'zod';
import { DAY_MS } from '#core/clock.ts';
import { RESULT_LINK_MS } from '#core/limits.ts';
import { usdNumber } from './money.ts';

/* Only the document is made from these: answers are written as their images come, and are not parsed again. */

const count = () => z.int().nonnegative();

const mediaType = z
  .enum(['image/png', 'image/jpeg', 'image/webp', 'image/gif'])
  .meta({ description: 'What the image is.' });

const ImageUsage = z
  .looseObject({
    prompt_tokens: count().meta({ description: '0 where the model is not billed by tokens.' }),
    completion_tokens: count(),
    total_tokens: count(),
    cost: usdNumber(),
  })
  .meta({ id: 'ImageUsage' });

const image = {
  url: z.url().optional().meta({ description: 'With `response_format: url`; no key is sent there.' }),
  expires_at: z.iso
    .datetime()
    .optional()
    .meta({ description: `When \`url\` stops working: ${RESULT_LINK_MS / DAY_MS} days from now.` }),
  b64_json: z.string().optional().meta({ description: 'With `response_format: b64_json`.' }),
  media_type: mediaType,
};

export const ImageAnswer = z
  .looseObject({
    created: count().meta({ description: 'Unix seconds.' }),
    data: z
      .array(z.looseObject(image).meta({ id: 'GeneratedImage' }))
      .meta({ description: 'May be fewer than `n`.' }),
    usage: ImageUsage,
  })
  .meta({ id: 'ImageAnswer' });

export const ImageEvent = z
  .looseObject({
    type: z.enum(['image_generation.partial_image', 'image_generation.completed', 'error']),
    partial_image_index: count().optional(),
    ...image,
    media_type: mediaType.optional(),
    created: count().optional(),
    usage: ImageUsage.optional(),
    error: z
      .looseObject({ message: z.string(), type: z.string(), code: z.string(), param: z.string().nullable() })
      .optional()
      .meta({ id: 'ImageEventError' }),
  })
  .meta({ id: 'ImageStreamEvent', description: 'The last line is `data: [DONE]`.' });
