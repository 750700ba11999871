import { isRecord } from '#core/is-record.ts';
import { ASKED_TOKENS_MAX, MODEL_ID_CHARS_MAX } from '#core/limits.ts';

/** What a field of a format may hold in a plain request. Every field of the format's schema that has no row is not plain. */
export interface PlainFields {
  required: number;
  checks: Readonly<Record<string, (value: unknown) => boolean>>;
  /** Of the schema, which judges whatever is not plain. */
  schemaFields: ReadonlySet<string>;
}

/**
 * What most agents send: texts, and the simplest options. Whatever passes here passes the schema, unchanged; all
 * else is for the schema to judge. It spares a small call a fiftieth of its CPU.
 */
export function isPlainRequest(body: unknown, { required, checks, schemaFields }: PlainFields): boolean {
  if (!isRecord(body)) return false;
  let found = 0;
  for (const key in body) {
    if (key === '__proto__') return false;
    if (!schemaFields.has(key)) continue;
    const check = checks[key];
    if (check === undefined || !check(body[key])) return false;
    if (REQUIRED.has(key)) found++;
  }
  return found === required;
}

const REQUIRED: ReadonlySet<string> = new Set(['model', 'messages', 'input']);

/** A list of messages with these roles, of texts alone. */
export const plainMessages =
  (roles: readonly string[]) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.length > 0 && value.every((message) => isPlainMessage(message, roles));

function isPlainMessage(message: unknown, roles: readonly string[]): boolean {
  if (!isRecord(message)) return false;
  for (const key in message) if (key !== 'role' && key !== 'content') return false;
  const { role, content } = message;
  return typeof content === 'string' && typeof role === 'string' && roles.includes(role);
}

export const isText = (value: unknown): boolean => typeof value === 'string';

const isModelId = (value: unknown): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= MODEL_ID_CHARS_MAX;

export const isTokenCap = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= ASKED_TOKENS_MAX;

/** Of all three formats. */
export const commonChecks: PlainFields['checks'] = {
  model: isModelId,
  temperature: (value) => typeof value === 'number' && value >= 0 && value <= 2,
  stream: (value) => typeof value === 'boolean',
};
