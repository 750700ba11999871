import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import { readNumberedError } from '../../providers/numbered-errors.ts';
import { readLines } from './event-lines.ts';
import { LineEnds } from './line-ends.ts';

/*
 * A provider's error stands in one of many shapes, and clients shorten a prompt or wait only where they are told
 * why they were refused.
 */

/**
 * The value of an error's body: of JSON, of the first event with JSON where the server answers as it was asked, or a plain sentence as
 * `{message}`. `undefined`: a page of HTML, or nothing.
 */
export function parseErrorBody(bytes: Buffer): unknown {
  const text = new TextDecoder().decode(bytes).trim();
  const value = parseJson(text) ?? firstEventIn(bytes);
  if (typeof value === 'string') return { message: value };
  if (value !== undefined) return value;
  return text === '' || text.startsWith('<') ? undefined : { message: text };
}

function firstEventIn(bytes: Buffer): unknown {
  for (const lines of new LineEnds().read(bytes).toString().split('\n\n')) {
    const event = readLines(Buffer.from(lines));
    const value = event === null ? undefined : parseJson(event.data.toString());
    if (isRecord(value)) return value;
  }
  return undefined;
}

/**
 * `{error: {…}}`, `{error: "text"}`, `[{error: {…}}]`, `{error: [{…}]}`, `{message, type, code}`, `{errors: [{…}]}`, `{error_code, error_msg}`,
 * `{code, msg}`, `{fault}`, `{detail}`, one in the other: all seen in the wild.
 */
export function findErrorDetail(body: unknown, depth = 0): Record<string, unknown> {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (typeof first === 'string') return { message: first };
  if (!isRecord(first) || depth > DEPTH_MAX) return {};
  if (isRecord(first.fault)) return { message: first.fault.faultstring };
  if (isRecord(first.detail)) return findErrorDetail(first.detail, depth + 1);
  if (first.detail !== undefined) return { message: textOfDetail(first.detail) };
  if (isRecord(first.error)) return withTypeBeside(inside(first.error, depth), first);
  // The last event of a stream of responses that failed.
  if (isRecord(first.response) && isRecord(first.response.error))
    return withTypeBeside(first.response.error, first.response);
  if (typeof first.error === 'string') return { ...first, message: first.error };
  for (const list of [first.errors, first.error])
    if (Array.isArray(list) && list.length > 0) return findErrorDetail(list, depth + 1);
  if (typeof first.error_msg === 'string') return { message: first.error_msg, code: first.error_code };
  const numbered = readNumberedError(first.base_resp);
  if (numbered !== null) return numbered;
  if (isRecord(first.x_groq) && typeof first.x_groq.error === 'string')
    return { message: first.x_groq.error };
  if (Array.isArray(first.choices)) {
    const choice: unknown = first.choices.find((each) => isRecord(each) && isRecord(each.error));
    return isRecord(choice) && isRecord(choice.error) ? choice.error : {};
  }
  return withMessage(first);
}

const DEPTH_MAX = 4;

/** Some errors have their sentence in a list of causes alone. */
function inside(error: Record<string, unknown>, depth: number): Record<string, unknown> {
  const known = withMessage(error);
  return known.message === undefined && Array.isArray(error.errors)
    ? { ...findErrorDetail(error.errors, depth + 1), ...error }
    : known;
}

/** The sentence under its usual name. */
function withMessage(error: Record<string, unknown>): Record<string, unknown> {
  if (error.message !== undefined) return error;
  const name = SENTENCES.find((each) => typeof error[each] === 'string');
  return name === undefined ? error : { ...error, message: error[name] };
}

const SENTENCES = ['msg', 'Message', 'error_message', 'errorMessage', 'error_description', 'reason'];

/** The value is a text, or a list of faults with their places. The sent values in such a list are not shown. */
function textOfDetail(detail: unknown): string | undefined {
  if (typeof detail === 'string') return detail;
  if (!Array.isArray(detail)) return undefined;
  const faults = detail.filter((each) => isRecord(each) && typeof each.msg === 'string');
  return faults
    .map(
      ({ loc, msg }) =>
        `${Array.isArray(loc) ? `${loc.filter((part) => part !== 'body').join('.')}: ` : ''}${msg}`,
    )
    .join('; ');
}

/** The responses format has its stable name beside the error, not in it. */
const withTypeBeside = (
  error: Record<string, unknown>,
  { error_type }: Record<string, unknown>,
): Record<string, unknown> => (typeof error_type === 'string' ? { ...error, error_type } : error);
