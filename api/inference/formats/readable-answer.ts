import { parseJson } from '#core/parse-json.ts';
import {
  answerBounds,
  type JsonObject,
  MemberChanges,
  memberText,
  rebuildJsonObject,
  scanJsonObject,
} from '../json/json-object.ts';
import type { GoodAnswer } from './call-format.ts';

/**
 * The answer with another text of one member, however it is shown then.
 *
 * @param write Makes the new JSON text from the one that came, which keeps the digits of its numbers.
 */
export function withMember(
  answer: JsonObject,
  value: Record<string, unknown>,
  member: string,
  write: (json: string) => string,
): Pick<GoodAnswer, 'answer' | 'value'> {
  const json = write(memberText(answer, member) ?? '[]');
  const whole = scanJsonObject(rebuildJsonObject(answer, new MemberChanges([[member, json]])), answerBounds);
  return typeof whole === 'string'
    ? { answer, value }
    : { answer: whole, value: { ...value, [member]: parseJson(json) } };
}
