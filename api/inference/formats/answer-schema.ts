import { isRecord } from '#core/is-record.ts';
import type { JsonObject, MemberChanges } from '../json/json-object.ts';
import { NumberMarks } from '../json/number-marks.ts';
import { editMember, sentBytes } from './edit-member.ts';
import { recordOf, textOf } from './values.ts';

/*
 * The schema of an answer, for a server that holds answers to JSON and to no schema. It is told in words there, and those who use such
 * servers by themselves write it so, too.
 */

const BEFORE =
  'Answer with one JSON object, without a word before or behind it. It must fit this JSON Schema:\n';

/** The words add no more to a prompt, beyond the schema itself. */
export const SCHEMA_WORDS_TOKENS = Buffer.byteLength(
  JSON.stringify({ role: 'system', content: `${BEFORE}{"description":,}` }),
);

/** @param marks Those of the numbers in the schema, which keep their digits. */
export function schemaInWords(schema: unknown, description: string | null, marks: NumberMarks): string {
  const described = description !== null && isRecord(schema) ? { description, ...schema } : schema;
  return BEFORE + marks.print(described).toString();
}

/** Whether a chat wants its answer to fit a schema. */
export const hasSchema = (format: unknown): boolean => isRecord(format) && format.type === 'json_schema';

/** Tells the schema of a chat's answer in a message, behind the instructions with which the chat begins. */
export function tellSchema(body: JsonObject, changes: MemberChanges): void {
  const bytes = sentBytes(body, 'response_format', changes);
  if (bytes === null) return;
  const marks = new NumberMarks();
  const format: unknown = marks.parse(bytes)?.value ?? JSON.parse(bytes.toString('utf8'));
  if (!hasSchema(format)) return;
  const { schema, description } = recordOf(recordOf(format).json_schema);
  const content = schemaInWords(schema ?? {}, textOf(description) || null, marks);
  changes.set('response_format', '{"type":"json_object"}');
  editMember(
    body,
    'messages',
    (messages) => (Array.isArray(messages) ? withInstruction(messages, content) : messages),
    changes,
  );
}

function withInstruction(messages: readonly unknown[], content: string): readonly unknown[] {
  const begin = messages.findIndex((message) => !isRecord(message) || !LEADING.has(message.role));
  const at = begin < 0 ? messages.length : begin;
  return [...messages.slice(0, at), { role: 'system', content }, ...messages.slice(at)];
}

const LEADING: ReadonlySet<unknown> = new Set(['system', 'developer']);
