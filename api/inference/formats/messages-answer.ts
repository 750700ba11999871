import type { Candidate } from '../admit/call-plan.ts';
import { type JsonObject, memberBytes, memberText, rebuildJsonObject } from '../json/json-object.ts';
import { AnswerText, addMessage } from '../price/answer-text.ts';
import { estimateTokens } from '../price/estimate.ts';
import { messagesCounts } from '../price/usage.ts';
import { AnswerWords } from '../scrub/answer-words.ts';
import { hiddenOf } from '../scrub/scrub-words.ts';
import type { AnswerReading, GoodAnswer, StreamEndView } from './call-format.ts';
import { tellsError } from './error-record.ts';
import { type ReadMember, readableAnswer } from './readable-answer.ts';
import { shownChanges } from './shown-changes.ts';
import { showMessageEnd } from './shown-reasons.ts';
import { objectIn, presentMember, setMissing } from './stream-text.ts';
import { recordsOfAnswer, withOneRecord } from './usage-places.ts';
import { areBlocksReadable, readableBlocks } from './whole-blocks.ts';

export function readMessagesAnswer(answer: JsonObject, value: Record<string, unknown>): AnswerReading {
  const found = recordsOfAnswer(answer, messagesCounts);
  const usage = found.sent?.usage ?? null;
  if (saysMessagesError(answer)) return { kind: 'error', usage };
  if (memberBytes(answer, 'content') === undefined)
    return { kind: tellsError(answer) ? 'error' : 'malformed', usage };
  const text = new AnswerText();
  addMessage(text, value);
  return {
    kind: 'answer',
    ...readableAnswer(answer, value, BLOCKS),
    ...found,
    deliveredTokens: estimateTokens(text.bytes),
  };
}

const BLOCKS: ReadMember = { member: 'content', isReadable: areBlocksReadable, write: readableBlocks };

export const saysMessagesError = (object: JsonObject): boolean =>
  memberText(object, 'type') === '"error"' ||
  memberText(object, 'stop_reason') === '"error"' ||
  presentMember(object, 'error') !== null ||
  stopsWithError(object);

/** Of the last event of a stream that counts. */
function stopsWithError(object: JsonObject): boolean {
  const delta = memberText(object, 'type') === '"message_delta"' ? objectIn(object, 'delta') : null;
  if (delta === null) return false;
  return memberText(delta, 'stop_reason') === '"error"' || presentMember(delta, 'error') !== null;
}

/** Clients read the names of every message. One is without them where a server has left out the event that begins its stream. */
export function showMessagesAnswer(good: GoodAnswer, charge: StreamEndView, candidate: Candidate): Buffer {
  const changes = withOneRecord(good, shownChanges('messages', good, charge, candidate));
  showMessageEnd(good.answer, new AnswerWords(hiddenOf(candidate)), changes);
  setMissing(good.answer, { id: charge.identity.id, model: candidate.model.id }, changes);
  return rebuildJsonObject(good.answer, changes);
}
