import { UPSTREAM_TEXT_CHARS_MAX } from '#core/limits.ts';
import type { UpstreamRequest } from './upstream-request.ts';

export function headerText(upstream: UpstreamRequest, name: string): string | null {
  const value = upstream.headers[name];
  return typeof value === 'string' && value.length <= UPSTREAM_TEXT_CHARS_MAX && PRINTABLE.test(value)
    ? value
    : null;
}

const PRINTABLE = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

/** An id in JSON text, where it is one. */
export const textOrNull = (json: string): string | null => {
  const text = json.slice(1, -1);
  return json.startsWith('"') && text.length <= UPSTREAM_TEXT_CHARS_MAX && /^[\w:.-]+$/.test(text)
    ? text
    : null;
};
