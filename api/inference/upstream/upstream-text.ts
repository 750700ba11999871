import { SECOND_MS } from '#core/clock.ts';
import { UPSTREAM_TEXT_CHARS_MAX } from '#core/limits.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/** Returns the wait that the provider names, in whole seconds as text; `undefined`: it names none. */
export function retryAfter(upstream: UpstreamRequest, nowMs: number): string | undefined {
  const ms = retryAfterMs(upstream, nowMs);
  return ms === null ? undefined : String(Math.ceil(ms / SECOND_MS));
}

/**
 * The wait that a provider's headers name, in milliseconds; `null`: none. Some say it to the millisecond, beside or instead. A
 * date is read by the provider's own clock, where the answer has it.
 *
 * @param nowMs Milliseconds since 1970.
 */
export function retryAfterMs(upstream: UpstreamRequest, nowMs: number): number | null {
  const ms = headerText(upstream, 'retry-after-ms');
  if (ms !== null && DECIMAL.test(ms)) return Math.ceil(Number(ms));
  const text = headerText(upstream, 'retry-after');
  if (text === null) return null;
  if (DECIMAL.test(text)) return Math.ceil(Number(text) * SECOND_MS);
  const untilMs = dateOf(text);
  return untilMs === null ? null : Math.max(0, untilMs - (dateOf(headerText(upstream, 'date')) ?? nowMs));
}

const DECIMAL = /^\d{1,9}(?:\.\d{1,9})?$/;

/** Milliseconds since 1970 of the form that RFC 9110 has for all dates; `null`: another text. */
function dateOf(text: string | null): number | null {
  if (text === null || !/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text))
    return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

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
