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

/**
 * The same of a record that has a list of no choices, which a good one may have, too: Azure's first chunk tells there of filters that did
 * not run, and some servers say in each chunk that it is a success.
 */
export function tellsErrorBesideNothing(record: JsonObject): boolean {
  const { members } = record;
  if (memberText(record, 'success') === 'false') return true;
  if (members.some(({ key }) => CODES.has(key) && memberIs(record, key, GOOD_CODE))) return false;
  return members.some(({ key }) => {
    const name = key.toLowerCase();
    return (isErrorName(name) || name === 'status_msg') && !memberIs(record, key, NOTHING_TOLD);
  });
}

const memberIs = (record: JsonObject, key: string, pattern: RegExp): boolean =>
  pattern.test(memberText(record, key) ?? '');

const CODES: ReadonlySet<string> = new Set(['code', 'status_code', 'error_code', 'errcode', 'err_code']);
const GOOD_CODE = /^"?(?:0+|20\d)"?$/;
const NOTHING_TOLD = /^(?:null|false|0|""|\[\s*\]|\{\s*\})$/;

/** A reason that is a name may be shown; anything else could be a sentence of the provider. */
export function isReasonName(json: string | undefined): boolean {
  const reason = json === undefined ? null : parseJson(json);
  return reason === null || (typeof reason === 'string' && /^[a-z_]{1,40}$/.test(reason));
}

/** Takes the place of a status that is no name, as JSON text. */
export const COMPLETED_STATUS = '"completed"';
