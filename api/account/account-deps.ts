import type { Pepper } from '#core/accounts/api-key.ts';
import type { CallHistory } from '#core/calls/call-history.ts';
import type { Clock } from '#core/clock.ts';
import type { IdSource } from '#core/ids.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import type { Limits } from '#core/limits.ts';

/** What the use cases of an account are made of. Each asks for its part. */
export interface AccountDeps {
  ledger: Ledger;
  history: CallHistory;
  clock: Clock;
  ids: IdSource;
  /** What new keys are hashed with. */
  pepper: Pepper;
  limits: () => Limits;
}

/** Whose account, and by which of its keys. */
export interface AccountKey {
  agentId: number;
  keyId: number;
}
