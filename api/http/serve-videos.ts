import type { Caller } from '../contract/caller.ts';
import { type ApiError, isApiError } from '../contract/errors.ts';
import { commonHeaders } from '../contract/headers.ts';
import type { CallContext, HotCallContext } from '../contract/route.ts';
import { writeVideo } from '../contract/video.ts';
import { holdHeader } from '../inference/hold/answer-headers.ts';
import { orderVideo } from '../media/order-video.ts';
import { linkToVideo, readVideo } from '../media/read-video.ts';
import type { VideoDeps } from '../media/video-deps.ts';
import { sendText } from './send-json.ts';

/** Jobs of videos as they are answered. */
export function createServeVideos(deps: VideoDeps) {
  const { publicUrl } = deps;
  const { clock } = deps.gateway;
  return {
    async orderVideo(call: Omit<HotCallContext<unknown, Caller>, 'deps'>): Promise<ApiError | null> {
      const ordered = await orderVideo(deps, call);
      if (isApiError(ordered)) return ordered;
      const { job, heldNanoUsd } = ordered;
      const headers = { ...commonHeaders(call), location: `${publicUrl}/videos/${job.videoId}` };
      const held = heldNanoUsd === null ? {} : holdHeader(heldNanoUsd);
      sendText(call.res, 202, { ...headers, ...held }, writeVideo(job, clock.now(), publicUrl));
      return null;
    },
    async sendVideo(call: Call): Promise<ApiError | null> {
      const job = await readVideo(deps, call.caller, videoIdOf(call));
      if (isApiError(job)) return job;
      sendText(call.res, 200, commonHeaders(call), writeVideo(job, clock.now(), publicUrl));
      return null;
    },
    async openVideo(call: Call): Promise<ApiError | null> {
      const link = await linkToVideo(deps, call.caller, videoIdOf(call));
      if (isApiError(link)) return link;
      call.res.writeHead(302, { ...commonHeaders(call), location: link, 'content-length': '0' }).end();
      return null;
    },
  };
}

type Call = Omit<CallContext<unknown, Caller>, 'deps'>;

/** The path's third step, as sent. Letters and digits need no escape, so that with one it is no id. */
const videoIdOf = ({ req }: Call): string => {
  const [path = ''] = (req.url ?? '').split('?');
  return path.split('/')[3] ?? '';
};
