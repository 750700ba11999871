import { isRecord } from '#core/is-record.ts';
import { ERROR_BODY_BYTES } from '#core/limits.ts';
import type { NanoUsd } from '#core/money.ts';
import { parseJson } from '#core/parse-json.ts';
import type { Candidate } from '../call-plan.ts';
import { estimateTokens } from '../estimate.ts';
import { type JsonObject, memberSize, memberText, rebuildJsonObject } from '../json-object.ts';
import { chatCounts, usageOfAnswer } from '../usage.ts';
import type { AnswerReading, GoodAnswer } from './call-format.ts';
import { tellsError } from './error-record.ts';
import { shownChanges } from './shown-changes.ts';
import { objectIn, presentMember } from './stream-text.ts';

export function readChatAnswer(answer: JsonObject, value: Record<string, unknown>): AnswerReading {
  const sent = usageOfAnswer(answer, value, chatCounts);
  const usage = sent?.usage ?? null;
  if (saysError(answer, value.choices)) return { kind: 'error', usage };
  const choicesBytes = memberSize(answer, 'choices');
  if (choicesBytes === undefined) return { kind: 'malformed', usage };
  return { kind: 'answer', answer, value, sent, deliveredTokens: estimateTokens(choicesBytes) };
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

/** One vendor puts its usage into a record of its own, in the last chunk. */
export function usageIn(object: JsonObject): Buffer | null {
  const usage = presentMember(object, 'usage');
  if (usage !== null) return usage;
  const own = objectIn(object, 'x_groq');
  return own === null ? null : presentMember(own, 'usage');
}

/** Nothing of the answer comes after this chunk: it has no choices, or says why they end. */
export function isLastChunk(object: JsonObject): boolean {
  const choices = choicesOf(object);
  if (!Array.isArray(choices) || choices.length === 0) return true;
  return choices.every((choice) => isRecord(choice) && typeof choice.finish_reason === 'string');
}

const choicesOf = (object: JsonObject): unknown => parseJson(memberText(object, 'choices') ?? '[]');

export const showChatAnswer = (good: GoodAnswer, shown: NanoUsd | null, candidate: Candidate): Buffer =>
  rebuildJsonObject(good.answer, shownChanges(good, shown, candidate));
