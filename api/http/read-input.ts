import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
import { z } from 'zod';
import { isRecord } from '#core/is-record.ts';
import { parseJson } from '#core/parse-json.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import { hasBody, type RouteFacts } from '../contract/route.ts';

export type ReadInput =
  | { ok: true; value: Record<string, unknown> | undefined }
  | { ok: false; error: ApiError };

/**
 * What a procedure's schema checks: the path's parameters over the JSON body, or over the query where the
 * method has no body. Nothing is coerced here: `"5"` stays a text unless the schema says otherwise.
 */
export function readInput(
  { facts: { method }, input }: { facts: RouteFacts; input: z.ZodType | null },
  req: Request,
  body: Buffer,
): ReadInput {
  if (input === null || input instanceof z.ZodVoid) return { ok: true, value: undefined };
  const given = hasBody(method) ? readJson(body) : readQuery(req.url);
  return given.ok ? { ok: true, value: { ...given.value, ...req.params } } : given;
}

/** An absent body is an empty object: many commands need no more than their path. */
function readJson(body: Buffer): ReadInput {
  if (body.length === 0) return { ok: true, value: {} };
  const value = isUtf8(body) ? parseJson(body.toString('utf8')) : undefined;
  if (value === undefined) return refuse('The body is not valid JSON in UTF-8.');
  return isRecord(value) ? { ok: true, value } : refuse('The body has to be a JSON object.');
}

function readQuery(url: string): ReadInput {
  const start = url.indexOf('?');
  const query = new URLSearchParams(start === -1 ? '' : url.slice(start));
  const value: Record<string, unknown> = {};
  for (const [name, text] of query) {
    if (Object.hasOwn(value, name)) return refuse('A query parameter was sent twice; send it once.', name);
    Object.defineProperty(value, name, { value: text, enumerable: true });
  }
  return { ok: true, value };
}

const refuse = (message: string, param?: string): ReadInput => ({
  ok: false,
  error: apiError('invalid_request', param === undefined ? { message } : { message, param }),
});
