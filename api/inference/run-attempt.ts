import { reportsCost } from '#core/catalog/catalog.ts';
import { SECOND_MS } from '#core/clock.ts';
import { ERROR_BODY_BYTES, JSON_ANSWER_BYTES, UPSTREAM_TEXT_CHARS_MAX } from '#core/limits.ts';
import { type ApiError, apiError, type ErrorCode } from '../contract/errors.ts';
import { answerHeaders, EVENT_STREAM } from './answer-headers.ts';
import { type Collected, collectAnswer } from './collect-answer.ts';
import { contextTokens, estimateTokens } from './estimate.ts';
import type { GoodAnswer, StreamReader } from './formats/call-format.ts';
import { type JsonObject, memberText, readJsonObject } from './json-object.ts';
import type { CallOutcome } from './routing/endpoint-health.ts';
import type { RunningCall } from './running-call.ts';
import { type StreamEnd, StreamRelay } from './stream-relay.ts';
import { AnswerCollector } from './translation/answer-collector.ts';
import { openSink, openSource, writeAnswer } from './translation/translate-answer.ts';
import { TranslatedStream } from './translation/translated-stream.ts';
import type { WholeAnswer } from './translation/whole-answer.ts';
import { readUpstreamError, type UpstreamError } from './upstream-error.ts';
import type { UpstreamFailure, UpstreamRequest } from './upstream-request.ts';
import { noTokens, type Usage } from './usage.ts';

/** How one attempt at one endpoint ended. */
export type Attempt =
  /** A whole JSON answer; nothing of it has been written. */
  | ({ kind: 'json'; usage: Usage | null } & GoodAnswer)
  /** A stream to its end mark; its events have been written, but for what its reader kept back. */
  | { kind: 'stream'; usage: Usage | null; reader: StreamReader; deliveredTokens: number }
  | FailedAttempt;

export interface FailedAttempt {
  kind: 'failed';
  error: ApiError;
  /** Busy or down, and nothing was written: another endpoint may answer. */
  mayFallBack: boolean;
  usage: Usage | null;
  deliveredTokens: number;
}

/** At the call's present candidate. What it showed of the endpoint, later calls are led by. */
export async function runAttempt(call: RunningCall): Promise<Attempt> {
  const { gateway, plan, agentId } = call.options;
  const { endpoint } = call.candidate;
  const sentAtMs = gateway.clock.monotonicMs();
  gateway.health.begin(endpoint, sentAtMs);
  const attempt = await attemptOnce(call, sentAtMs);
  const nowMs = gateway.clock.monotonicMs();
  if (attempt.kind === 'failed') tellOperator(call, attempt.error.code, nowMs);
  // What the caller, the journal or a bound of ours cut short says nothing of the provider.
  if (call.caller.gone || call.endedByUs === 'gate' || call.endedByUs === 'too_long')
    gateway.health.letGo(endpoint);
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

/** Of what no caller can mend, nor is told in so many words. */
function tellOperator(
  { options: { gateway }, candidate }: RunningCall,
  code: ErrorCode,
  nowMs: number,
): void {
  const { endpoint, model, provider } = candidate;
  // Of a router, a caller's own wishes can leave nobody.
  const advice = code === 'no_provider' && reportsCost(provider) ? undefined : ADVICE.get(code);
  if (advice === undefined || !gateway.health.isNews(endpoint, code, nowMs)) return;
  gateway.log.warn(`calls of a model fail: ${advice}`, { model: model.id, code });
}

const ADVICE: ReadonlyMap<ErrorCode, string> = new Map<ErrorCode, string>([
  ['no_provider', 'its provider knows no such path or model, check baseUrl and the name of the model there'],
  ['gateway_unavailable', 'its provider refuses our key or our account'],
  ['gateway_capacity', 'our account at its provider has no money or quota left'],
  ['upstream_unreachable', 'its provider cannot be reached, check baseUrl'],
]);

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

async function attemptOnce(call: RunningCall, sentAtMs: number): Promise<Attempt> {
  const { gateway, plan } = call.options;
  call.generationId = null;
  const upstream = call.dispatch(buildBody(call));
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
  const isStream = contentType.toLowerCase().startsWith('text/event-stream');
  if (isStream && plan.stream) return relayStream(call, upstream);
  if (isStream && call.asksStream) return collectStream(call, upstream);
  return readAnswer(call, await collectAnswer(upstream, JSON_ANSWER_BYTES));
}

function buildBody(call: RunningCall): Buffer {
  const { plan, agentId } = call.options;
  const { format, translated } = call.candidate;
  const body = translated ?? plan.body;
  const stream = call.asksStream;
  const asked = stream === plan.stream && translated === null ? plan : { ...plan, body, stream };
  return format.buildBody(asked, call.candidate, agentId);
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
    retryAfter(upstream),
    contextTokens(call.candidate),
  );
  return failed(error, mayFallBack);
}

function readAnswer(call: RunningCall, body: Collected): Attempt {
  if (!body.ok) return failed(failureOf(call, body.cause), body.cause === 'cut');
  const read = readJsonObject(body.bytes);
  if (typeof read === 'string') {
    // One vendor's errors are lists.
    const { error, mayFallBack } = readUpstreamError(
      200,
      parseJson(body.bytes),
      undefined,
      contextTokens(call.candidate),
    );
    return failed(error, mayFallBack);
  }
  const { object: answer, value } = read;

  const { plan } = call.options;
  const { format, translated } = call.candidate;
  call.generationId ??= textOrNull(memberText(answer, 'id') ?? '');
  const reading = format.readAnswer(answer, value);
  switch (reading.kind) {
    case 'error': {
      const { error, mayFallBack } = readUpstreamError(200, value, undefined, contextTokens(call.candidate));
      return failed(error, mayFallBack, reading.usage);
    }
    case 'malformed':
      return failed(apiError('provider_error'), true, reading.usage);
    case 'answer': {
      const usage = reading.sent?.usage ?? null;
      // Who waits for a stream cannot use a whole answer.
      if (plan.stream) return failed(apiError('provider_error'), true, usage);
      return translated === null ? { ...reading, kind: 'json', usage } : translateWhole(call, answer, usage);
    }
  }
}

async function relayStream(call: RunningCall, upstream: UpstreamRequest): Promise<Attempt> {
  const { format } = call.candidate;
  const reader = openReader(call);
  const relay = new StreamRelay({
    upstream,
    caller: call.caller,
    reader,
    textBytesMax: Number.POSITIVE_INFINITY,
    head: (firstEvent) => {
      if (call.generationId === null) call.generationId = textOrNull(format.idOf(firstEvent));
      return answerHeaders(call, EVENT_STREAM);
    },
  });
  upstream.pipeTo(relay);
  const end = await relay.ended;
  const deliveredTokens = estimateTokens(relay.deliveredBytes);
  const usage = reader.usage(deliveredTokens);
  if (end.kind === 'complete') {
    // An end with nothing before it is no answer: another provider may give one.
    if (!call.caller.committed && usage === null) return failedStream(call, { kind: 'malformed' }, null, 0);
    return { kind: 'stream', usage, reader, deliveredTokens };
  }
  return failedStream(call, end, usage, deliveredTokens);
}

function openReader(call: RunningCall): StreamReader {
  const { plan } = call.options;
  const { endpoint, model, format, provider, translated } = call.candidate;
  if (translated !== null) {
    const sink = openSink(plan.format.endpoint, call.identity, plan.showUsage);
    return new TranslatedStream(openSource(format.endpoint), sink);
  }
  const { upstreamModel } = endpoint;
  const { vendorFields } = provider.dialect;
  return format.openStream({ upstreamModel, publicModel: model.id, showUsage: plan.showUsage, vendorFields });
}

/** For a caller who waits for the whole answer. */
async function collectStream(call: RunningCall, upstream: UpstreamRequest): Promise<Attempt> {
  const { format, translated } = call.candidate;
  if (translated !== null) return collectTranslated(call, upstream);
  const assembly = format.openAssembly();
  const { end, readTokens } = await readWhole(call, upstream, assembly);
  if (end.kind !== 'complete') return failedWhole(call, end, assembly, readTokens);
  const bytes = assembly.answer();
  const deliveredTokens = estimateTokens(bytes?.length ?? 0);
  if (bytes === null) return failed(apiError('provider_error'), true, assembly.usage(deliveredTokens));
  return readAnswer(call, { ok: true, bytes });
}

async function collectTranslated(call: RunningCall, upstream: UpstreamRequest): Promise<Attempt> {
  const collector = new AnswerCollector(openSource(call.candidate.format.endpoint));
  const { end, readTokens } = await readWhole(call, upstream, collector);
  const { whole } = collector;
  const deliveredTokens = estimateTokens(whole.bytes);
  const usage = collector.usage(deliveredTokens);
  call.generationId ??= textOrNull(JSON.stringify(whole.id));
  if (end.kind !== 'complete') return failedWhole(call, end, collector, readTokens);
  if (whole.isEmpty && usage === null) return failed(apiError('provider_error'), true);
  return inCallersFormat(call, whole, usage);
}

function translateWhole(call: RunningCall, answer: JsonObject, usage: Usage | null): Attempt {
  const collector = new AnswerCollector(openSource(call.candidate.format.endpoint));
  const read = collector.read(answer.bytes, '');
  if (read.kind !== 'kept') return failed(apiError('provider_error'), true, usage);
  return inCallersFormat(call, collector.whole, usage);
}

function inCallersFormat(call: RunningCall, whole: WholeAnswer, usage: Usage | null): Attempt {
  const { plan } = call.options;
  const deliveredTokens = estimateTokens(whole.bytes);
  const uncounted = { ...noTokens, prompt: plan.promptEstimateTokens, completion: deliveredTokens };
  const text = writeAnswer(plan.format.endpoint, whole, call.identity, usage?.tokens ?? uncounted);
  const read = readJsonObject(Buffer.from(text));
  if (typeof read === 'string') throw new Error('A translated answer is no JSON object.');
  const reading = plan.format.readAnswer(read.object, read.value);
  if (reading.kind !== 'answer') throw new Error('A translated answer is none of its format.');
  return { ...reading, kind: 'json', usage, deliveredTokens };
}

/**
 * Whoever waits for a whole answer sees none of one that broke off: it pays what the provider recorded, and no estimate.
 * Unless we ended it: the provider bills what it wrote until then, and who asks for too much would have it for nothing.
 */
function failedWhole(
  call: RunningCall,
  end: Exclude<StreamEnd, { kind: 'complete' }>,
  reader: Pick<StreamReader, 'usage'>,
  readTokens: number,
): FailedAttempt {
  if (end.kind === 'too_long') call.endedByUs ??= 'too_long';
  const paidTokens = call.endedByUs === null ? 0 : readTokens;
  return failedStream(call, end, reader.usage(paidTokens), paidTokens);
}

async function readWhole(
  call: RunningCall,
  upstream: UpstreamRequest,
  reader: Omit<StreamReader, 'end'>,
): Promise<{ end: StreamEnd; readTokens: number }> {
  const { caller } = call;
  const relay = new StreamRelay({
    upstream,
    caller,
    reader,
    textBytesMax: JSON_ANSWER_BYTES,
    head: () => [],
  });
  upstream.pipeTo(relay);
  const end = await relay.ended;
  return { end, readTokens: estimateTokens(relay.deliveredBytes) };
}

function failedStream(
  call: RunningCall,
  end: Exclude<StreamEnd, { kind: 'complete' }>,
  usage: Usage | null,
  deliveredTokens: number,
): FailedAttempt {
  const { error, mayFallBack } = failureOfStream(call, end);
  return {
    kind: 'failed',
    error,
    mayFallBack: mayFallBack && !call.caller.committed,
    usage,
    deliveredTokens,
  };
}

function failureOfStream(call: RunningCall, end: Exclude<StreamEnd, { kind: 'complete' }>): UpstreamError {
  switch (end.kind) {
    case 'error':
      return readUpstreamError(200, parseJson(end.event), undefined, contextTokens(call.candidate));
    case 'malformed':
      return { error: apiError('provider_error'), mayFallBack: true };
    case 'too_long':
      // Another provider would write no less.
      return { error: apiError('provider_error'), mayFallBack: false };
    case 'failed':
      return { error: failureOf(call, end.cause), mayFallBack: call.endedByUs === null };
  }
}

/** In seconds. Some providers say it to the millisecond, beside or instead. */
function retryAfter(upstream: UpstreamRequest): string | undefined {
  const ms = headerText(upstream, 'retry-after-ms');
  if (ms !== null && /^\d{1,9}$/.test(ms)) return String(Math.ceil(Number(ms) / SECOND_MS));
  return headerText(upstream, 'retry-after') ?? undefined;
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

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
