import { formatUsd, type NanoUsd } from '#core/money.ts';
import { commonHeaders } from '../../contract/headers.ts';
import type { HeldCall } from './held-call.ts';
import { ignoredHeader } from './ignored-fields.ts';

/** The headers of a successful answer. Of the provider's own headers only its id for the answer passes. */
export function answerHeaders(call: HeldCall, contentType: string): Record<string, string> {
  const headers = Object.assign(commonOf(call, contentType), ignoredHeader(call.ignoredFields));
  if (call.generationId !== null) headers['x-generation-id'] = call.generationId;
  return headers;
}

/**
 * The headers that go out while the provider is still silent. Another provider may answer in the end, so they name every field
 * that is left out for one of those that may, and no provider's id.
 */
export const earlyHeaders = (call: HeldCall, contentType: string): Record<string, string> => ({
  ...commonOf(call, contentType),
  ...ignoredHeader(call.possiblyIgnoredFields),
});

function commonOf(call: HeldCall, contentType: string): Record<string, string> {
  const { gateway, callId, holdNanoUsd, stream } = call.options;
  const shape = call.endpoint === 'messages' ? 'messages' : 'chat';
  const headers: Record<string, string> = {
    'content-type': contentType,
    ...commonHeaders({ callId, callIdHeader: gateway.callIdHeader, shape }),
    ...holdHeader(holdNanoUsd),
  };
  // Tells buffering proxies to pass events on as they come.
  if (stream) headers['x-accel-buffering'] = 'no';
  return headers;
}

export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** Reports the amount that was held for the request. */
export const holdHeader = (holdNanoUsd: NanoUsd) => ({ 'x-hold-usd': formatUsd(holdNanoUsd) });
