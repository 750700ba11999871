import type { ErrorCode } from '../contract/errors.ts';

/** What a call of a text model can be refused with, besides what the edge refuses. */
export const inferenceErrors: readonly ErrorCode[] = [
  'agent_inactive',
  'agent_suspended',
  'unknown_model',
  'model_not_served',
  'tool_not_served',
  'request_over_capacity',
  'insufficient_balance',
  'key_limit',
  'rate_limited',
  'too_many_running_calls',
  'daily_share_used',
  'model_busy',
  'gateway_busy',
  'gateway_capacity',
  'gateway_unavailable',
  'catalog_unavailable',
  'provider_unavailable',
  'upstream_timeout',
  'upstream_unreachable',
  'provider_error',
  'no_provider',
  'provider_refused',
  'unprocessable',
  'upstream_error',
];
