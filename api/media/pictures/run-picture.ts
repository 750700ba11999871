import type { AgentStatus } from '#core/ledger/state.ts';
import { ERROR_BODY_BYTES } from '#core/limits.ts';
import { attoToNanoUp, FACTOR_ONE_PPM, formatUsd } from '#core/money.ts';
import type { LossCause } from '#core/operator-losses.ts';
import { parseJson } from '#core/parse-json.ts';
import type { Caller } from '../../contract/caller.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import type { HotCallContext } from '../../contract/route.ts';
import { failureOf } from '../../inference/attempt.ts';
import { type CallCost, freeOfCharge } from '../../inference/call-cost.ts';
import { closeCall, endOf, failedEnd, shownCost } from '../../inference/close-call.ts';
import { collectAnswer } from '../../inference/collect-answer.ts';
import type { Gateway } from '../../inference/gateway.ts';
import { inlinePictures, picturesToInline, type SentBody } from '../../inference/inline-pictures.ts';
import type { LinkedPicture } from '../../inference/linked-media.ts';
import { refuse, refuseStart, type StartContext, startCall } from '../../inference/start-call.ts';
import { tellOperator } from '../../inference/tell-operator.ts';
import { readUpstreamError } from '../../inference/upstream-error.ts';
import type { UpstreamRequest } from '../../inference/upstream-request.ts';
import { headerText, retryAfter } from '../../inference/upstream-text.ts';
import { checkPictures } from '../check-pictures.ts';
import { admitPicture } from './admit-picture.ts';
import { advisePicture, pictureHold } from './advise-picture.ts';
import { errorEvents } from './picture-answer.ts';
import type { PictureAttempt } from './picture-attempt.ts';
import { pictureBody } from './picture-body.ts';
import { PictureCall } from './picture-call.ts';
import { costOfPictures, savePicturePrice } from './picture-cost.ts';
import { openOutput, type PictureFiles, type PictureOutput } from './picture-output.ts';
import { readPictures } from './read-pictures.ts';
import { relayPictures } from './relay-pictures.ts';
import type { RestingFiles } from './rest-after-failure.ts';

export interface PictureDeps {
  gateway: Gateway;
  /** `null`: this gateway keeps none. */
  files: RestingFiles | null;
  /** What is wrong with a link that leads to no public address, in words for behind its field; `null`: anybody can follow it. */
  refusePrivate: (url: string) => Promise<string | null>;
}

/** One request for pictures, in the order of a text's: body, agent, model and fields, links, capacity, hold; then the provider. */
export async function runPicture(
  deps: PictureDeps,
  request: Omit<HotCallContext<unknown, Caller>, 'deps'>,
): Promise<ApiError | null> {
  const { gateway, files } = deps;
  const routes = { catalog: gateway.catalog, keepsFiles: files !== null };
  const admit = (status: AgentStatus) => admitPicture(request.body, status, routes);
  const context: StartContext = {
    ...request,
    admit(status) {
      const again = admit(status);
      return isApiError(again) ? again : null;
    },
  };
  const plan = admit(request.caller.agentStatus);
  if (isApiError(plan)) return await refuseStart(gateway, context, plan);
  const pictures = await checkReferences(deps, request.caller.agentId, plan.references);
  if (isApiError(pictures)) return await refuseStart(gateway, context, pictures);
  if (plan.format === 'url' && files?.resting()) return await refuse(gateway, context, storageFailed);
  const holdNanoUsd = pictureHold(plan);
  if (holdNanoUsd === null) return await refuse(gateway, context, apiError('model_not_served'));
  const { model, stream } = plan;
  const start = {
    kind: 'image' as const,
    holdNanoUsd,
    call: { model: model.id, modelName: model.name, endpoint: 'images', stream },
    price: savePicturePrice(plan, 0n),
    advice: advisePicture(plan),
  };
  return await startCall(gateway, context, start, (held) =>
    runHeld(new PictureCall({ ...held, plan, pictures }), files),
  );
}

const storageFailed = apiError('gateway_unavailable', {
  message:
    'Pictures cannot be stored at the moment; wait as retry-after-ms says, or ask for `response_format: b64_json`.',
});

async function checkReferences(
  { gateway: { files, log, limits }, refusePrivate }: PictureDeps,
  agentId: number,
  links: readonly string[],
): Promise<LinkedPicture[] | ApiError> {
  const named = links.map((url, at) => ({ url, param: `input_references[${at}].image_url.url` }));
  const checked = await checkPictures(
    { files, refusePrivate, log, linksMax: limits().linksPerCall },
    agentId,
    named,
  );
  if (isApiError(checked)) return checked;
  return checked.map((each, at) => ({
    link: named[at]?.url ?? '',
    param: named[at]?.param ?? '',
    own: each.kind === 'own' ? each.name : null,
  }));
}

async function runHeld(call: PictureCall, files: PictureFiles | null): Promise<ApiError | null> {
  const { gateway, plan } = call.options;
  const output = openOutput(call, files);
  try {
    // Nobody waits any more: no provider is asked, so nothing is charged.
    if (call.caller.gone) return await settleFailed(call, apiError('gateway_error'));
    const attempt = await askProvider(call, output);
    if (attempt.kind === 'failed') tellOperator(call, plan.model, plan.model.id, attempt.error.code);
    if ((await call.gate) === 'shut') return await giveUp(call, attempt);
    return attempt.kind === 'made' ? await answer(call, output, attempt) : await fail(call, attempt);
  } catch (error) {
    gateway.log.error('call failed by a fault of the gateway', { ...call.logFields, error });
    if (call.closing) {
      // What it pays stands, and no answer may say otherwise.
      call.caller.drop();
      return null;
    }
    return await settleFailed(call, apiError('gateway_error'));
  } finally {
    void output.close();
    call.close();
  }
}

/** Once: a picture that is made twice is paid twice. */
async function askProvider(call: PictureCall, output: PictureOutput): Promise<PictureAttempt> {
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

  call.generationId = headerText(upstream, 'x-generation-id');
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
  return failed(readUpstreamError(upstream.status, value, null, retryAfter(upstream)).error);
}

const failed = (error: ApiError): PictureAttempt => ({ kind: 'failed', error, usage: null, delivered: 0 });

async function answer(
  call: PictureCall,
  output: PictureOutput,
  { usage, created, delivered }: Extract<PictureAttempt, { kind: 'made' }>,
): Promise<null> {
  // Made before the charge: what cannot be linked is not paid for.
  if (!call.caller.gone) await output.prepare();
  const cost = costOfPictures(call, usage, delivered);
  const kept = call.caller.gone ? null : output.keep();
  const charged = await closeCall(call, cost, endOf(call, cost.tokens), kept);
  if (!call.caller.gone) output.end({ created, tokens: cost.tokens, cost: charged ?? shownCost(call, cost) });
  return null;
}

/**
 * A failed request is free: of its pictures the caller has none. Unless it left, and was waited for in vain, or took them
 * until the time was over: else who takes the last one slowly enough would have all the others for nothing.
 */
async function fail(
  call: PictureCall,
  attempt: Extract<PictureAttempt, { kind: 'failed' }>,
): Promise<ApiError | null> {
  const { error, usage, delivered } = attempt;
  if (endsPaid(call) && call.requestSent) {
    return await settleFailed(call, error, costOfPictures(call, usage, delivered, 'recorded'));
  }
  countBilled(call, 'free_failure', attempt);
  return await settleFailed(call, error);
}

/**
 * A restart is nobody's trick: half a JSON text is free then, also of a caller whose connection the restart has closed, but
 * pictures of a stream have come.
 */
function endsPaid({ caller, endedByUs, options }: PictureCall): boolean {
  if (endedByUs === 'drain') return caller.committed && options.stream;
  return caller.gone ? endedByUs !== null : caller.committed && endedByUs === 'time_limit';
}

/** The journal did not take the hold in time: the caller has seen nothing, so the call never was. */
async function giveUp(call: PictureCall, attempt: PictureAttempt): Promise<ApiError> {
  countBilled(call, 'gate_timeout', attempt);
  const error = apiError('service_unavailable');
  await closeCall(call, freeOfCharge, failedEnd(call, error));
  call.caller.discard();
  return error;
}

/** What the provider billed and no agent pays, without our margin. */
function countBilled(
  { options: { gateway }, provider }: PictureCall,
  cause: LossCause,
  { usage }: PictureAttempt,
): void {
  if (!usage?.reportedAttoUsd) return;
  const nanoUsd = attoToNanoUp(usage.reportedAttoUsd);
  gateway.metrics.loss(cause, nanoUsd);
  gateway.costs.note(provider.id, nanoUsd, FACTOR_ONE_PPM);
}

async function settleFailed(
  call: PictureCall,
  error: ApiError,
  cost: CallCost = freeOfCharge,
): Promise<ApiError | null> {
  const { caller, options } = call;
  const { tokens } = cost;
  await closeCall(call, cost, caller.gone ? endOf(call, tokens) : failedEnd(call, error, tokens));
  if (!caller.committed) {
    caller.leave();
    if (!caller.gone) options.res.setHeader('x-hold-usd', formatUsd(options.holdNanoUsd));
    return error;
  }
  if (options.stream) caller.end(errorEvents(error));
  // Of half a JSON text there is no better end than a visible one.
  else caller.drop();
  return null;
}
