import { reportsCost } from '#core/catalog/catalog.ts';
import { ERROR_BODY_BYTES, JSON_ANSWER_BYTES } from '#core/limits.ts';
import { parseJson } from '#core/parse-json.ts';
import { type ErrorCode, isApiError } from '../contract/errors.ts';
import { type Attempt, failed, failureOf } from './attempt.ts';
import { type Collected, collectAnswer } from './collect-answer.ts';
import { collectStream } from './collect-stream.ts';
import type { EndedByUs } from './held-call.ts';
import { inlinePictures, picturesToInline, type SentBody } from './inline-pictures.ts';
import { readWholeAnswer } from './read-whole-answer.ts';
import { relayAnswer } from './relay-answer.ts';
import type { CallOutcome } from './routing/endpoint-health.ts';
import type { RunningCall } from './running-call.ts';
import { tellOperator } from './tell-operator.ts';
import { askedEndpoint, readUpstreamError } from './upstream-error.ts';
import type { UpstreamRequest } from './upstream-request.ts';
import { headerText, retryAfter } from './upstream-text.ts';

/** At the call's present candidate. What it showed of the endpoint, later calls are led by. */
export async function runAttempt(call: RunningCall): Promise<Attempt> {
  call.startOver();
  const built = buildBody(call);
  const pictures = picturesToInline(call.provider, call.options.plan.pictures);
  if (pictures.length === 0) return await askProvider(call, { bytes: built, done: noMatter });
  const body = await inlinePictures(call, pictures, built);
  // Another provider may fetch what we could not.
  return isApiError(body) ? failed(body, true) : await askProvider(call, body);
}

const noMatter = (): void => undefined;

async function askProvider(call: RunningCall, body: SentBody): Promise<Attempt> {
  const { gateway, plan, agentId } = call.options;
  const { endpoint } = call.candidate;
  const sentAtMs = gateway.clock.monotonicMs();
  gateway.health.begin(endpoint, sentAtMs);
  const attempt = await attemptOnce(call, body, sentAtMs);
  const nowMs = gateway.clock.monotonicMs();
  // Of a router, a caller's own wishes can leave nobody.
  if (attempt.kind === 'failed' && !(attempt.error.code === 'no_provider' && reportsCost(call.provider)))
    tellOperator(call, endpoint, call.candidate.model.id, attempt.error.code);
  // What the caller, the journal, a drain or a bound of ours cut short says nothing of the provider.
  if (call.caller.gone || saysNothing.has(call.endedByUs)) gateway.health.letGo(endpoint);
  else {
    gateway.health.end(
      endpoint,
      {
        failed: attempt.kind === 'failed' ? faultOf(attempt.error.code) : 'no',
        agentId,
        withTools: plan.hasTools,
        durationMs: nowMs - sentAtMs,
        tokens: attempt.usage?.tokens.completion ?? attempt.deliveredTokens,
      },
      nowMs,
    );
  }
  return attempt;
}

const saysNothing: ReadonlySet<EndedByUs | null> = new Set<EndedByUs>(['gate', 'drain', 'too_long']);

/** Of the provider: what a caller asks wrong is none, and who is busy is asked again. */
function faultOf(code: ErrorCode): CallOutcome['failed'] {
  switch (code) {
    case 'gateway_capacity':
    case 'gateway_unavailable':
    case 'upstream_unreachable':
      return 'any_request';
    case 'provider_error':
    case 'upstream_error':
    case 'upstream_timeout':
    case 'timeout':
      return 'this_request';
    default:
      return 'no';
  }
}

async function attemptOnce(call: RunningCall, body: SentBody, sentAtMs: number): Promise<Attempt> {
  const { gateway, plan } = call.options;
  const upstream = call.dispatch(body.bytes);
  const started = await upstream.started;
  body.done();
  const providerMs = gateway.clock.monotonicMs() - sentAtMs;
  call.providerMs += providerMs;
  gateway.metrics.provider(providerMs);
  if (!started.ok) return failed(failureOf(call, started.cause), call.endedByUs === null);

  call.nameAnswer(headerText(upstream, 'x-generation-id'));
  if (upstream.status !== 200) {
    return readRefusal(call, upstream, await collectAnswer(upstream, ERROR_BODY_BYTES));
  }
  const contentType = headerText(upstream, 'content-type') ?? '';
  const isStream = contentType.toLowerCase().startsWith('text/event-stream');
  if (isStream && plan.stream) return relayAnswer(call, upstream);
  if (isStream && call.asksStream) return collectStream(call, upstream);
  return readWholeAnswer(call, await collectAnswer(upstream, JSON_ANSWER_BYTES));
}

function buildBody(call: RunningCall): Buffer {
  const { plan, agentId } = call.options;
  const { format, translated } = call.candidate;
  const body = translated ?? plan.body;
  const stream = call.asksStream;
  const asked = stream === plan.stream && translated === null ? plan : { ...plan, body, stream };
  return format.buildBody(asked, call.candidate, agentId);
}

function readRefusal(call: RunningCall, upstream: UpstreamRequest, body: Collected): Attempt {
  if (!body.ok && call.endedByUs !== null) return failed(failureOf(call, body.cause), false);
  const value = body.ok ? parseJson(body.bytes.toString('utf8')) : undefined;
  const { error, mayFallBack } = readUpstreamError(
    upstream.status,
    value,
    askedEndpoint(call.candidate),
    retryAfter(upstream),
  );
  return failed(error, mayFallBack);
}
