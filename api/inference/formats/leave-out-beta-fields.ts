import { isRecord } from '#core/is-record.ts';
import { fieldsWithoutBeta } from '../../providers/messages-betas.ts';
import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { memberBytes } from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';

/*
 * Fields of a messages body that a server takes together with a beta alone (`messages-betas.ts`).
 */

const CACHE_SCOPE = 'cache_control.scope';
const SCOPE_NEEDLE = Buffer.from('"scope"');
/** The members of a body in which parts may be marked for a cache. */
const MARKED = ['messages', 'system', 'tools', 'cache_control'] as const;

/** The fields that stand in a body and whose betas are not sent. */
export function betaFieldsIn(value: Readonly<Record<string, unknown>>, sent: string | null): string[] {
  return fieldsWithoutBeta(sent).filter((field) => {
    if (field === CACHE_SCOPE) return MARKED.some((member) => hasScope(value[member], member));
    const [member = '', inner] = field.split('.');
    const given = value[member];
    return inner === undefined ? (given ?? null) !== null : isRecord(given) && inner in given;
  });
}

/** Leaves the fields out of a body. */
export function leaveOutBetaFields(
  body: JsonObject,
  fields: readonly string[],
  changes: MemberChanges,
): void {
  for (const field of fields) {
    const [member = '', inner] = field.split('.');
    if (field === CACHE_SCOPE) for (const marked of MARKED) change(body, marked, withoutScope, changes);
    else if (inner === undefined) changes.set(member, null);
    else change(body, member, (value) => without(value, inner), changes);
  }
}

function change(
  body: JsonObject,
  member: string,
  changed: (value: unknown, member: string) => unknown,
  changes: MemberChanges,
): void {
  const bytes = memberBytes(body, member);
  if (bytes === undefined || (changed === withoutScope && !bytes.includes(SCOPE_NEEDLE))) return;
  const marks = new NumberMarks();
  const value = marks.parse(bytes)?.value ?? JSON.parse(bytes.toString('utf8'));
  changes.set(member, marks.print(changed(value, member)).toString());
}

const without = (value: unknown, name: string): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => key !== name)) : value;

/** Marks stand at messages, blocks and tools, and never inside what a tool is called with. */
function hasScope(value: unknown, member: string): boolean {
  if (member === 'cache_control') return isRecord(value) && 'scope' in value;
  if (Array.isArray(value)) return value.some((each) => hasScope(each, ''));
  if (!isRecord(value)) return false;
  return hasScope(value.cache_control, 'cache_control') || hasScope(value.content, 'content');
}

function withoutScope(value: unknown, member: string): unknown {
  if (member === 'cache_control') return without(value, 'scope');
  if (Array.isArray(value)) return value.map((each) => withoutScope(each, ''));
  if (!isRecord(value)) return value;
  const { cache_control: mark, content } = value;
  return {
    ...value,
    ...(mark === undefined ? {} : { cache_control: without(mark, 'scope') }),
    ...(content === undefined ? {} : { content: withoutScope(content, 'content') }),
  };
}
