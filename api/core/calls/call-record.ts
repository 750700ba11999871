import type { CallFacts, TokenCounts } from '../events/ledger-event.ts';
import type { CallId } from '../ids.ts';
import type { NanoUsd } from '../money.ts';

/** One call as `list_calls` shows it. Open calls are merged from the ledger's holds. */
export interface CallRecord {
  callId: CallId;
  agentId: number;
  startedAtMs: number;
  durationMs: number;
  key: { keyId: number; label: string; prefix: string };
  call: CallFacts;
  outcome: 'running' | 'pending' | 'ok' | 'stopped' | 'failed';
  httpStatus: number | null;
  errorCode: string | null;
  tokens: TokenCounts;
  reservedNanoUsd: NanoUsd;
  chargedNanoUsd: NanoUsd;
}
