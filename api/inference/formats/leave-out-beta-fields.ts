import { isRecord } from '#core/is-record.ts';
import { type BetaField, fieldsWithoutBeta } from '../../providers/messages-betas.ts';
import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { editMember, sentBytes } from './edit-member.ts';

/*
 * Fields of a messages body that a server takes together with a beta alone (`messages-betas.ts`).
 */

const CACHE_SCOPE = 'cache_control.scope';
const ANY_MESSAGE = 'messages[]';
const SCOPE_NEEDLE = Buffer.from('"scope"');
/** The members of a body in which parts may be marked for a cache. */
const MARKED = ['messages', 'system', 'tools', 'cache_control'] as const;

/** The fields that stand in a body and whose betas are not sent. */
export function betaFieldsIn(value: Readonly<Record<string, unknown>>, sent: string | null): string[] {
  const found: string[] = [];
  for (const field of fieldsWithoutBeta(sent)) if (standsIn(value, field)) found.push(field.path);
  return found;
}

function standsIn(value: Readonly<Record<string, unknown>>, { path, member, inner }: BetaField): boolean {
  if (path === CACHE_SCOPE) return MARKED.some((marked) => hasScope(value[marked], marked));
  if (member === ANY_MESSAGE) return isListOf(value.messages, (message) => inner in message);
  const given = value[member];
  return inner === '' ? (given ?? null) !== null : isRecord(given) && inner in given;
}

/** Leaves the fields out of a body, on top of what is changed in it already. */
export function leaveOutBetaFields(
  body: JsonObject,
  fields: readonly string[],
  changes: MemberChanges,
): void {
  for (const field of fields) {
    const [member = '', inner = ''] = field.split('.');
    if (field === CACHE_SCOPE) leaveOutScopes(body, changes);
    else if (member === ANY_MESSAGE)
      editMember(body, 'messages', (messages) => eachWithout(messages, inner), changes);
    else if (inner === '') changes.set(member, null);
    else editMember(body, member, (value) => without(value, inner), changes);
  }
}

function leaveOutScopes(body: JsonObject, changes: MemberChanges): void {
  for (const member of MARKED) {
    if (sentBytes(body, member, changes)?.includes(SCOPE_NEEDLE) !== true) continue;
    editMember(body, member, (value) => withoutScope(value, member), changes);
  }
}

const isListOf = (value: unknown, is: (each: Record<string, unknown>) => boolean): boolean =>
  Array.isArray(value) && value.some((each) => isRecord(each) && is(each));

const eachWithout = (list: unknown, name: string): unknown =>
  Array.isArray(list) ? list.map((each) => without(each, name)) : list;

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
