import { isRecord } from '#core/is-record.ts';
import { ERROR_BODY_BYTES } from '#core/limits.ts';
import { parseJson } from '#core/parse-json.ts';
import { readNumberedError } from '../../providers/numbered-errors.ts';
import type { Candidate } from '../admit/call-plan.ts';
import { parseExact } from '../json/exact-json.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberBytes,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import { AnswerText, addChat } from '../price/answer-text.ts';
import { estimateTokens } from '../price/estimate.ts';
import { chatCounts } from '../price/usage.ts';
import type { AnswerReading, GoodAnswer, StreamEndView } from './call-format.ts';
import { endWordOf, isFailedEnd } from './end-words.ts';
import { tellsError, tellsErrorBesideNothing } from './error-record.ts';
import { type ReadMember, readableAnswer } from './readable-answer.ts';
import { shownChanges } from './shown-changes.ts';
import { objectIn, presentMember, setMissing } from './stream-text.ts';
import { addParts } from './streamed-choice.ts';
import { recordsOfAnswer, withOneRecord, withoutUsage } from './usage-places.ts';
import { recordOf, records } from './values.ts';
import { areReadable, readableChoices } from './whole-choices.ts';

export function readChatAnswer(answer: JsonObject, value: Record<string, unknown>): AnswerReading {
  const found = recordsOfAnswer(answer, chatCounts);
  const usage = found.sent?.usage ?? null;
  if (saysError(answer, value.choices) || isErrorAlone(answer)) return { kind: 'error', usage };
  if (presentMember(answer, 'choices') === null) return { kind: 'malformed', usage };
  const text = new AnswerText();
  addChat(text, value);
  return {
    kind: 'answer',
    ...readableAnswer(answer, value, CHOICES),
    ...found,
    deliveredTokens: estimateTokens(text.bytes),
  };
}

const CHOICES: ReadMember = { member: 'choices', isReadable: areReadable, write: readableChoices };

/** An error beside the answer, in its place (with `object: "error"`, a message alone, or a number), or inside a choice. */
const saysError = (object: JsonObject, choices: unknown): boolean =>
  presentMember(object, 'error') !== null ||
  memberText(object, 'object') === '"error"' ||
  stopsEarly(object) ||
  (Array.isArray(choices) && choices.length > 0 ? choices.some(fails) : hasNumberedError(object));

/** Groq says in a member of its own why it ended a stream early. */
function stopsEarly(object: JsonObject): boolean {
  const own = objectIn(object, 'x_groq');
  return own !== null && presentMember(own, 'error') !== null;
}

const hasNumberedError = (object: JsonObject): boolean =>
  readNumberedError(parseJson(memberText(object, 'base_resp') ?? 'null')) !== null;

const fails = (choice: unknown): boolean =>
  isRecord(choice) &&
  (isFailedEnd(choice.finish_reason) || isRecord(choice.error) || typeof choice.error === 'string');

/** Some servers end a stream by a list of errors, or by a record that is nothing but one. */
export function isErrorEvent(data: Buffer, object: JsonObject | null): boolean {
  if (object !== null) return saysError(object, choicesOf(object)) || isErrorAlone(object);
  const isList = data[0] === OPEN_BRACKET && data.length <= ERROR_BODY_BYTES;
  const value = isList ? parseJson(data.toString('utf8')) : null;
  return Array.isArray(value) && isRecord(value[0]) && isRecord(value[0].error);
}

const OPEN_BRACKET = 0x5b;

function isErrorAlone(object: JsonObject): boolean {
  if (presentMember(object, 'choices') === null) return tellsError(object);
  return hasNoChoices(object) && tellsErrorBesideNothing(object);
}

/** Whether it has no list of choices, or an empty one. */
export function hasNoChoices(object: JsonObject): boolean {
  const choices = memberBytes(object, 'choices');
  // The choices of a whole answer are long, so no text is made of them.
  return choices === undefined || (choices.length <= EMPTY_BYTES_MAX && EMPTY_LIST.test(choices.toString()));
}

const EMPTY_LIST = /^\[\s*\]$/;
const EMPTY_BYTES_MAX = 1_024;

/** What is left of a chunk that was sent for its usage alone: nothing that an answer is made of. */
export const isBareFrame = ({ members }: JsonObject): boolean =>
  members.every(({ key }) => isFrameMember(key));

export const isFrameMember = (name: string): boolean => FRAME.has(name);

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

/** Some servers name the pages that an answer rests on beside its usage alone. Every other member there is of no use without it. */
export const namesSources = (object: JsonObject): boolean =>
  SOURCES.some((name) => presentMember(object, name) !== null);

const SOURCES = ['citations', 'search_results', 'search_info', 'web_search'];

/** Nothing of the answer comes after this chunk: it has no choices, or says why they end. */
export function isLastChunk(object: JsonObject): boolean {
  const choices = choicesOf(object);
  if (!Array.isArray(choices) || choices.length === 0) return true;
  return choices.every((choice) => isRecord(choice) && endWordOf(choice.finish_reason) !== '');
}

const choicesOf = (object: JsonObject): unknown => parseJson(memberText(object, 'choices') ?? '[]');

/** A router's clients want the name of a provider in every chat answer, and the operator's are nobody's business. */
export const ANSWERED_BY = 'faregate';

/** The answer with texts in the place of lists of parts, as in a stream. */
function withTexts(good: GoodAnswer): GoodAnswer {
  if (!records(good.value.choices).some(hasParts)) return good;
  const choices = parseExact(memberText(good.answer, 'choices') ?? '[]');
  const shown = records(choices).map((choice) => {
    const { content, ...rest } = recordOf(choice.message);
    if (!Array.isArray(content)) return choice;
    const message: Record<string, unknown> = { ...rest, content: null };
    addParts(message, content);
    return { ...choice, message };
  });
  const changes = new MemberChanges([['choices', JSON.stringify(shown)]]);
  const answer = scanJsonObject(rebuildJsonObject(good.answer, changes), answerBounds);
  return typeof answer === 'string' ? good : { ...good, answer };
}

const hasParts = ({ message }: Record<string, unknown>): boolean => Array.isArray(recordOf(message).content);

/** Clients read the names of every answer, and the time as a whole number. */
function nameAnswer(
  answer: JsonObject,
  { identity }: StreamEndView,
  candidate: Candidate,
  changes: MemberChanges,
): void {
  setMissing(answer, { id: identity.id, object: 'chat.completion', model: candidate.model.id }, changes);
  const created = memberText(answer, 'created') ?? '';
  if (WHOLE_NUMBER.test(created)) return;
  const seconds = FRACTION.exec(created)?.[1];
  changes.set('created', seconds ?? String(identity.createdAtS));
}

const WHOLE_NUMBER = /^\d+$/;
const FRACTION = /^(\d{1,15})\.\d+$/;

/** The caller sees one record, which is ours: another one would tell what the vendor charges. */
export function showChatAnswer(sent: GoodAnswer, charge: StreamEndView, candidate: Candidate): Buffer {
  const good = withTexts(sent);
  const shown = shownChanges('chat', good, charge, candidate);
  const isHidden = shown.values[shown.placeOf('provider')] === null;
  if (isHidden || presentMember(good.answer, 'provider') === null)
    shown.set('provider', JSON.stringify(ANSWERED_BY));
  nameAnswer(good.answer, charge, candidate, shown);
  return rebuildJsonObject(good.answer, withOneRecord(good, shown, withoutUsage));
}
