import { ERROR_BODY_BYTES } from '#core/limits.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import { failureOf } from '../../inference/hold/call-failure.ts';
import { imagesToInline, inlineImages, type SentBody } from '../../inference/linked-images/inline-images.ts';
import { refuseWait } from '../../inference/routing/skip-open-endpoints.ts';
import { reportAttempt } from '../../inference/upstream/attempt-fault.ts';
import { collectAnswer } from '../../inference/upstream/collect-answer.ts';
import { parseErrorBody } from '../../inference/upstream/error-body.ts';
import { namedWait, readUpstreamError } from '../../inference/upstream/upstream-error.ts';
import { isGoodStatus, type UpstreamRequest } from '../../inference/upstream/upstream-request.ts';
import { headerText } from '../../inference/upstream/upstream-text.ts';
import type { FailedImages, ImageAttempt } from './image-attempt.ts';
import type { ImageCall } from './image-call.ts';
import type { ImageOutput } from './image-output.ts';
import type { ImagePlan } from './image-plan.ts';
import { readImages } from './read-images.ts';
import { relayImages } from './relay-images.ts';

/** Asks once: an image that is made twice is paid twice. */
export async function askForImages(call: ImageCall, output: ImageOutput): Promise<ImageAttempt> {
  const { gateway, plan } = call.options;
  const body = await sentBody(call);
  if (isApiError(body)) return failed(body);
  if (call.caller.gone || call.endedByUs !== null) {
    body.done();
    return failed(failureOf(call, 'aborted'));
  }
  const target = { endpoint: plan.model, provider: plan.provider };
  const ticket = gateway.health.begin(target);
  if ('waitMs' in ticket) {
    body.done();
    return failed(refuseWait(ticket));
  }
  const sentAtMs = gateway.clock.monotonicMs();
  const upstream = call.dispatch(body.bytes);
  const accepted = () => gateway.health.accepted(target, ticket);
  const attempt = await readAnswer(call, output, { upstream, body, sentAtMs, accepted });
  reportAttempt(call, target, ticket, {
    error: attempt.kind === 'failed' ? attempt.error : null,
    faultOf: attempt.kind === 'failed' ? attempt.faultOf : undefined,
    upstream,
    sentAtMs,
    body: () => Buffer.from(plan.prompt),
    withTools: false,
    tokens: 0,
  });
  return attempt;
}

interface SentRequest {
  upstream: UpstreamRequest;
  body: SentBody;
  sentAtMs: number;
  /** The status is 200. */
  accepted: () => void;
}

async function readAnswer(
  call: ImageCall,
  output: ImageOutput,
  { upstream, body, sentAtMs, accepted }: SentRequest,
): Promise<ImageAttempt> {
  const { gateway, plan } = call.options;
  const started = await upstream.started;
  body.done();
  call.providerMs = gateway.clock.monotonicMs() - sentAtMs;
  gateway.metrics.provider(call.providerMs);
  if (!started.ok) return failed(failureOf(call, started.cause));

  call.nameAnswer('header', headerText(upstream, 'x-generation-id'));
  if (!isGoodStatus(upstream.status)) return await readRefusal(call, upstream);
  accepted();
  const contentType = headerText(upstream, 'content-type') ?? '';
  const isStream = contentType.toLowerCase().startsWith('text/event-stream');
  if (isStream && !plan.stream) return failed(apiError('provider_error'));
  // Some providers answer whoever wants a stream by the whole.
  return isStream ? relayImages(call, upstream, output) : readImages(call, upstream, output);
}

async function sentBody(call: ImageCall): Promise<SentBody | ApiError> {
  const { plan, images } = call.options;
  const body = imageBody(plan);
  const inlined = imagesToInline(plan.provider, images);
  return inlined.length === 0 ? { bytes: body, done() {} } : await inlineImages(call, inlined, body);
}

async function readRefusal(call: ImageCall, upstream: UpstreamRequest): Promise<ImageAttempt> {
  const body = await collectAnswer(upstream, ERROR_BODY_BYTES);
  if (!body.ok && call.endedByUs !== null) return failed(failureOf(call, body.cause));
  const value = body.ok ? parseErrorBody(body.bytes) : undefined;
  const wait = namedWait(upstream, call.options.gateway.clock.now());
  const { error, faultOf } = readUpstreamError(upstream.status, value, call.asked, wait);
  return { ...failed(error), ...(faultOf === undefined ? {} : { faultOf }) };
}

const failed = (error: ApiError): FailedImages => ({ kind: 'failed', error, usage: null, delivered: 0 });

/** What the provider is asked: of the caller's body only what was checked, and of its endpoints the one whose prices these are. */
function imageBody(plan: ImagePlan): Buffer {
  const { model, prompt, parameters, references, stream } = plan;
  const { upstreamModel, endpointTag } = model;
  return Buffer.from(
    JSON.stringify({
      ...Object.fromEntries(parameters),
      model: upstreamModel,
      prompt,
      ...(references.length === 0
        ? {}
        : { input_references: references.map((url) => ({ type: 'image_url', image_url: { url } })) }),
      ...(stream ? { stream } : {}),
      ...(endpointTag === null ? {} : { provider: { only: [endpointTag], allow_fallbacks: false } }),
    }),
  );
}
