import type { FormatName } from '#core/catalog/catalog.ts';
import { type JsonObject, memberBytes } from '../json/json-object.ts';
import { typeOf } from './stream-text.ts';

/**
 * Whether an event is a part of an answer in another format than the provider was asked in. No client of the caller's format can read
 * it, and nothing counts its text, so the answer is none. A vendor's own record is no such event.
 */
export function isOfAnotherFormat(event: JsonObject, own: FormatName): boolean {
  if (own === 'chat' && memberBytes(event, CHOICES) !== undefined) return false;
  const type = typeOf(event);
  if (OWN_TYPES[own].test(type)) return false;
  return LISTS.some((name) => memberBytes(event, name)?.[0] === OPEN_BRACKET) || FORMAT_TYPES.test(type);
}

const OPEN_BRACKET = 0x5b;
const CHOICES = 'choices';
/** Each chunk of a chat has the first, and each of Gemini the second. */
const LISTS = [CHOICES, 'candidates'];
const OWN_TYPES: Readonly<Record<FormatName, RegExp>> = {
  chat: /^chat\.completion/,
  messages: /^(?:message_|content_block_|ping$)/,
  responses: /^response\./,
};
const FORMAT_TYPES = /^(?:message_(?:start|delta|stop)$|content_block_|response\.)/;
