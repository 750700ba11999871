import type { IncomingMessage } from 'node:http';

/**
 * Of the caller's own trace (W3C Trace Context), for the lines that a call leaves in the log. It is looked for when there is
 * such a line, so that no other call pays for it; and it goes nowhere else, least of all to a provider.
 */
export function traceOf({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): { traceId?: string } {
  let traceId: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== 'traceparent') continue;
    // Of two nobody can say which is meant.
    if (traceId !== undefined) return {};
    const [, version, id, parentId] = TRACE_PARENT.exec(rawHeaders[at + 1] ?? '') ?? [];
    if (id === undefined || version === 'ff' || NONE.test(id) || NONE.test(parentId ?? '')) return {};
    traceId = id;
  }
  return traceId === undefined ? {} : { traceId };
}

/** What a later version appends begins with another hyphen. */
const TRACE_PARENT = /^(?!00-.{53})([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(?:-|$)/;
const NONE = /^0+$/;
