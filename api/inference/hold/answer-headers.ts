import { formatUsd, type NanoUsd } from '#core/money.ts';
import { commonHeaders } from '../../contract/headers.ts';
import type { HeldCall } from './held-call.ts';
import { ignoredHeader } from './ignored-fields.ts';

/** The headers of a successful answer. Of the provider's own headers only its id for the answer passes. */
export function answerHeaders(call: HeldCall, contentType: string): Record<string, string> {
  const { gateway, callId, holdNanoUsd, stream } = call.options;
  const shape = call.endpoint === 'messages' ? 'messages' : 'chat';
  const headers: Record<string, string> = {
    'content-type': contentType,
    ...commonHeaders({ callId, callIdHeader: gateway.callIdHeader, shape }),
    ...holdHeader(holdNanoUsd),
    ...ignoredHeader(call.ignoredFields),
  };
  // Tells buffering proxies to pass events on as they come.
  if (stream) headers['x-accel-buffering'] = 'no';
  if (call.generationId !== null) headers['x-generation-id'] = call.generationId;
  return headers;
}

export const EVENT_STREAM = 'text/event-stream; charset=utf-8';

/** Reports the amount that was held for the request. */
export const holdHeader = (holdNanoUsd: NanoUsd) => ({ 'x-hold-usd': formatUsd(holdNanoUsd) });
