import type { LedgerEvent } from '../../events/ledger-event.ts';

/** An event is missing between the state and this one: the fold must stop, or money would be lost silently. */
export class LedgerGapError extends Error {
  override readonly name = 'LedgerGapError';
  readonly agentId: number;
  readonly expectedVersion: number;
  readonly foundVersion: number;

  constructor(event: LedgerEvent, expectedVersion: number) {
    super(
      `agent ${event.agentId}: expected version ${expectedVersion}, found ${event.version} (${event.type})`,
    );
    this.agentId = event.agentId;
    this.expectedVersion = expectedVersion;
    this.foundVersion = event.version;
  }
}

/** An event that cannot follow from the state, such as a charge without a hold. The state is left as it was. */
export class LedgerEventError extends Error {
  override readonly name = 'LedgerEventError';
  readonly agentId: number;
  readonly version: number;

  constructor(event: LedgerEvent, problem: string) {
    super(`agent ${event.agentId}, version ${event.version} (${event.type}): ${problem}`);
    this.agentId = event.agentId;
    this.version = event.version;
  }
}
