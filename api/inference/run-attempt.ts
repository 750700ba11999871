import { ERROR_BODY_BYTES, JSON_ANSWER_BYTES, UPSTREAM_TEXT_CHARS_MAX } from '#core/limits.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import { answerHeaders } from './answer-headers.ts';
import { type Collected, collectAnswer } from './collect-answer.ts';
import { contextTokens } from './estimate.ts';
import { buildChatBody } from './formats/chat-body.ts';
import { type ChatEvent, ERROR_NEEDLE, saysError } from './formats/chat-stream.ts';
import { type JsonObject, memberSize, memberText, readJsonObject, scanJsonObject } from './json-object.ts';
import type { RunningCall } from './running-call.ts';
import { StreamRelay } from './stream-relay.ts';
import { readUpstreamError } from './upstream-error.ts';
import type { UpstreamFailure, UpstreamRequest } from './upstream-request.ts';
import { readUsage, type Usage, usageOfAnswer } from './usage.ts';

export type UsageEvent = Extract<ChatEvent, { usage: Buffer | null }>;

/** How one attempt at one endpoint ended. */
export type Attempt =
  /** A whole JSON answer; nothing of it has been written. */
  | {
      kind: 'json';
      answer: JsonObject;
      usage: Usage | null;
      usageObject: JsonObject | null;
      deliveredTokens: number;
    }
  /** A stream to its end mark; its events have been written. */
  | {
      kind: 'stream';
      usage: Usage | null;
      usageObject: JsonObject | null;
      usageEvent: UsageEvent | null;
      deliveredTokens: number;
    }
  | FailedAttempt;

export interface FailedAttempt {
  kind: 'failed';
  error: ApiError;
  /** Busy or down, and nothing was written: another endpoint may answer. */
  mayFallBack: boolean;
  usage: Usage | null;
  deliveredTokens: number;
}

/** At the call's present candidate. */
export async function runAttempt(call: RunningCall): Promise<Attempt> {
  const { gateway, plan, agentId } = call.options;
  call.generationId = null;
  const sentAtMs = gateway.clock.monotonicMs();
  const upstream = call.dispatch(buildChatBody(plan, call.candidate, agentId));
  const started = await upstream.started;
  const providerMs = gateway.clock.monotonicMs() - sentAtMs;
  call.providerMs += providerMs;
  gateway.metrics.provider(providerMs);
  if (!started.ok) return failed(failureOf(call, started.cause), call.endedByUs === null);

  call.generationId = headerText(upstream, 'x-generation-id');
  if (upstream.status !== 200) {
    return readRefusal(call, upstream, await collectAnswer(upstream, ERROR_BODY_BYTES));
  }
  const contentType = headerText(upstream, 'content-type') ?? '';
  if (plan.stream && contentType.startsWith('text/event-stream')) return relayStream(call, upstream);
  return readAnswer(call, await collectAnswer(upstream, JSON_ANSWER_BYTES));
}

const failed = (error: ApiError, mayFallBack: boolean, usage: Usage | null = null): FailedAttempt => ({
  kind: 'failed',
  error,
  mayFallBack,
  usage,
  deliveredTokens: 0,
});

/** Why an answer broke off: our own limits first, they abort what then looks like a cut. */
function failureOf(call: RunningCall, cause: UpstreamFailure | 'too_large'): ApiError {
  if (call.endedByUs === 'time_limit') return apiError('upstream_timeout');
  if (call.endedByUs === 'gate') return apiError('service_unavailable');
  return apiError(cause === 'unreachable' ? 'upstream_unreachable' : 'provider_error');
}

function readRefusal(call: RunningCall, upstream: UpstreamRequest, body: Collected): Attempt {
  if (!body.ok && call.endedByUs !== null) return failed(failureOf(call, body.cause), false);
  const value = body.ok ? parseJson(body.bytes) : undefined;
  const { error, mayFallBack } = readUpstreamError(
    upstream.status,
    value,
    headerText(upstream, 'retry-after') ?? undefined,
    contextTokens(call.candidate),
  );
  return failed(error, mayFallBack);
}

function readAnswer(call: RunningCall, body: Collected): Attempt {
  if (!body.ok) return failed(failureOf(call, body.cause), body.cause === 'cut');
  const read = readJsonObject(body.bytes);
  if (typeof read === 'string') return failed(apiError('provider_error'), true);
  const { object: answer, value } = read;

  const sent = usageOfAnswer(answer, value);
  const usage = sent?.usage ?? null;
  call.generationId ??= textOrNull(memberText(answer, 'id') ?? '');
  if (hasError(answer)) {
    // A provider can answer 200 with an error inside, and still bill for it.
    const { error, mayFallBack } = readUpstreamError(200, value, undefined, contextTokens(call.candidate));
    return failed(error, mayFallBack, usage);
  }
  const choicesBytes = memberSize(answer, 'choices');
  if (choicesBytes === undefined || call.options.plan.stream)
    return failed(apiError('provider_error'), true, usage);
  return {
    kind: 'json',
    answer,
    usage,
    usageObject: sent?.object ?? null,
    deliveredTokens: Math.ceil(choicesBytes / BYTES_PER_TOKEN),
  };
}

const BYTES_PER_TOKEN = 4;

async function relayStream(call: RunningCall, upstream: UpstreamRequest): Promise<Attempt> {
  const relay = new StreamRelay({
    upstream,
    caller: call.caller,
    head: (firstEvent) => {
      const object = call.generationId === null ? scanJsonObject(firstEvent) : 'not_an_object';
      if (typeof object !== 'string') call.generationId = textOrNull(memberText(object, 'id') ?? '');
      return answerHeaders(call, 'text/event-stream; charset=utf-8');
    },
    upstreamModel: call.candidate.endpoint.upstreamModel,
    publicModel: call.candidate.model.id,
  });
  upstream.pipeTo(relay);
  const end = await relay.ended;
  const usageEvent = relay.usageEvent !== null && 'usage' in relay.usageEvent ? relay.usageEvent : null;
  const sent = usageEvent?.usage ? readUsage(usageEvent.usage) : null;
  const usage = sent?.usage ?? null;
  const deliveredTokens = Math.ceil(relay.deliveredBytes / BYTES_PER_TOKEN);
  switch (end.kind) {
    case 'complete':
      return { kind: 'stream', usage, usageObject: sent?.object ?? null, usageEvent, deliveredTokens };
    case 'error': {
      const event = parseJson(end.event);
      const { error, mayFallBack } = readUpstreamError(200, event, undefined, contextTokens(call.candidate));
      return {
        kind: 'failed',
        error,
        mayFallBack: mayFallBack && !call.caller.committed,
        usage,
        deliveredTokens,
      };
    }
    case 'malformed':
      return {
        kind: 'failed',
        error: apiError('provider_error'),
        mayFallBack: !call.caller.committed,
        usage,
        deliveredTokens,
      };
    case 'failed':
      return {
        kind: 'failed',
        error: failureOf(call, end.cause),
        mayFallBack: !call.caller.committed && call.endedByUs === null,
        usage,
        deliveredTokens,
      };
  }
}

function headerText(upstream: UpstreamRequest, name: string): string | null {
  const value = upstream.headers[name];
  return typeof value === 'string' && value.length <= UPSTREAM_TEXT_CHARS_MAX && PRINTABLE.test(value)
    ? value
    : null;
}

const PRINTABLE = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

const textOrNull = (json: string): string | null => {
  const text = json.slice(1, -1);
  return json.startsWith('"') && text.length <= UPSTREAM_TEXT_CHARS_MAX && /^[\w:.-]+$/.test(text)
    ? text
    : null;
};

const hasError = (answer: JsonObject): boolean => answer.bytes.includes(ERROR_NEEDLE) && saysError(answer);

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
