import { isRecord } from '#core/is-record.ts';
import type { Candidate } from '../admit/call-plan.ts';
import { type JsonObject, memberBytes, memberText, rebuildJsonObject } from '../json/json-object.ts';
import { AnswerText, addResponses } from '../price/answer-text.ts';
import { estimateTokens } from '../price/estimate.ts';
import { responsesCounts } from '../price/usage.ts';
import type { AnswerReading, GoodAnswer, StreamEndView } from './call-format.ts';
import { COMPLETED_STATUS, isReasonName, tellsError } from './error-record.ts';
import { type ReadMember, readableAnswer } from './readable-answer.ts';
import { shownChanges } from './shown-changes.ts';
import { objectIn, presentMember } from './stream-text.ts';
import { recordsOfAnswer, withOneRecord } from './usage-places.ts';
import { areItemsReadable, readableItems } from './whole-items.ts';

export function readResponsesAnswer(answer: JsonObject, value: Record<string, unknown>): AnswerReading {
  const found = recordsOfAnswer(answer, responsesCounts);
  const usage = found.sent?.usage ?? null;
  if (saysResponseFailed(answer)) return { kind: 'error', usage };
  if (memberBytes(answer, 'output') === undefined)
    return { kind: tellsError(answer) ? 'error' : 'malformed', usage };
  const text = new AnswerText();
  addResponses(text, value);
  return {
    kind: 'answer',
    ...readableAnswer(answer, value, ITEMS),
    ...found,
    deliveredTokens: estimateTokens(text.bytes),
  };
}

const ITEMS: ReadMember = { member: 'output', isReadable: areItemsReadable, write: readableItems };

/** A response that was cancelled is as little an answer as one that failed. */
export function saysResponseFailed(response: JsonObject): boolean {
  const status = memberText(response, 'status');
  return status === '"failed"' || status === '"cancelled"' || presentMember(response, 'error') !== null;
}

/**
 * `output_text` joins the text of all messages (spec: Responses response); clients without an SDK read nothing else. Some servers have
 * text there alone, which is shown, because it is counted.
 */
export function showResponsesAnswer(good: GoodAnswer, charge: StreamEndView, candidate: Candidate): Buffer {
  const changes = withOneRecord(good, shownChanges('responses', good, charge, candidate));
  const details = objectIn(good.answer, 'incomplete_details');
  if (details !== null && !isReasonName(memberText(details, 'reason')))
    changes.set('incomplete_details', null);
  if (!isReasonName(memberText(good.answer, 'status'))) changes.set('status', COMPLETED_STATUS);
  const { output, output_text: sent } = good.value;
  const text = textOf(output);
  const isLonger = typeof sent === 'string' && sent.length > text.length;
  changes.set('output_text', JSON.stringify(isLonger ? sent : text));
  return rebuildJsonObject(good.answer, changes);
}

function textOf(output: unknown): string {
  let text = '';
  for (const item of Array.isArray(output) ? output : []) {
    if (!isRecord(item) || item.type !== 'message' || !Array.isArray(item.content)) continue;
    for (const part of item.content) {
      if (isRecord(part) && part.type === 'output_text' && typeof part.text === 'string') text += part.text;
    }
  }
  return text;
}
