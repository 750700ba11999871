import { isUtf8 } from 'node:buffer';
import {
  BODY_MEMBERS_MAX,
  JSON_DEPTH_MAX,
  JSON_KEYS_MAX,
  JSON_VALUES_MAX,
  SHORT_JSON_KEYS_MAX,
  SHORT_JSON_VALUES_MAX,
} from '#core/limits.ts';
import { runAtOnce, SHORT_BODY_BYTES, type Steps, type Work } from '#core/steps.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import { countKeys, countKeysInSteps } from '../json/count-keys.ts';
import {
  type JsonBounds,
  type JsonObject,
  readJsonObject,
  readJsonObjectInSteps,
} from '../json/json-object.ts';

export interface ParsedBody {
  object: JsonObject;
  value: Record<string, unknown>;
}

/** A caller's body: an object of JSON, within bounds, whose keys every reader reads alike. */
export const parseBody = (bytes: Buffer): ParsedBody | ApiError =>
  runAtOnce(parseBodyInSteps(bytes, shortBodyBounds));

/** The same for the body of a text model's call, which may be large. */
export function parseBodyInSteps(bytes: Buffer, bounds = bodyBounds): Work<ParsedBody | ApiError> {
  if (!isUtf8(bytes)) return badBody('The body is not valid UTF-8.');
  if (bytes.length > SHORT_BODY_BYTES) return parseInTurns(bytes, bounds);
  const body = refuseRead(readJsonObject(bytes, bounds), bounds);
  return isApiError(body) ? body : refuseRepeated(body, countKeys(body.value));
}

function* parseInTurns(bytes: Buffer, bounds: JsonBounds): Steps<ParsedBody | ApiError> {
  const body = refuseRead(yield* readJsonObjectInSteps(bytes, bounds), bounds);
  if (isApiError(body)) return body;
  yield 'parse';
  const { object, value } = body;
  const isSmall = object.keyCount + object.valueCount < COUNTED_AT_ONCE;
  const keyCount = isSmall ? countKeys(value) : yield* countKeysInSteps(value);
  yield 'count keys';
  return refuseRepeated(body, keyCount);
}

/** Refuses what is no object within the bounds. */
function refuseRead(read: ReturnType<typeof readJsonObject>, bounds: JsonBounds): ParsedBody | ApiError {
  if (read === 'too_deep') return badBody(`The body nests deeper than ${JSON_DEPTH_MAX} levels.`);
  if (read === 'too_many_keys') return badBody(`The body has more than ${bounds.keysMax} keys.`);
  if (read === 'too_many_values') return badBody(`The body has more than ${bounds.valuesMax} values.`);
  if (read === 'not_json') return badBody('The body is not valid JSON.');
  if (read === 'not_an_object') return badBody('The body has to be a JSON object.');
  const { members, disguisedKey } = read.object;
  if (members.length > BODY_MEMBERS_MAX)
    return badBody(`The body has more than ${BODY_MEMBERS_MAX} members.`);
  // V8 misreads such keys once another body has prepared it (nodejs/node issue 63785): what JSON.parse shows us as
  // a harmless name may be `tools` to the provider.
  if (disguisedKey !== null)
    return badBody(`Write the key \`${disguisedKey.slice(0, KEY_CHARS_SHOWN)}\` without escapes.`);
  return read;
}

/** @param keyCount Keys of the parsed value, in which one of a repeated key is left. */
const refuseRepeated = (body: ParsedBody, keyCount: number): ParsedBody | ApiError =>
  keyCount === body.object.keyCount ? body : badBody('A key stands twice in one object of the body.');

/** Keys and values that are counted in one turn of the event loop. */
const COUNTED_AT_ONCE = 20_000;
const KEY_CHARS_SHOWN = 64;
const badBody = (message: string): ApiError => apiError('invalid_request', { message });

const bodyBounds = { keysMax: JSON_KEYS_MAX, valuesMax: JSON_VALUES_MAX };
/** The bounds of everything else that a caller sends as JSON. */
export const shortBodyBounds = { keysMax: SHORT_JSON_KEYS_MAX, valuesMax: SHORT_JSON_VALUES_MAX };
