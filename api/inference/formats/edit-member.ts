import { isSteps, type Steps, type Work } from '#core/steps.ts';
import { type JsonObject, type MemberChanges, memberBytes, rebuildJsonObject } from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { parseInSteps } from '../json/parse-in-steps.ts';
import { wholeCharacters } from '../json/whole-characters.ts';

/**
 * Changes a member of a body on top of what was changed in it before, so that several rules may look into one conversation. The
 * value is read once for all of them, when the body is written.
 */
export function editMember(
  body: JsonObject,
  member: string,
  edit: (value: unknown) => unknown,
  changes: MemberChanges,
): void {
  if (sentBytes(body, member, changes) !== null) changes.edit(member, edit);
}

/** A member as it would be sent, but for edits; `null`: it is not sent. */
export function sentBytes(body: JsonObject, member: string, changes: MemberChanges): Buffer | null {
  const change = changes.get(member);
  if (change === undefined) return memberBytes(body, member) ?? null;
  return typeof change === 'string' ? Buffer.from(change) : change;
}

/** The body with all changes. Numbers keep their digits. */
export const writeBody = (body: JsonObject, changes: MemberChanges): Work<Buffer> =>
  changes.edits === null ? rebuildJsonObject(body, changes) : writeEdits(body, changes, changes.edits);

/** Each step is short enough for one turn of the event loop. */
function* writeEdits(
  body: JsonObject,
  changes: MemberChanges,
  all: NonNullable<MemberChanges['edits']>,
): Steps<Buffer> {
  for (const [member, edits] of all) {
    const bytes = sentBytes(body, member, changes);
    if (bytes === null) continue;
    const marks = new NumberMarks();
    const whole = wholeCharacters(bytes);
    const given = yield* readValue(isSteps(whole) ? yield* whole : whole, marks);
    let value = given;
    for (const edit of edits) {
      if (value === undefined) break;
      value = edit(value);
      yield 'edit';
    }
    if (value === given) continue;
    changes.set(member, value === undefined ? null : marks.print(value));
    yield 'print';
  }
  return rebuildJsonObject(body, changes);
}

function* readValue(bytes: Buffer, marks: NumberMarks): Steps<unknown> {
  if (bytes.length < READ_AT_ONCE_BYTES)
    return marks.parse(bytes)?.value ?? JSON.parse(bytes.toString('utf8'));
  const marked = yield* marks.parseInSteps(bytes);
  yield 'find numbers';
  const value = marked === null ? yield* parseInSteps(bytes) : marked.value;
  yield 'parse';
  return value;
}

/** The length of a value that is parsed in one turn of the event loop. */
const READ_AT_ONCE_BYTES = 64 * 1024;
