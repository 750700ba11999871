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
import { textOf } from './values.ts';

/** The member of a whole answer that clients read without asking what is there. */
export interface ReadMember {
  member: string;
  isReadable: (value: unknown) => boolean;
  /** Makes readable JSON text of the member's own, whose numbers keep their digits. */
  write: (json: string, answerId: string) => string;
}

/** The answer as every client can read it, however it is shown then: most answers are so already. */
export function readableAnswer(
  answer: JsonObject,
  value: Record<string, unknown>,
  { member, isReadable, write }: ReadMember,
): Pick<GoodAnswer, 'answer' | 'value'> {
  if (isReadable(value[member])) return { answer, value };
  const json = write(memberText(answer, member) ?? '[]', textOf(value.id));
  const whole = scanJsonObject(rebuildJsonObject(answer, new MemberChanges([[member, json]])), answerBounds);
  return typeof whole === 'string'
    ? { answer, value }
    : { answer: whole, value: { ...value, [member]: parseJson(json) } };
}
