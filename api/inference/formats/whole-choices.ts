import { isRecord } from '#core/is-record.ts';
import { parseExact, plainNumber } from '../json/exact-json.ts';
import { isNoArguments, wholeArguments } from '../price/call-arguments.ts';
import { CallIds } from './call-ids.ts';
import { callPiecesIn, isFlatCall } from './call-numbers.ts';
import { chatEndOf, endWordOf } from './end-words.ts';
import { mergeDelta } from './merge-delta.ts';
import { recordOf, records, textOf } from './values.ts';

/*
 * The choices of a whole chat answer as every client can read them. Clients read the message of the first choice, and the arguments of
 * its calls, without asking whether they are there, and typed ones know only the words of the format for the end.
 */

type Choice = Record<string, unknown>;

/** Whether clients can read the choices as they came, as those of most servers. */
export function areReadable(choices: unknown): boolean {
  if (!Array.isArray(choices)) return true;
  if (choices.length === 0) return false;
  const indexes = new Set<unknown>();
  for (const choice of choices) {
    if (!isRecord(choice)) continue;
    const { index, message, finish_reason: word } = choice;
    if (typeof index !== 'number' || indexes.has(index) || !isRecord(message)) return false;
    if (typeof word !== 'string' || chatEndOf(word, false) !== word) return false;
    indexes.add(index);
    if (!areCallsReadable(message)) return false;
  }
  return true;
}

function areCallsReadable({ tool_calls: calls, function_call: called }: Record<string, unknown>): boolean {
  if (isRecord(called) && isNoArguments(textOf(called.arguments))) return false;
  if (isRecord(calls)) return false;
  const ids = new CallIds();
  return records(calls).every((call) => {
    const { id, type, function: given } = call;
    if (isFlatCall(call)) return false;
    const isNamed = ids.keeps(textOf(id)) && textOf(type) !== '';
    return isNamed && (!isRecord(given) || !isNoArguments(textOf(given.arguments)));
  });
}

/** @param json The list of choices, whose numbers keep their digits. */
export function readableChoices(json: string, answerId: string): string {
  const choices = parseExact(json);
  if (!Array.isArray(choices)) return json;
  const whole: Choice[] = [];
  const newest = new Map<unknown, Choice>();
  for (const choice of records(choices)) {
    const known = newest.get(numberOf(choice));
    if (known !== undefined && isSameAnswer(known, choice)) {
      join(known, choice);
      continue;
    }
    const first = begun(choice);
    whole.push(first);
    newest.set(numberOf(choice), first);
  }
  if (whole.length === 0) whole.push(begun({}));
  return JSON.stringify(whole.map((choice, place) => finished(choice, place, answerId)));
}

/**
 * Some servers spread one answer over several choices, the text in one and the calls in the next. Choices under one number, or under
 * none, are one answer, unless both of them have a text.
 */
function isSameAnswer(known: Choice, choice: Choice): boolean {
  const [one, other] = [recordOf(known.message).content, recordOf(choice.message).content];
  return isEmpty(one) || isEmpty(other);
}

const numberOf = ({ index }: Choice): unknown => plainNumber(index ?? null);
const isEmpty = (content: unknown): boolean =>
  (content ?? '') === '' || (Array.isArray(content) && content.length === 0);

/** Some servers withhold an answer together with its message, and some send the whole of it as the one piece of a stream. */
function begun({ message, delta, ...choice }: Choice): Choice {
  const said = isRecord(message) ? message : recordOf(delta);
  return { ...choice, message: { ...EMPTY_MESSAGE, ...said, role: textOf(said.role) || EMPTY_MESSAGE.role } };
}

const EMPTY_MESSAGE = { role: 'assistant', content: null, refusal: null };

function join(known: Choice, choice: Choice): void {
  const { index: _, message, delta: _delta, finish_reason: reason, ...rest } = choice;
  const { tool_calls: calls, ...said } = recordOf(message);
  const whole = recordOf(known.message);
  mergeDelta(known, rest);
  mergeDelta(whole, said);
  const all = [...callPiecesIn(whole.tool_calls), ...callPiecesIn(calls)];
  if (all.length > 0) whole.tool_calls = all;
  // The choice with the calls says why the answer as a whole ends.
  if (textOf(reason) !== '' && (calls !== undefined || textOf(known.finish_reason) === ''))
    known.finish_reason = reason;
}

function finished({ index, message, ...choice }: Choice, place: number, answerId: string): Choice {
  const { finish_reason: word } = choice;
  const { tool_calls: calls, function_call: called, ...said } = recordOf(message);
  const number = index ?? place;
  const id = idOfChoice(answerId, number);
  const ids = new CallIds();
  const whole = callPiecesIn(calls).map((call, at) => wholeCall(call, ids.idOf(textOf(call.id), id, at)));
  return {
    index: number,
    ...choice,
    finish_reason: chatEndOf(endWordOf(word), whole.length > 0),
    message: {
      ...said,
      ...(calls === undefined ? {} : { tool_calls: whole.length === 0 ? calls : whole }),
      ...(called === undefined ? {} : { function_call: isRecord(called) ? withArguments(called) : called }),
    },
  };
}

/** Several answers to one request have one id, and their calls must not have one, too. */
export const idOfChoice = (answerId: string, index: unknown): string =>
  plainNumber(index) === 0 || answerId === '' ? answerId : `${answerId} ${String(plainNumber(index))}`;

/** A call has an id that its result can name, and arguments that can be parsed, even if the server wrote neither. */
export function wholeCall(call: Record<string, unknown>, id: string): Record<string, unknown> {
  const { id: _, type, function: given, ...rest } = call;
  const called = isRecord(given) ? { function: withArguments(given) } : {};
  const kind = textOf(type) || (isRecord(given) || !isRecord(rest.custom) ? 'function' : 'custom');
  return { id, type: kind, ...called, ...rest };
}

/** Some servers write an object in the place of its text, or another text than that of an empty object. */
const withArguments = (given: Record<string, unknown>): Record<string, unknown> => ({
  ...given,
  arguments: wholeArguments(given.arguments),
});
