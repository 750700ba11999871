import { DAY_MS } from '#core/clock.ts';
import { GIGABYTE, RESULT_LINK_MS, RESULTS_BYTES_MAX } from '#core/limits.ts';
import { errorsOfCall } from '../contract/errors.ts';
import { imageExamples } from '../contract/examples.ts';
import { ImageAnswer, ImageEvent } from '../contract/image-answer.ts';
import { ImageRequest } from '../contract/image-request.ts';
import { rawRoute, t } from './trpc.ts';

export const imagesRouter = t.router({
  create: rawRoute(
    {
      method: 'POST',
      path: '/images',
      operationId: 'createImage',
      reserves: true,
      tag: 'Images',
      summary: 'Create images',
      description:
        'Runs an image model; `GET /images/models` lists them with the fields and prices of each. The worst-case cost is ' +
        'held from the balance when the call starts, and the real cost (`usage.cost`) is charged when it ends. The answer ' +
        `has links that live ${RESULT_LINK_MS / DAY_MS} days, or the images themselves with ` +
        `\`response_format: b64_json\`. Stored images may take ${RESULTS_BYTES_MAX / GIGABYTE} GB an agent. ` +
        'With `stream: true` partial images come as server-sent events, ended by `data: [DONE]`.',
      errors: errorsOfCall('image'),
      headers: ['x-service-call-id', 'x-request-id', 'x-generation-id', 'x-hold-usd'],
      event: ImageEvent,
      examples: imageExamples,
    },
    { request: ImageRequest, answer: ImageAnswer },
    (call) => call.deps.runImage(call),
  ),
});
