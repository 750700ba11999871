import { isRecord } from '#core/is-record.ts';
import type { NanoUsd } from '#core/money.ts';
import type { Candidate } from '../call-plan.ts';
import { estimateTokens } from '../estimate.ts';
import { type JsonObject, memberSize, memberText, rebuildJsonObject } from '../json-object.ts';
import { chatCounts, usageOfAnswer } from '../usage.ts';
import type { AnswerReading, GoodAnswer } from './call-format.ts';
import { shownChanges } from './shown-changes.ts';
import { ERROR_NEEDLE, presentMember } from './stream-text.ts';

export function readChatAnswer(answer: JsonObject, value: Record<string, unknown>): AnswerReading {
  const sent = usageOfAnswer(answer, value, chatCounts);
  const usage = sent?.usage ?? null;
  if (answer.bytes.includes(ERROR_NEEDLE) && saysError(answer)) return { kind: 'error', usage };
  const choicesBytes = memberSize(answer, 'choices');
  if (choicesBytes === undefined) return { kind: 'malformed', usage };
  return { kind: 'answer', answer, value, sent, deliveredTokens: estimateTokens(choicesBytes) };
}

/** An error beside the answer, in its place (some servers say `object: "error"`), or inside a choice. */
export const saysError = (object: JsonObject): boolean =>
  presentMember(object, 'error') !== null ||
  memberText(object, 'object') === '"error"' ||
  choicesFail(object);

function choicesFail(object: JsonObject): boolean {
  const text = memberText(object, 'choices');
  if (text === undefined) return false;
  try {
    const choices: unknown = JSON.parse(text);
    return (
      Array.isArray(choices) &&
      choices.some(
        (choice) => isRecord(choice) && (choice.finish_reason === 'error' || isRecord(choice.error)),
      )
    );
  } catch {
    return false;
  }
}

export const showChatAnswer = (good: GoodAnswer, shown: NanoUsd | null, candidate: Candidate): Buffer =>
  rebuildJsonObject(good.answer, shownChanges(good, shown, candidate));
