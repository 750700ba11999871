import { ERROR_BODY_BYTES } from '#core/limits.ts';
import { parseJson } from '#core/parse-json.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import { failureOf } from '../../inference/hold/call-failure.ts';
import {
  inlinePictures,
  picturesToInline,
  type SentBody,
} from '../../inference/linked-images/inline-pictures.ts';
import { refuseWait } from '../../inference/routing/skip-open-endpoints.ts';
import { reportAttempt } from '../../inference/upstream/attempt-fault.ts';
import { collectAnswer } from '../../inference/upstream/collect-answer.ts';
import { readUpstreamError } from '../../inference/upstream/upstream-error.ts';
import type { UpstreamRequest } from '../../inference/upstream/upstream-request.ts';
import { headerText, retryAfter } from '../../inference/upstream/upstream-text.ts';
import type { FailedPictures, PictureAttempt } from './picture-attempt.ts';
import { pictureBody } from './picture-body.ts';
import type { PictureCall } from './picture-call.ts';
import type { PictureOutput } from './picture-output.ts';
import { readPictures } from './read-pictures.ts';
import { relayPictures } from './relay-pictures.ts';

/** Asks once: an image that is made twice is paid twice. */
export async function askForPictures(call: PictureCall, output: PictureOutput): Promise<PictureAttempt> {
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
  call: PictureCall,
  output: PictureOutput,
  { upstream, body, sentAtMs, accepted }: SentRequest,
): Promise<PictureAttempt> {
  const { gateway, plan } = call.options;
  const started = await upstream.started;
  body.done();
  call.providerMs = gateway.clock.monotonicMs() - sentAtMs;
  gateway.metrics.provider(call.providerMs);
  if (!started.ok) return failed(failureOf(call, started.cause));

  call.nameAnswer('header', headerText(upstream, 'x-generation-id'));
  if (upstream.status !== 200) return await readRefusal(call, upstream);
  accepted();
  const contentType = headerText(upstream, 'content-type') ?? '';
  const isStream = contentType.toLowerCase().startsWith('text/event-stream');
  if (isStream && !plan.stream) return failed(apiError('provider_error'));
  // Some providers answer whoever wants a stream by the whole.
  return isStream ? relayPictures(call, upstream, output) : readPictures(call, upstream, output);
}

async function sentBody(call: PictureCall): Promise<SentBody | ApiError> {
  const { plan, pictures } = call.options;
  const body = pictureBody(plan);
  const inlined = picturesToInline(plan.provider, pictures);
  return inlined.length === 0 ? { bytes: body, done() {} } : await inlinePictures(call, inlined, body);
}

async function readRefusal(call: PictureCall, upstream: UpstreamRequest): Promise<PictureAttempt> {
  const body = await collectAnswer(upstream, ERROR_BODY_BYTES);
  if (!body.ok && call.endedByUs !== null) return failed(failureOf(call, body.cause));
  const value = body.ok ? parseJson(body.bytes.toString('utf8')) : undefined;
  const wait = retryAfter(upstream, call.options.gateway.clock.now());
  const { error, faultOf } = readUpstreamError(upstream.status, value, call.asked, wait);
  return { ...failed(error), ...(faultOf === undefined ? {} : { faultOf }) };
}

const failed = (error: ApiError): FailedPictures => ({ kind: 'failed', error, usage: null, delivered: 0 });
