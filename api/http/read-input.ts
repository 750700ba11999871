import { isUtf8 } from 'node:buffer';
import type { Request } from 'express';
import { z } from 'zod';
import { JSON_DEPTH_MAX, SHORT_JSON_KEYS_MAX, SHORT_JSON_VALUES_MAX } from '#core/limits.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import { hasBody, type RouteFacts } from '../contract/route.ts';
import { shortBodyBounds } from '../inference/admit/parse-body.ts';
import { anyDepth, readJsonObject } from '../inference/json/json-object.ts';

export type ReadInput =
  | { ok: true; value: Record<string, unknown> | undefined }
  | { ok: false; error: ApiError };

/**
 * What a procedure's schema checks: the path's parameters over the JSON body, or over the query where the
 * method has no body. Nothing is coerced here: `"5"` stays a text unless the schema says otherwise.
 */
export function readInput(
  { facts: { method, bodyBytesMax }, input }: { facts: RouteFacts; input: z.ZodType | null },
  req: Request,
  body: Buffer,
): ReadInput {
  if (input === null || input instanceof z.ZodVoid) return { ok: true, value: undefined };
  const given = hasBody(method) ? readJson(body, bodyBytesMax === undefined) : readQuery(req.url);
  return given.ok ? { ok: true, value: { ...given.value, ...req.params } } : given;
}

/**
 * An absent body is an empty object: many commands need no more than their path. It is bounded as that of a model call is,
 * before anything is built of it; only an operator's feeds, which have a size of their own, hold more.
 */
function readJson(body: Buffer, isBounded: boolean): ReadInput {
  if (body.length === 0) return { ok: true, value: {} };
  const read = isUtf8(body) ? readJsonObject(body, isBounded ? shortBodyBounds : anyDepth) : 'not_json';
  switch (read) {
    case 'not_json':
      return refuse('The body is not valid JSON in UTF-8.');
    case 'not_an_object':
      return refuse('The body has to be a JSON object.');
    case 'too_deep':
    case 'too_many_keys':
    case 'too_many_values':
      return refuse(
        `The body has more than ${JSON_DEPTH_MAX} levels, ${SHORT_JSON_KEYS_MAX} keys or ${SHORT_JSON_VALUES_MAX} values.`,
      );
    default:
      return { ok: true, value: read.value };
  }
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
