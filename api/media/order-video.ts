import { HOUR_MS } from '#core/clock.ts';
import { type FileName, hourOf } from '#core/files/file-name.ts';
import { randomBase62 } from '#core/ids.ts';
import type { Durability } from '#core/ledger/ledger.ts';
import { GATE_TIMEOUT_MS } from '#core/limits.ts';
import type { NanoUsd } from '#core/money.ts';
import type { VideoJob } from '#core/videos/video-job.ts';
import { atMost } from '#core/wait.ts';
import type { Caller } from '../contract/caller.ts';
import { type ApiError, apiError, isApiError } from '../contract/errors.ts';
import type { HotCallContext } from '../contract/route.ts';
import { traceOf } from '../contract/trace-id.ts';
import { parseBody } from '../inference/admit/parse-body.ts';
import { endUnconfirmed } from '../inference/hold/close-call.ts';
import { callCeiling, readStartRoom } from '../inference/hold/read-start-room.ts';
import { refuseAgent, refuseCapacity, refuseReserve } from '../inference/hold/refuse-start.ts';
import { boundReasons, refuseStart, type StartContext } from '../inference/hold/start-call.ts';
import { adviseVideo } from './advise-video.ts';
import { findVideo, findVideoByKey } from './find-video.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { type PlannedVideo, planVideo } from './plan-video.ts';
import { newVideoJob, reserveVideo } from './reserve-video.ts';
import type { VideoDeps } from './video-deps.ts';
import { writeVideoOrder } from './write-video-order.ts';

/** How long a stored order waits to be sent to its provider. No open video needs it longer. */
export const VIDEO_ORDER_KEPT_MS = 12 * HOUR_MS;

/** `heldNanoUsd`: by this very request; `null`: the job was there before. */
export interface OrderedVideo {
  job: VideoJob;
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
  // Nobody waits any more, and without a key nobody would ever find it.
  if (call.res.destroyed) return apiError('gateway_error');

  const { holdNanoUsd } = planned;
  const ceilingNanoUsd = callCeiling(gateway);
  const answer = gateway.capacity.admit(holdNanoUsd, ceilingNanoUsd);
  const room = answer === 'over_per_call' ? await readStartRoom(gateway, call.caller) : null;
  const noRoom = refuseCapacity(answer, adviseVideo(planned.model), holdNanoUsd, { ceilingNanoUsd, room });
  if (noRoom !== null) return await refuseStart(gateway, context, noRoom);
  let ordered: OrderedVideo | ApiError;
  try {
    ordered = await hold(deps, call, planned, key);
  } finally {
    gateway.capacity.release(holdNanoUsd);
  }
  return isApiError(ordered) ? await refuseStart(gateway, context, ordered) : ordered;
}

/** The key may have ended since it was last asked for, and no hold asks anew. */
async function answerKnown({ confirmCaller }: VideoCall, job: VideoJob): Promise<OrderedVideo | ApiError> {
  const now = await confirmCaller();
  return isApiError(now) ? now : { job, heldNanoUsd: null };
}

/** The order's file comes first: whoever finds the hold, after whatever crash, can send what it is for. */
async function hold(
  deps: VideoDeps,
  call: VideoCall,
  planned: PlannedVideo,
  idempotencyKey: string | null,
): Promise<OrderedVideo | ApiError> {
  const { gateway, videos } = deps;
  const { clock, ledger, log } = gateway;
  const { agentId, keyId } = call.caller;
  const nowMs = clock.now();
  const name: FileName = {
    kind: 'orders',
    endHour: hourOf(nowMs + VIDEO_ORDER_KEPT_MS),
    agentId,
    id: `vid_${randomBase62(20)}`,
    contentType: 'application/json',
  };
  try {
    await writeVideoOrder(planned.files, name, planned);
  } catch (error) {
    log.error('an order could not be stored', { callId: call.callId, ...traceOf(call.req), agentId, error });
    return apiError('gateway_unavailable');
  }
  const job = newVideoJob(planned, { name, agentId, keyId, callId: call.callId, idempotencyKey, nowMs });
  const { result, durable } = await ledger.execute(reserveVideo(gateway, planned, job));
  const durability = await atMost<Durability, Durability>(clock, durable, GATE_TIMEOUT_MS, 'unknown');
  if (result.ok) return await confirm(deps, planned, { job, name, durability });

  await deleteOrder(deps, planned, name);
  // Nothing counts that rests on what the journal does not have.
  if (durability === 'unknown') return apiError('service_unavailable');
  if (result.reason === 'video_exists') {
    const known = await findVideo({ ledger, videos }, agentId, result.videoId);
    if (known !== null && known !== 'unavailable') return await answerKnown(call, known);
    return apiError('service_unavailable');
  }
  const { callsPerMinute } = gateway.limits();
  const { waitForClockMs } = gateway;
  const room = boundReasons.has(result.reason) ? await readStartRoom(gateway, call.caller) : null;
  const facts = { nowMs, callsPerMinute, waitForClockMs, room };
  return refuseReserve(result, adviseVideo(planned.model), planned.holdNanoUsd, facts);
}

/**
 * The journal has the hold, and its worker is told. Where that cannot be known, the answer is 503, which is free: so it is given
 * up, and its `Idempotency-Key` may be used again.
 */
async function confirm(
  deps: VideoDeps,
  planned: PlannedVideo,
  { job, name, durability }: { job: VideoJob; name: FileName; durability: Durability },
): Promise<OrderedVideo | ApiError> {
  const { gateway } = deps;
  const { agentId, callId, videoId, estimatedNanoUsd } = job;
  gateway.metrics.started();
  if (durability === 'unknown') {
    const hold = { gateway, agentId, callId, holdNanoUsd: estimatedNanoUsd };
    const error = await endUnconfirmed(hold, 0);
    await deleteOrder(deps, planned, name);
    return error;
  }
  gateway.watchVideo(agentId, videoId);
  // By the ledger's own clock, so that every later answer says the same.
  const read = await gateway.ledger.readVideo(agentId, videoId);
  return { job: read === null || read === 'unavailable' ? job : read, heldNanoUsd: estimatedNanoUsd };
}

/** Of a video that will not be made. What stays behind the sweep takes. */
async function deleteOrder({ gateway }: VideoDeps, { files }: PlannedVideo, name: FileName): Promise<void> {
  try {
    await files.delete(name);
  } catch (error) {
    gateway.log.warn('the order of a refused video was left to the sweep', { agentId: name.agentId, error });
  }
}
