import type { z } from 'zod';
import { type ApiError, apiError } from './errors.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/** A key is the caller's text: shown only this far. */
const KEY_CHARS_SHOWN = 64;

/**
 * The first thing that zod found wrong, as `invalid_request`: `param` names the field, and the message says
 * what was expected. The schema's `error` texts end the sentence "`field` has to be …".
 */
export function describeIssue(issues: readonly Issue[], body: unknown): ApiError {
  const [issue] = issues;
  if (issue === undefined) return apiError('invalid_request');
  const { path, text } = innermost(issue, issue.path);
  if (path.length === 0) return apiError('invalid_request', { message: `The body has to be ${text}.` });
  const param = formatPath(path);
  const verb = valueAt(body, path) === undefined ? 'is required and has to be' : 'has to be';
  return apiError('invalid_request', { param, message: `\`${param}\` ${verb} ${text}.` });
}

/** Of a union, the branch that got furthest is the one that the caller meant. */
function innermost(issue: Issue, path: Path): { path: Path; text: string } {
  if (issue.code === 'invalid_union') {
    const inner = issue.errors.flatMap(([first]) => (first && first.path.length > 0 ? [first] : []));
    const [deepest] = inner.sort((a, b) => b.path.length - a.path.length);
    if (deepest !== undefined) return innermost(deepest, [...path, ...deepest.path]);
  }
  if (issue.code === 'unrecognized_keys') {
    return { path: [...path, issue.keys[0] ?? ''], text: 'left out: no such field is taken' };
  }
  return { path, text: issue.message };
}

function valueAt(body: unknown, path: Path): unknown {
  let value = body;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

function formatPath(path: Path): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += `${text === '' ? '' : '.'}${String(step).slice(0, KEY_CHARS_SHOWN)}`;
  }
  return text;
}
