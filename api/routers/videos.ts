import { z } from 'zod';
import { DAY_MS, MINUTE_MS } from '#core/clock.ts';
import { defaultLimits, MEGABYTE, VIDEO_JOB_KEPT_MS, VIDEO_KEPT_MS, VIDEO_LINK_MS } from '#core/limits.ts';
import { errorsOfCall } from '../contract/errors.ts';
import { doneVideoExample, videoExamples } from '../contract/examples.ts';
import { Video } from '../contract/video.ts';
import { VideoRequest } from '../contract/video-request.ts';
import { rawQuery, rawRoute, t } from './trpc.ts';

const id = z.object({
  id: z.string().meta({ description: 'Of a video: `vid_` followed by 20 letters and digits.' }),
});

export const videosRouter = t.router({
  create: rawRoute(
    {
      method: 'POST',
      path: '/videos',
      operationId: 'createVideo',
      reserves: true,
      tag: 'Videos',
      summary: 'Order a video',
      description:
        'Answers at once with a job; read it at `polling_url` about every 10 seconds until it is `completed` or `failed`. ' +
        'The most that the video can cost (`estimated_cost`) is held from the balance until then; what it did cost ' +
        '(`usage.cost`) is charged when its file is there, and nothing if it fails. A value that the model does not list is ' +
        'refused before anything is held, and so is one video more than an agent may have in the making ' +
        `(${defaultLimits.openVideos}, unless the operator set another number): \`rate_limited\`. ` +
        `Body at most ${defaultLimits.requestBodyBytes / MEGABYTE} MB.`,
      status: 202,
      errors: [...errorsOfCall('video'), 'not_found'],
      headers: ['x-service-call-id', 'x-request-id', 'x-hold-usd', 'location'],
      requestHeaders: ['Idempotency-Key'],
      examples: videoExamples,
    },
    { request: VideoRequest, answer: Video },
    (call) => call.deps.orderVideo(call),
  ),
  get: rawQuery(
    {
      method: 'GET',
      path: '/videos/{id}',
      operationId: 'getVideo',
      tag: 'Videos',
      summary: 'Read a video job',
      description:
        'The same job as its creation answered, as it is now. Each key may read jobs ' +
        `${defaultLimits.videoReadsPerMinute} times a minute; poll about every 10 seconds. ` +
        `A job stays readable for ${VIDEO_JOB_KEPT_MS / DAY_MS} days from when it was made; ` +
        `its file goes after ${VIDEO_KEPT_MS / DAY_MS}.`,
      errors: ['not_found', 'rate_limited'],
      headers: ['x-service-call-id', 'x-request-id'],
      examples: { answer: doneVideoExample },
    },
    Video,
    (call) => call.deps.sendVideo(call),
    id,
  ),
  content: rawQuery(
    {
      method: 'GET',
      path: '/videos/{id}/content',
      operationId: 'getVideoContent',
      tag: 'Videos',
      summary: 'Download a video',
      description:
        'Answers 302 to the file, an H.264 MP4, by a link that is valid for ' +
        `${VIDEO_LINK_MS / MINUTE_MS} minutes and needs no key. ` +
        'Before the video is done, and after its file is deleted, it answers 404 with the code `not_ready`.',
      status: 302,
      errors: ['not_found', 'not_ready'],
      headers: ['x-service-call-id', 'x-request-id', 'location'],
      examples: { answer: {} },
    },
    z.object({}),
    (call) => call.deps.openVideo(call),
    id,
  ),
});
