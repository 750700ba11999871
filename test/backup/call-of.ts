import type { CallRecord } from '#core/calls/call-record.ts';
import { START_MS } from '../ledger/case.ts';

/** A call with every field set. */
export const callOf = (agentId: number, callId: number, more: Partial<CallRecord> = {}): CallRecord => ({
  callId,
  agentId,
  startedAtMs: START_MS,
  durationMs: 1_500,
  key: { keyId: agentId, label: 'key', prefix: 'fg_prefix' },
  call: { model: 'acme/small', modelName: 'Acme Small', endpoint: 'chat', stream: false },
  outcome: 'ok',
  httpStatus: 200,
  errorCode: null,
  tokens: { prompt: 10, completion: 20, reasoning: null, cached: 0 },
  reservedNanoUsd: 100n,
  chargedNanoUsd: 50n,
  ...more,
});
