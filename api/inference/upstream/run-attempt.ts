import { ERROR_BODY_BYTES, JSON_ANSWER_BYTES } from '#core/limits.ts';
import type { Ticket } from '#core/provider-health/circuit-breaker.ts';
import { runSteps, type Work } from '#core/steps.ts';
import { isApiError } from '../../contract/errors.ts';
import { failureOf } from '../hold/call-failure.ts';
import { imagesToInline, inlineImages, isOver, type SentBody } from '../linked-images/inline-images.ts';
import { refuseWait } from '../routing/skip-open-endpoints.ts';
import { FirstLine, LinesAsEvents } from './answer-lines.ts';
import { shapeOf } from './answer-shape.ts';
import { type Attempt, cutShort, failed } from './attempt.ts';
import { reportAttempt } from './attempt-fault.ts';
import { type Collected, collectAnswer } from './collect-answer.ts';
import { collectStream } from './collect-stream.ts';
import { parseErrorBody } from './error-body.ts';
import { readWholeAnswer } from './read-whole-answer.ts';
import { type EventSource, relayAnswer, relayWholeAnswer } from './relay-answer.ts';
import type { RunningCall } from './running-call.ts';
import { askedEndpoint, namedWait, readUpstreamError } from './upstream-error.ts';
import { isGoodStatus, type UpstreamRequest } from './upstream-request.ts';
import { headerText } from './upstream-text.ts';
import { warnOperator } from './warn-operator.ts';

/** Runs the call at its present candidate. What the attempt showed of the endpoint decides where later calls go. */
export async function runAttempt(call: RunningCall): Promise<Attempt> {
  call.startOver();
  const built = await runSteps(call.options.plan.body.bytes.length, buildBody(call));
  if (isOver(call)) return failed(failureOf(call, 'aborted'), true);
  const images = imagesToInline(call.provider, call.options.plan.linkedImages);
  if (images.length === 0) return await askProvider(call, { bytes: built, done: noop });
  const body = await inlineImages(call, images, built, call.provider.kind.ownFormat);
  // Another provider may fetch what we could not.
  return isApiError(body) ? failed(body, true) : await askProvider(call, body);
}

const noop = (): void => undefined;

async function askProvider(call: RunningCall, body: SentBody): Promise<Attempt> {
  const { gateway, plan } = call.options;
  const { clock, health } = gateway;
  const ticket = health.begin(call.candidate);
  if ('waitMs' in ticket) {
    body.done();
    return failed(refuseWait(ticket), true);
  }
  const sentAtMs = clock.monotonicMs();
  const upstream = call.dispatch(body.bytes);
  const attempt = await attemptOnce(call, upstream, body, { ticket, sentAtMs });
  const error = attempt.kind === 'failed' ? attempt.error : null;
  // A router may answer no_provider because of the caller's own preferences.
  const { routesBetweenVendors } = call.provider.kind.capabilities;
  if (error !== null && !(error.code === 'no_provider' && routesBetweenVendors))
    warnOperator(call, call.candidate.endpoint, call.candidate.model.id, error.code);
  reportAttempt(call, call.candidate, ticket, {
    error,
    faultOf: attempt.kind === 'failed' ? attempt.faultOf : undefined,
    upstream,
    sentAtMs,
    body: () => plan.body.bytes,
    withTools: plan.hasTools,
    tokens: attempt.usage?.tokens.completion ?? attempt.deliveredTokens,
  });
  return attempt;
}

async function attemptOnce(
  call: RunningCall,
  upstream: UpstreamRequest,
  body: SentBody,
  { ticket, sentAtMs }: { ticket: Ticket; sentAtMs: number },
): Promise<Attempt> {
  const { gateway, plan } = call.options;
  const started = await upstream.started;
  body.done();
  const providerMs = gateway.clock.monotonicMs() - sentAtMs;
  call.providerMs += providerMs;
  gateway.metrics.provider(providerMs);
  if (!started.ok) {
    const error = failureOf(call, started.cause);
    return started.cause === 'aborted' ? cutShort(error) : failed(error, call.endedByUs === null);
  }

  call.nameAnswer('header', headerText(upstream, 'x-generation-id'));
  if (!isGoodStatus(upstream.status)) {
    return readRefusal(call, upstream, await collectAnswer(upstream, ERROR_BODY_BYTES));
  }
  gateway.health.accepted(call.candidate, ticket);
  const shape = shapeOf(headerText(upstream, 'content-type') ?? '', upstream.firstBytes);
  if (shape === 'events' && plan.stream) return relayAnswer(call, upstream);
  if (shape === 'events') return collectStream(call, upstream);
  const { name } = call.candidate.format;
  const first = call.asksStream && name !== 'own' ? await FirstLine.read(upstream) : null;
  if (first !== null && name !== 'own' && first.isPieceOf(name)) {
    const lines: EventSource = { pipeTo: (receiver) => first.pipeTo(new LinesAsEvents(receiver)) };
    return plan.stream ? relayAnswer(call, upstream, lines) : collectStream(call, upstream, lines);
  }
  const whole = await collectAnswer(first ?? upstream, JSON_ANSWER_BYTES);
  const attempt = readWholeAnswer(call, whole);
  return plan.stream && attempt.kind === 'json' ? relayWholeAnswer(call, upstream, attempt) : attempt;
}

function buildBody(call: RunningCall): Work<Buffer> {
  const { plan, agentId } = call.options;
  const { format, translated } = call.candidate;
  const body = translated ?? plan.body;
  const stream = call.asksStream;
  const asked = stream === plan.stream && translated === null ? plan : { ...plan, body, stream };
  return format.buildBody(asked, call.candidate, agentId);
}

function readRefusal(call: RunningCall, upstream: UpstreamRequest, body: Collected): Attempt {
  if (!body.ok && call.endedByUs !== null) return failed(failureOf(call, body.cause), false);
  const value = body.ok ? parseErrorBody(body.bytes) : undefined;
  const { error, mayFallBack, faultOf } = readUpstreamError(
    upstream.status,
    value,
    askedEndpoint(call.candidate, call.options.plan.promptEstimateTokens),
    namedWait(upstream, call.options.gateway.clock.now()),
  );
  return { ...failed(error, mayFallBack), ...(faultOf === undefined ? {} : { faultOf }) };
}
