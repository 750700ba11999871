import { imageModelsExample, videoModelsExample } from '../contract/examples.ts';
import { ImageModelList, VideoModelList } from '../contract/media-models.ts';
import { publicQuery, t } from './trpc.ts';

const CACHED =
  'Needs no key. It changes at most every hour and may be kept for five minutes; an `ETag` spares a client that has it already.';

export const mediaModelsRouter = t.router({
  videos: publicQuery(
    {
      method: 'GET',
      path: '/videos/models',
      operationId: 'listVideoModels',
      tag: 'Videos',
      summary: 'List the video models',
      description: `Every model that makes videos, with the values that it takes; any other is refused. ${CACHED}`,
      errors: [],
      headers: ['x-service-call-id', 'x-request-id', 'etag', 'cache-control'],
      examples: { answer: videoModelsExample },
    },
    VideoModelList,
    (call) => call.deps.listVideoModels(call),
  ),
  images: publicQuery(
    {
      method: 'GET',
      path: '/images/models',
      operationId: 'listImageModels',
      tag: 'Images',
      summary: 'List the image models',
      description: `Every model that makes images, with its fields and what each billed item costs. ${CACHED}`,
      errors: [],
      headers: ['x-service-call-id', 'x-request-id', 'etag', 'cache-control'],
      examples: { answer: imageModelsExample },
    },
    ImageModelList,
    (call) => call.deps.listImageModels(call),
  ),
});
