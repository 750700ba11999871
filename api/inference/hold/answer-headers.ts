import type { ServerResponse } from 'node:http';
import { formatUsd, type NanoUsd } from '#core/money.ts';
import type { HeldCall } from './held-call.ts';

/**
 * Of a successful answer, names and values in turns: Node copies an object of headers first. Nothing of the
 * provider's headers passes but its id for the answer.
 */
export function answerHeaders(call: HeldCall, contentType: string): string[] {
  const { gateway, callId, holdNanoUsd } = call.options;
  const id = String(callId);
  const headers = [
    'content-type',
    contentType,
    'cache-control',
    'no-store',
    'x-content-type-options',
    'nosniff',
    'x-request-id',
    id,
    HOLD_HEADER,
    formatUsd(holdNanoUsd),
  ];
  if (gateway.callIdHeader !== 'x-request-id') headers.push(gateway.callIdHeader, id);
  if (call.endpoint === 'messages') headers.push('request-id', id);
  // Tells buffering proxies to pass events on as they come.
  if (call.options.stream) headers.push('x-accel-buffering', 'no');
  if (call.generationId !== null) headers.push('x-generation-id', call.generationId);
  return headers;
}

export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

const HOLD_HEADER = 'x-hold-usd';

/** Sets the header that tells the hold, on an answer that another writer completes. */
export const setHoldHeader = (res: ServerResponse, holdNanoUsd: NanoUsd): void =>
  void res.setHeader(HOLD_HEADER, formatUsd(holdNanoUsd));
