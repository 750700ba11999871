import { isRecord } from '#core/is-record.ts';

/*
 * MiniMax answers with status 200 and an empty answer, and says in a record beside it what went wrong:
 * https://platform.minimax.io/docs/api-reference/errorcode
 */

/** The names that other vendors give to the same errors; every other number is a fault of the provider's own. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [1001, 'timeout'],
  [1002, 'rate_limit_exceeded'],
  [1004, 'authentication'],
  [1008, 'payment_required'],
  [1026, 'content_policy_violation'],
  [1027, 'content_policy_violation'],
  [1039, 'context_length_exceeded'],
  [1041, 'rate_limit_exceeded'],
  [1042, 'invalid_request'],
  [1043, 'content_policy_violation'],
  [2013, 'invalid_request'],
  [2045, 'rate_limit_exceeded'],
  [2049, 'invalid_api_key'],
  [2056, 'payment_required'],
  [2061, 'not_found'],
]);

/** Reads the record, in the members that errors of other vendors have; `null`: there is none, or it says that all is well. */
export function readNumberedError(record: unknown): { type: string; message: unknown } | null {
  if (!isRecord(record)) return null;
  const { status_code: number, status_msg: message } = record;
  if (typeof number !== 'number' || number === 0) return null;
  return { type: NAMES.get(number) ?? 'server', message };
}
