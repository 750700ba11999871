import type { IncomingHttpHeaders } from 'node:http';
import type { VideoModel } from '#core/catalog/video-model.ts';
import { fromPriceNanoUsd } from '#core/catalog/video-price.ts';
import { HOUR_MS } from '#core/clock.ts';
import { type FileName, formatFileName, hourOf } from '#core/files/file-name.ts';
import { randomBase62 } from '#core/ids.ts';
import type { Reserve } from '#core/ledger/command.ts';
import { formatUsd, type NanoUsd, nanoToAtto } from '#core/money.ts';
import type { VideoJob } from '#core/videos/video-job.ts';
import { atMost } from '#core/wait.ts';
import type { Caller } from '../contract/caller.ts';
import { type ApiError, apiError, isApiError } from '../contract/errors.ts';
import type { HotCallContext } from '../contract/route.ts';
import { traceOf } from '../contract/trace-id.ts';
import { parseBody } from '../inference/admit/parse-body.ts';
import { endUnconfirmed } from '../inference/hold/close-call.ts';
import type { HeldCallOptions } from '../inference/hold/held-call.ts';
import { refuseAgent } from '../inference/hold/refuse-start.ts';
import type { StartAdvice } from '../inference/hold/start-advice.ts';
import {
  type LastingStart,
  refuseStart,
  type Start,
  type StartContext,
  startCall,
} from '../inference/hold/start-call.ts';
import { findVideo, findVideoByKey } from './find-video.ts';
import { fixedPrice } from './images/image-cost.ts';
import { type PlannedVideo, planVideo } from './plan-video.ts';
import type { VideoDeps } from './video-deps.ts';
import { writeVideoOrder } from './write-video-order.ts';

/** How long a stored order waits to be sent to its provider. No open video needs it longer. */
export const VIDEO_ORDER_KEPT_MS = 12 * HOUR_MS;

/** The time limit of a video in the ledger. Its worker has ended it by then, or its hold is an orphan. */
export const VIDEO_TIME_LIMIT_MS = 6 * HOUR_MS;

export interface OrderedVideo {
  job: VideoJob;
  /** The money that this very request holds. `null`: the job was there before. */
  heldNanoUsd: NanoUsd | null;
}

type VideoCall = Omit<HotCallContext<unknown, Caller>, 'deps'>;

/**
 * Checks the body, then the `Idempotency-Key`, whose video is answered as it is now whatever else is wrong. Then it checks the
 * agent, the model and every field, links and capacity, stores the order's file, and holds. It answers once the journal has the hold.
 */
export async function orderVideo(deps: VideoDeps, call: VideoCall): Promise<OrderedVideo | ApiError> {
  const { gateway, videos } = deps;
  const { agentId, agentStatus } = call.caller;
  const early: StartContext = { ...call, admit: () => null };
  const parsed = parseBody(call.body);
  if (isApiError(parsed)) return await refuseStart(gateway, early, parsed);
  const key = readIdempotencyKey(call.req.headers);
  if (isApiError(key)) return await refuseStart(gateway, early, key);
  if (key !== null) {
    const known = await findVideoByKey({ ledger: gateway.ledger, videos }, agentId, key);
    if (known === 'unavailable') return await refuseStart(gateway, early, apiError('service_unavailable'));
    if (known !== null) return await answerKnown(call, known);
  }

  const context: StartContext = { ...call, admit: refuseAgent };
  const inactive = refuseAgent(agentStatus);
  if (inactive !== null) return await refuseStart(gateway, context, inactive);
  const planned = await planVideo(deps, agentId, parsed.value);
  if (isApiError(planned)) return await refuseStart(gateway, context, planned);
  // The caller has left, and without a key the video could never be found.
  if (call.res.destroyed) return apiError('gateway_error');
  const order = new VideoOrder(deps, call, planned, key);
  return await startCall(gateway, context, startOf(planned), (held) => order.confirm(held), order);
}

/** The key may have ended since it was last checked, and no hold checks it again. */
async function answerKnown({ confirmCaller }: VideoCall, job: VideoJob): Promise<OrderedVideo | ApiError> {
  const now = await confirmCaller();
  return isApiError(now) ? now : { job, heldNanoUsd: null };
}

const startOf = ({ model, provider, holdNanoUsd }: PlannedVideo): Start => ({
  kind: 'video',
  holdNanoUsd,
  call: { model: model.id, modelName: model.name, endpoint: 'videos', stream: false },
  price: fixedPrice(provider, nanoToAtto(holdNanoUsd)),
  advice: adviseVideo(model),
  timeLimitMs: VIDEO_TIME_LIMIT_MS,
});

/** One order between the checks of its request and its hold. A worker takes it from there. */
class VideoOrder implements LastingStart<OrderedVideo> {
  readonly #deps: VideoDeps;
  readonly #call: VideoCall;
  readonly #planned: PlannedVideo;
  readonly #idempotencyKey: string | null;
  #stored: { name: FileName; job: VideoJob } | null = null;

  constructor(deps: VideoDeps, call: VideoCall, planned: PlannedVideo, idempotencyKey: string | null) {
    this.#deps = deps;
    this.#call = call;
    this.#planned = planned;
    this.#idempotencyKey = idempotencyKey;
  }

  /** The order's file comes before the hold: a worker that finds the hold, after whatever crash, can send what it is for. */
  async prepare(nowMs: number): Promise<NonNullable<Reserve['video']> | ApiError> {
    const { gateway } = this.#deps;
    const { callId, req, caller } = this.#call;
    const { agentId, keyId } = caller;
    const name: FileName = {
      kind: 'orders',
      endHour: hourOf(nowMs + VIDEO_ORDER_KEPT_MS),
      agentId,
      id: `vid_${randomBase62(20)}`,
      contentType: 'application/json',
    };
    try {
      await writeVideoOrder(this.#planned.files, name, this.#planned);
    } catch (error) {
      gateway.log.error('an order could not be stored', { callId, ...traceOf(req), agentId, error });
      return apiError('gateway_unavailable');
    }
    const { model, holdNanoUsd } = this.#planned;
    const order = {
      videoId: name.id,
      idempotencyKey: this.#idempotencyKey,
      upstreamModel: model.upstreamModel,
      orderFile: formatFileName(name),
    };
    const job: VideoJob = {
      ...{ ...order, agentId, keyId, callId, model: model.id, providerId: model.providerId },
      ...{ estimatedNanoUsd: holdNanoUsd, createdAtMs: nowMs, claim: null, submitted: null, end: null },
    };
    this.#stored = { name, job };
    return { ...order, openVideosMax: gateway.limits().openVideos };
  }

  async refused(
    refusal: Parameters<LastingStart<OrderedVideo>['refused']>[0],
  ): Promise<OrderedVideo | ApiError | null> {
    await this.#deleteFile();
    if (refusal.reason !== 'video_exists') return null;
    const { gateway, videos } = this.#deps;
    const { agentId } = this.#call.caller;
    const known = await findVideo({ ledger: gateway.ledger, videos }, agentId, refusal.videoId);
    return known === null || known === 'unavailable'
      ? apiError('service_unavailable')
      : await answerKnown(this.#call, known);
  }

  /**
   * Answers once the journal has the hold, and tells its worker. If that is not known in time, the answer is 503, which is free: the
   * hold is given up, and its `Idempotency-Key` may be used again.
   */
  async confirm(held: HeldCallOptions): Promise<OrderedVideo | ApiError> {
    const { gateway, agentId, holdNanoUsd } = held;
    try {
      const durability = await atMost(gateway.clock, held.durable, gateway.gateTimeoutMs, 'unknown');
      if (durability === 'unknown' || this.#stored === null) {
        const error = await endUnconfirmed(held, 0);
        await this.#deleteFile();
        return await refuseStart(gateway, { ...this.#call, admit: refuseAgent }, error);
      }
      const { job } = this.#stored;
      gateway.watchVideo(agentId, job.videoId);
      // By the ledger's own clock, so that every later answer says the same.
      const read = await gateway.ledger.readVideo(agentId, job.videoId);
      return { job: read === null || read === 'unavailable' ? job : read, heldNanoUsd: holdNanoUsd };
    } finally {
      gateway.capacity.release(holdNanoUsd);
    }
  }

  /** The video will not be made. A file that stays behind is removed by the sweep. */
  async #deleteFile(): Promise<void> {
    if (this.#stored === null) return;
    const { name } = this.#stored;
    try {
      await this.#planned.files.delete(name);
    } catch (error) {
      this.#deps.gateway.log.warn('the order of a refused video was left to the sweep', {
        agentId: name.agentId,
        error,
      });
    }
  }
}

/** Spec: Limits, Idempotency-Key. A header that was sent twice has a comma in it, which is none of these. */
const SHAPE = /^[A-Za-z0-9_-]{8,64}$/;

/** `null`: none was sent. */
function readIdempotencyKey(headers: IncomingHttpHeaders): string | null | ApiError {
  const sent = headers['idempotency-key'];
  if (sent === undefined) return null;
  if (typeof sent === 'string' && SHAPE.test(sent)) return sent;
  return apiError('invalid_request', {
    param: 'Idempotency-Key',
    message: 'The header `Idempotency-Key` has to be 8 to 64 characters from letters, digits, `-` and `_`.',
  });
}

/** No single number decides a video's price: length, resolution, sound and images do. So the least that one costs is named. */
const adviseVideo = (model: VideoModel): StartAdvice => ({
  param: null,
  fit(availableNanoUsd, remedy) {
    const least = fromPriceNanoUsd(model);
    if (least !== null && least > availableNanoUsd) {
      const words = `No video of this model fits: ${remedy.replace(/^or /, '')}.`;
      return { changes: null, needNanoUsd: least, words };
    }
    const shortest = least === null ? '' : ` The shortest and smallest one holds $${formatUsd(least)}.`;
    const words = `Order a shorter or smaller video, ${remedy}.${shortest}`;
    return { changes: null, needNanoUsd: null, words };
  },
});
