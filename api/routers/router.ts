import { accountRouter } from './account.ts';
import { imagesRouter } from './images.ts';
import { marketsRouter } from './markets.ts';
import { mediaModelsRouter } from './media-models.ts';
import { chatRouter, messagesRouter, modelsRouter, responsesRouter } from './text-models.ts';
import { t } from './trpc.ts';
import { uploadsRouter } from './uploads.ts';
import { videosRouter } from './videos.ts';

/** Everything below `/v1`. The edge serves it and the document describes it; nothing else is served there. */
export const v1Router = t.router({
  chat: chatRouter,
  responses: responsesRouter,
  messages: messagesRouter,
  models: modelsRouter,
  mediaModels: mediaModelsRouter,
  videos: videosRouter,
  images: imagesRouter,
  uploads: uploadsRouter,
  account: accountRouter,
  markets: marketsRouter,
});
