import { isRecord } from '#core/is-record.ts';
import { ERROR_BODY_BYTES } from '#core/limits.ts';
import { parseJson } from '#core/parse-json.ts';
import { AnswerText, addChat } from '../answer-text.ts';
import type { Candidate } from '../call-plan.ts';
import { estimateTokens } from '../estimate.ts';
import { splitJsonList } from '../json-list.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberBytes,
  memberSize,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json-object.ts';
import { chatCounts, readUsage, usageOfAnswer } from '../usage.ts';
import type { AnswerReading, GoodAnswer } from './call-format.ts';
import { tellsError } from './error-record.ts';
import { type ShownCharge, shownChanges } from './shown-changes.ts';
import { objectIn, presentMember, USAGE_NEEDLE } from './stream-text.ts';

export function readChatAnswer(answer: JsonObject, value: Record<string, unknown>): AnswerReading {
  const elsewhere = presentMember(answer, 'usage') === null ? usageIn(answer) : null;
  const sent =
    elsewhere === null ? usageOfAnswer(answer, value, chatCounts) : readUsage(elsewhere, chatCounts);
  const usage = sent?.usage ?? null;
  if (saysError(answer, value.choices)) return { kind: 'error', usage };
  if (memberSize(answer, 'choices') === undefined) return { kind: 'malformed', usage };
  const text = new AnswerText();
  addChat(text, value);
  return { kind: 'answer', answer, value, sent, deliveredTokens: estimateTokens(text.bytes) };
}

/** An error beside the answer, in its place (with `object: "error"`, or a message alone), or inside a choice. */
const saysError = (object: JsonObject, choices: unknown): boolean =>
  presentMember(object, 'error') !== null ||
  memberText(object, 'object') === '"error"' ||
  (Array.isArray(choices) && choices.some(fails));

const fails = (choice: unknown): boolean =>
  isRecord(choice) &&
  (choice.finish_reason === 'error' || isRecord(choice.error) || typeof choice.error === 'string');

/** Some servers end a stream by a list of errors, or by a record that is nothing but one. */
export function isErrorEvent(data: Buffer, object: JsonObject | null): boolean {
  if (object !== null) return saysError(object, choicesOf(object)) || isErrorAlone(object);
  const isList = data[0] === OPEN_BRACKET && data.length <= ERROR_BODY_BYTES;
  const value = isList ? parseJson(data.toString('utf8')) : null;
  return Array.isArray(value) && isRecord(value[0]) && isRecord(value[0].error);
}

const OPEN_BRACKET = 0x5b;

const isErrorAlone = (object: JsonObject): boolean =>
  presentMember(object, 'choices') === null && tellsError(object);

/**
 * The usage record of a chunk or of a whole answer. Some vendors put it into a member of their own or into a choice
 * (`api/providers/usage-fields.ts`).
 */
export function usageIn(object: JsonObject): Buffer | null {
  const usage = presentMember(object, 'usage');
  if (usage !== null) return usage;
  const own = objectIn(object, 'x_groq');
  const ofOwn = own === null ? null : presentMember(own, 'usage');
  if (ofOwn !== null) return ofOwn;
  const choices = memberBytes(object, 'choices');
  if (choices === undefined || choices.indexOf(USAGE_NEEDLE) < 0) return null;
  for (const choice of splitJsonList(choices.toString('utf8')) ?? []) {
    const scanned = scanJsonObject(Buffer.from(choice), answerBounds);
    const ofChoice = typeof scanned === 'string' ? null : presentMember(scanned, 'usage');
    if (ofChoice !== null) return ofChoice;
  }
  return null;
}

/** A chunk without any usage record in it: the caller gets one at the end, or did not ask for one. */
export function withoutUsage(object: JsonObject): MemberChanges {
  const changes = new MemberChanges([['usage', null]]);
  const own = objectIn(object, 'x_groq');
  if (own !== null && memberBytes(own, 'usage') !== undefined) changes.set('x_groq', withoutMember(own));
  const choices = memberBytes(object, 'choices');
  if (choices === undefined || choices.indexOf(USAGE_NEEDLE) < 0) return changes;
  const shown = (splitJsonList(choices.toString('utf8')) ?? []).map((choice) => {
    const scanned = scanJsonObject(Buffer.from(choice), answerBounds);
    if (typeof scanned === 'string' || memberBytes(scanned, 'usage') === undefined) return choice;
    changes.set('choices', '');
    return withoutMember(scanned).toString('utf8');
  });
  if (changes.keys.includes('choices')) changes.set('choices', `[${shown.join(',')}]`);
  return changes;
}

const withoutMember = (object: JsonObject): Buffer =>
  rebuildJsonObject(object, new MemberChanges([['usage', null]]));

/** What is left of a chunk that was sent for its usage alone: nothing that an answer is made of. */
export const isBareFrame = ({ members }: JsonObject): boolean => members.every(({ key }) => FRAME.has(key));

const FRAME: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'provider',
  'service_tier',
  'system_fingerprint',
]);

/** Nothing of the answer comes after this chunk: it has no choices, or says why they end. */
export function isLastChunk(object: JsonObject): boolean {
  const choices = choicesOf(object);
  if (!Array.isArray(choices) || choices.length === 0) return true;
  return choices.every((choice) => isRecord(choice) && typeof choice.finish_reason === 'string');
}

const choicesOf = (object: JsonObject): unknown => parseJson(memberText(object, 'choices') ?? '[]');

export const showChatAnswer = (good: GoodAnswer, charge: ShownCharge, candidate: Candidate): Buffer =>
  rebuildJsonObject(good.answer, shownChanges('chat/completions', good, charge, candidate));
