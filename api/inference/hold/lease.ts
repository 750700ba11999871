import { SECOND_MS } from '#core/clock.ts';
import type { LogFields } from '#core/log.ts';
import type { Gateway } from './gateway.ts';

/** How often a running call renews its lease. Three renewals may fail before the lease expires. */
export const HOLD_LEASE_RENEW_MS = 15 * SECOND_MS;

interface LeasedCall {
  gateway: Pick<Gateway, 'ledger' | 'log'>;
  agentId: number;
  callId: number;
}

/** A running call's place among the calls that its agent may run at one time. It expires unless it is renewed. */
export class Lease {
  readonly #call: LeasedCall;
  #renewAtMs: number;

  constructor(call: LeasedCall, nowMs: number) {
    this.#call = call;
    this.#renewAtMs = nowMs + HOLD_LEASE_RENEW_MS;
  }

  isDue(nowMs: number): boolean {
    return nowMs >= this.#renewAtMs;
  }

  /**
   * Renews the place, or gives it up with `holdsSlot: false`, and stores the provider's id for the answer. A renewal that is lost
   * costs only the place, never the money.
   */
  renew(
    nowMs: number,
    renewal: { generationId: string | null; holdsSlot: boolean },
    logFields: LogFields,
  ): void {
    this.#renewAtMs = nowMs + HOLD_LEASE_RENEW_MS;
    const { gateway, agentId, callId } = this.#call;
    gateway.ledger
      .execute({ type: 'renew', agentId, callId, ...renewal })
      .catch((error) =>
        gateway.log.error('failed to renew the lease of a running call', { ...logFields, error }),
      );
  }
}
