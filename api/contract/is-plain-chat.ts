import { isRecord } from '#core/is-record.ts';
import { ASKED_TOKENS_MAX, MODEL_ID_CHARS_MAX } from '#core/limits.ts';
import type { ChatCompletionRequest } from './chat-request.ts';

export const CHAT_ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
const roles: ReadonlySet<string> = new Set(CHAT_ROLES);

/**
 * What most agents send: texts, and the simplest options. Whatever passes here passes the schema, unchanged; all
 * else is for the schema, which has the `schemaFields`, to judge. It spares a small call a fiftieth of its CPU.
 */
export function isPlainChat(body: unknown, schemaFields: ReadonlySet<string>): body is ChatCompletionRequest {
  if (!isRecord(body)) return false;
  let required = 0;
  for (const key in body) {
    const value = body[key];
    switch (key) {
      case 'model':
        if (!isModelId(value)) return false;
        required++;
        break;
      case 'messages':
        if (!Array.isArray(value) || value.length === 0 || !value.every(isPlainMessage)) return false;
        required++;
        break;
      case 'max_tokens':
      case 'max_completion_tokens':
        if (!isTokenCap(value)) return false;
        break;
      case 'temperature':
        if (typeof value !== 'number' || !(value >= 0 && value <= 2)) return false;
        break;
      case 'stream':
        if (typeof value !== 'boolean') return false;
        break;
      case 'stream_options':
        if (!isPlainStreamOptions(value)) return false;
        break;
      default:
        if (schemaFields.has(key) || key === '__proto__') return false;
    }
  }
  return required === 2;
}

function isPlainMessage(message: unknown): boolean {
  if (!isRecord(message)) return false;
  for (const key in message) if (key !== 'role' && key !== 'content') return false;
  const { role, content } = message;
  return typeof content === 'string' && typeof role === 'string' && roles.has(role);
}

function isPlainStreamOptions(options: unknown): boolean {
  if (!isRecord(options)) return false;
  for (const key in options) if (key !== 'include_usage') return false;
  return typeof options.include_usage === 'boolean';
}

const isModelId = (value: unknown): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= MODEL_ID_CHARS_MAX;

const isTokenCap = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= ASKED_TOKENS_MAX;
