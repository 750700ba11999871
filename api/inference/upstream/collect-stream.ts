import { JSON_ANSWER_BYTES } from '#core/limits.ts';
import { apiError } from '../../contract/errors.ts';
import type { StreamReader } from '../formats/call-format.ts';
import { estimateTokens } from '../price/estimate.ts';
import type { Usage } from '../price/usage.ts';
import { AnswerCollector } from '../translation/answer-collector.ts';
import { openSourceOf } from '../translation/translate-answer.ts';
import { type Attempt, endUnlessComplete, type FailedAttempt, failed, failedStream } from './attempt.ts';
import { inCallersFormat, readWholeAnswer } from './read-whole-answer.ts';
import type { RunningCall } from './running-call.ts';
import { type StreamEnd, StreamRelay } from './stream-relay.ts';
import type { UpstreamRequest } from './upstream-request.ts';
import { textOrNull } from './upstream-text.ts';

/** A stream for a caller who waits for the whole answer: put together here. */
export async function collectStream(
  call: RunningCall,
  upstream: UpstreamRequest,
  source: Pick<UpstreamRequest, 'pipeTo'> = upstream,
): Promise<Attempt> {
  const { format, translated } = call.candidate;
  if (translated !== null) return collectTranslated(call, upstream, source);
  const assembly = format.openAssembly();
  const { end, readTokens } = await readWhole(call, { upstream, source, reader: assembly });
  if (end.kind !== 'complete') return failedWhole(call, end, assembly, readTokens);
  const bytes = assembly.answer();
  if (bytes === null) return failed(apiError('provider_error'), true, assembly.usage(readTokens));
  const attempt = readWholeAnswer(call, { ok: true, bytes });
  return attempt.kind === 'json' ? countedAsStream(attempt, assembly.usage(readTokens)) : attempt;
}

/**
 * An assembled answer shows one record of its stream, and the counters may stand in another one: it costs what the same
 * stream costs a caller who takes the events.
 */
function countedAsStream(attempt: Extract<Attempt, { kind: 'json' }>, usage: Usage | null): Attempt {
  const { sent } = attempt;
  return { ...attempt, usage, sent: sent === null ? null : { ...sent, usage } };
}

async function collectTranslated(
  call: RunningCall,
  upstream: UpstreamRequest,
  source: Pick<UpstreamRequest, 'pipeTo'>,
): Promise<Attempt> {
  const collector = new AnswerCollector(openSourceOf(call.candidate));
  const { end, readTokens } = await readWhole(call, { upstream, source, reader: collector });
  if (end.kind !== 'complete') return failedWhole(call, end, collector, readTokens);
  const whole = collector.finish();
  call.nameAnswer('body', textOrNull(JSON.stringify(whole.id)));
  const usage = collector.usage(readTokens);
  if (whole.isEmpty && usage === null) return failed(apiError('provider_error'), true);
  return inCallersFormat(call, whole, { usage, deliveredTokens: readTokens });
}

/**
 * The caller sees nothing of a whole answer that broke off. What was read counts for a hang-up alone; the record of a failure
 * is what the provider counts with it, and not what it had counted before an end that never came.
 */
function failedWhole(
  call: RunningCall,
  end: Exclude<StreamEnd, { kind: 'complete' }>,
  reader: Pick<StreamReader, 'usage' | 'isComplete'>,
  readTokens: number,
): FailedAttempt {
  if (end.kind === 'too_long') call.endAsTooLong();
  const failure = failedStream(call, end, null, readTokens);
  if (failure.cutByUs) return { ...failure, usage: reader.usage(readTokens) };
  const isRecord = reader.isComplete() || (end.kind === 'error' && call.candidate.format.name !== 'messages');
  return isRecord ? { ...failure, usage: reader.usage(0) } : failure;
}

interface CollectedStream {
  upstream: UpstreamRequest;
  /** The place from which its bytes come. */
  source: Pick<UpstreamRequest, 'pipeTo'>;
  reader: Omit<StreamReader, 'end'>;
}

async function readWhole(
  call: RunningCall,
  { upstream, source, reader }: CollectedStream,
): Promise<{ end: StreamEnd; readTokens: number }> {
  const { caller, candidate, options } = call;
  const relay = new StreamRelay({
    clock: options.gateway.clock,
    upstream,
    caller,
    reader,
    requestBytes: options.plan.body.bytes.length,
    textBytesMax: JSON_ANSWER_BYTES,
    firstEvent: (event) => {
      if (call.generationId === null) call.nameAnswer('body', textOrNull(candidate.format.idOf(event)));
    },
    head: () => ({}),
  });
  source.pipeTo(relay);
  const end = endUnlessComplete(call, await relay.ended, reader);
  return { end, readTokens: estimateTokens(relay.deliveredBytes) };
}
