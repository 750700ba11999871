import { ERROR_BODY_BYTES } from '#core/limits.ts';
import { apiError } from '../../contract/errors.ts';
import type { Candidate } from '../admit/call-plan.ts';
import type { GoodAnswer, UpstreamFormat } from '../formats/call-format.ts';
import { failureOf } from '../hold/call-failure.ts';
import {
  answerBounds,
  anyDepth,
  memberBytes,
  memberText,
  readJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { withPlainNames } from '../json/plain-names.ts';
import { estimateTokens } from '../price/estimate.ts';
import type { Usage } from '../price/usage.ts';
import { openSourceOf, shownTo, writeAnswer } from '../translation/translate-answer.ts';
import { WholeAnswer } from '../translation/whole-answer.ts';
import { type Attempt, cutShort, failed } from './attempt.ts';
import type { Collected } from './collect-answer.ts';
import { parseErrorBody } from './error-body.ts';
import { withoutMark } from './line-ends.ts';
import type { RunningCall } from './running-call.ts';
import { askedEndpoint, readUpstreamError } from './upstream-error.ts';
import { textOrNull } from './upstream-text.ts';

/** A JSON answer with a status of success, in one piece or put together. */
export function readWholeAnswer(call: RunningCall, sent: Collected): Attempt {
  const body = sent.ok ? { ok: true as const, bytes: withPlainNames(withoutMark(sent.bytes)) } : sent;
  if (!body.ok) {
    const error = failureOf(call, body.cause);
    return body.cause === 'aborted'
      ? cutShort(error, estimateTokens(body.bytesRead))
      : failed(error, body.cause === 'cut');
  }
  const read = readJsonObject(body.bytes, answerBounds);
  if (read === 'too_deep') {
    // Another provider would be paid, too.
    const usage = usageOfTooDeep(body.bytes, call.candidate.format);
    return failed(apiError('provider_error'), usage === null, usage);
  }
  if (typeof read === 'string') {
    const isError = body.bytes.length <= ERROR_BODY_BYTES;
    const value = isError ? parseErrorBody(body.bytes) : undefined;
    const { error, mayFallBack } = readUpstreamError(
      200,
      value,
      askedEndpoint(call.candidate, call.options.plan.promptEstimateTokens),
    );
    return failed(error, mayFallBack);
  }
  const { object: answer, value } = read;

  const { plan } = call.options;
  const { format, translated } = call.candidate;
  const reading = format.readAnswer(answer, value);
  switch (reading.kind) {
    case 'error': {
      const { error, mayFallBack } = readUpstreamError(
        200,
        value,
        askedEndpoint(call.candidate, call.options.plan.promptEstimateTokens),
      );
      return failed(error, mayFallBack, reading.usage);
    }
    case 'malformed':
      return failed(apiError('provider_error'), true, reading.usage);
    case 'answer': {
      // Only an answer is named by its body: under the id of a failure no provider has a record to look up.
      call.nameAnswer('body', textOrNull(memberText(answer, 'id') ?? ''));
      const usage = reading.sent?.usage ?? null;
      // A caller who waits for a stream is shown it as one.
      return translated === null || plan.stream
        ? { ...reading, kind: 'json', usage }
        : inCallersFormat(call, wholeOf(call.candidate, reading), {
            usage,
            deliveredTokens: reading.deliveredTokens,
          });
    }
  }
}

/** Of an answer that cannot be read: its record stands beside what is so deep. */
function usageOfTooDeep(bytes: Buffer, format: UpstreamFormat): Usage | null {
  const answer = scanJsonObject(bytes, anyDepth);
  const usage = typeof answer === 'string' ? undefined : memberBytes(answer, 'usage');
  if (usage === undefined) return null;
  const alone = readJsonObject(Buffer.concat([Buffer.from('{"usage":'), usage, Buffer.from('}')]));
  if (typeof alone === 'string') return null;
  const reading = format.readAnswer(alone.object, alone.value);
  return reading.kind === 'answer' ? null : reading.usage;
}

const wholeOf = (candidate: Candidate, { answer, value }: GoodAnswer): WholeAnswer =>
  WholeAnswer.of(openSourceOf(candidate).readWhole(answer.bytes, value));

/** What a provider said in its own format, as the caller's provider would have. */
export function inCallersFormat(
  call: RunningCall,
  whole: WholeAnswer,
  { usage, deliveredTokens }: Pick<Attempt, 'usage' | 'deliveredTokens'>,
): Attempt {
  const { plan } = call.options;
  const { value, bytes } = writeAnswer(plan.format.name, whole, call.identity, shownTo(plan, call.candidate));
  const answer = scanJsonObject(bytes, anyDepth);
  if (typeof answer === 'string') throw new Error('A translated answer is no JSON object.');
  return { kind: 'json', answer, value, sent: null, hasOtherRecords: false, usage, deliveredTokens };
}
