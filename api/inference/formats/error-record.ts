import { parseJson } from '#core/parse-json.ts';
import { type JsonObject, memberText } from '../json/json-object.ts';

/**
 * Whether a record that is no part of an answer tells an error, in whichever words. Servers put such records into a stream
 * with status 200, and whatever passes as it came would show the provider's address and key to the caller.
 */
export function tellsError(record: JsonObject): boolean {
  if (record.members.some(({ key }) => isErrorName(key.toLowerCase()))) return true;
  if (memberText(record, 'success') === 'false') return true;
  // At any depth, such as in a chunk of another format.
  if (NESTED_ERRORS.some((needle) => record.bytes.includes(needle))) return true;
  return ['type', 'object', 'status'].some((key) => FAILS.test(memberText(record, key) ?? ''));
}

const isErrorName = (key: string): boolean => ERROR_NAMES.has(key) || key.endsWith('exception');

const ERROR_NAMES: ReadonlySet<string> = new Set([
  'detail',
  'err',
  'error',
  'error_code',
  'error_message',
  'error_msg',
  'errorcode',
  'errormessage',
  'errors',
  'fault',
  'message',
  'msg',
]);

const NESTED_ERRORS = [Buffer.from('"error":{'), Buffer.from('"error":"')];
const FAILS = /^"[^"]{0,60}(?:error|fail|exception)/i;

/** A reason that is a name may be shown; anything else could be a sentence of the provider. */
export function isReasonName(json: string | undefined): boolean {
  const reason = json === undefined ? null : parseJson(json);
  return reason === null || (typeof reason === 'string' && /^[a-z_]{1,40}$/.test(reason));
}
