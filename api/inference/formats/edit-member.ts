import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { memberBytes } from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';

/**
 * Changes a member of a body on top of what was changed in it before, so that several rules may look into one conversation.
 * Numbers keep their digits. A member that the body lacks, or that is left out already, stays as it is.
 */
export function editMember(
  body: JsonObject,
  member: string,
  edit: (value: unknown) => unknown,
  changes: MemberChanges,
): void {
  const bytes = sentBytes(body, member, changes);
  if (bytes === null) return;
  const marks = new NumberMarks();
  const value = marks.parse(bytes)?.value ?? JSON.parse(bytes.toString('utf8'));
  const edited = edit(value);
  if (edited !== value) changes.set(member, marks.print(edited));
}

/** A member as the changes so far would send it; `null`: it is not sent. */
export function sentBytes(body: JsonObject, member: string, changes: MemberChanges): Buffer | null {
  const change = changes.get(member);
  if (change === undefined) return memberBytes(body, member) ?? null;
  return typeof change === 'string' ? Buffer.from(change) : change;
}
