import type { CallId } from '#core/ids.ts';

/** The last call of a page, as callers pass it back. They need not know what it is made of, so it may change. */
export const writeCallCursor = (callId: CallId): string => `c${callId.toString(36)}`;

/** `null`: none of ours. */
export function readCallCursor(text: string): CallId | null {
  if (!/^c[0-9a-z]{1,11}$/.test(text)) return null;
  const callId = Number.parseInt(text.slice(1), 36);
  return Number.isSafeInteger(callId) && writeCallCursor(callId) === text ? callId : null;
}
