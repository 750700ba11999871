import { isUtf8 } from 'node:buffer';
import { JSON_DEPTH_MAX, JSON_KEYS_MAX, JSON_VALUES_MAX } from '#core/limits.ts';
import { type ApiError, apiError } from '../../contract/errors.ts';
import { countKeys, type JsonObject, readJsonObject } from '../json/json-object.ts';

/** A caller's body: an object of JSON, within bounds, whose keys every reader reads alike. */
export function parseBody(bytes: Buffer): { object: JsonObject; value: Record<string, unknown> } | ApiError {
  if (!isUtf8(bytes)) return badBody('The body is not valid UTF-8.');
  const read = readJsonObject(bytes, bodyBounds);
  if (read === 'too_deep') return badBody(`The body nests deeper than ${JSON_DEPTH_MAX} levels.`);
  if (read === 'too_many_keys') return badBody(`The body has more than ${JSON_KEYS_MAX} keys.`);
  if (read === 'too_many_values') return badBody(`The body has more than ${JSON_VALUES_MAX} values.`);
  if (read === 'not_json') return badBody('The body is not valid JSON.');
  if (read === 'not_an_object') return badBody('The body has to be a JSON object.');
  const { object, value } = read;
  // V8 misreads such keys once another body has prepared it (nodejs/node issue 63785): what JSON.parse shows us as
  // a harmless name may be `tools` to the provider.
  if (object.disguisedKey !== null)
    return badBody(`Write the key \`${object.disguisedKey.slice(0, KEY_CHARS_SHOWN)}\` without escapes.`);
  if (countKeys(value) !== object.keyCount) return badBody('A key stands twice in one object of the body.');
  return read;
}

const KEY_CHARS_SHOWN = 64;
const badBody = (message: string): ApiError => apiError('invalid_request', { message });

/** The bounds of everything that a caller sends as JSON. */
export const bodyBounds = { keysMax: JSON_KEYS_MAX, valuesMax: JSON_VALUES_MAX };
