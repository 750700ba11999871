import { ERROR_BODY_BYTES } from '#core/limits.ts';
import { parseJson } from '#core/parse-json.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import { failureOf } from '../../inference/attempt.ts';
import { collectAnswer } from '../../inference/collect-answer.ts';
import { inlinePictures, picturesToInline, type SentBody } from '../../inference/inline-pictures.ts';
import { readUpstreamError } from '../../inference/upstream-error.ts';
import type { UpstreamRequest } from '../../inference/upstream-request.ts';
import { headerText, retryAfter } from '../../inference/upstream-text.ts';
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
  const sentAtMs = gateway.clock.monotonicMs();
  const upstream = call.dispatch(body.bytes);
  const started = await upstream.started;
  body.done();
  call.providerMs = gateway.clock.monotonicMs() - sentAtMs;
  gateway.metrics.provider(call.providerMs);
  if (!started.ok) return failed(failureOf(call, started.cause));

  call.nameAnswer(headerText(upstream, 'x-generation-id'));
  if (upstream.status !== 200) return await readRefusal(call, upstream);
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
  return failed(readUpstreamError(upstream.status, value, call.asked, retryAfter(upstream)).error);
}

const failed = (error: ApiError): FailedPictures => ({ kind: 'failed', error, usage: null, delivered: 0 });
