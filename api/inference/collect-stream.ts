import { JSON_ANSWER_BYTES } from '#core/limits.ts';
import { apiError } from '../contract/errors.ts';
import { type Attempt, type FailedAttempt, failed } from './attempt.ts';
import { estimateTokens } from './estimate.ts';
import { failedStream } from './failed-stream.ts';
import type { StreamReader } from './formats/call-format.ts';
import { inCallersFormat, readWholeAnswer } from './read-whole-answer.ts';
import type { RunningCall } from './running-call.ts';
import { type StreamEnd, StreamRelay } from './stream-relay.ts';
import { AnswerCollector } from './translation/answer-collector.ts';
import { openSource } from './translation/translate-answer.ts';
import type { UpstreamRequest } from './upstream-request.ts';
import { textOrNull } from './upstream-text.ts';

/** A stream for a caller who waits for the whole answer: put together here. */
export async function collectStream(call: RunningCall, upstream: UpstreamRequest): Promise<Attempt> {
  const { format, translated } = call.candidate;
  if (translated !== null) return collectTranslated(call, upstream);
  const assembly = format.openAssembly();
  const { end, readTokens } = await readWhole(call, upstream, assembly);
  if (end.kind !== 'complete') return failedWhole(call, end, assembly, readTokens);
  const bytes = assembly.answer();
  const deliveredTokens = estimateTokens(bytes?.length ?? 0);
  if (bytes === null) return failed(apiError('provider_error'), true, assembly.usage(deliveredTokens));
  return readWholeAnswer(call, { ok: true, bytes });
}

async function collectTranslated(call: RunningCall, upstream: UpstreamRequest): Promise<Attempt> {
  const collector = new AnswerCollector(openSource(call.candidate.format.endpoint));
  const { end, readTokens } = await readWhole(call, upstream, collector);
  const { whole } = collector;
  const deliveredTokens = estimateTokens(whole.bytes);
  const usage = collector.usage(deliveredTokens);
  call.nameAnswer(textOrNull(JSON.stringify(whole.id)));
  if (end.kind !== 'complete') return failedWhole(call, end, collector, readTokens);
  if (whole.isEmpty && usage === null) return failed(apiError('provider_error'), true);
  return inCallersFormat(call, whole, usage);
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
  if (end.kind === 'too_long') call.endAsTooLong();
  const paidTokens = call.endedByUs === null ? 0 : readTokens;
  return failedStream(call, end, reader.usage(paidTokens), paidTokens);
}

async function readWhole(
  call: RunningCall,
  upstream: UpstreamRequest,
  reader: Omit<StreamReader, 'end'>,
): Promise<{ end: StreamEnd; readTokens: number }> {
  const { caller, options } = call;
  const relay = new StreamRelay({
    upstream,
    caller,
    reader,
    requestBytes: options.plan.body.bytes.length,
    textBytesMax: JSON_ANSWER_BYTES,
    head: () => [],
  });
  upstream.pipeTo(relay);
  const end = await relay.ended;
  return { end, readTokens: estimateTokens(relay.deliveredBytes) };
}
