import type { ModelLists } from '#core/catalog/provider-kind.ts';
import { readImageModels } from './import-image-models.ts';
import { importModels } from './import-models.ts';
import { readVideoModels } from './import-video-models.ts';

/** The router's lists, whose shape other servers have taken over. */
export const lists: ModelLists = {
  models: { path: '/models', read: importModels },
  videoModels: readVideoModels,
  imageModels: readImageModels,
};
