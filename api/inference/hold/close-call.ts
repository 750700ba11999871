import type { CallEnd, TokenCounts } from '#core/events/ledger-event.ts';
import type { Settle } from '#core/ledger/command.ts';
import { formatUsd, minBigint, type NanoUsd } from '#core/money.ts';
import { type ApiError, apiError, errorTable } from '../../contract/errors.ts';
import type { CallCost } from '../price/call-cost.ts';
import { noTokens } from '../price/usage.ts';
import type { Gateway } from './gateway.ts';
import type { HeldCall } from './held-call.ts';

/**
 * The one way a hold ends. Resolves with what was charged when the journal has it, or after a quarter of a second: then
 * it is carried on in the background, for at most the amount shown.
 */
export function closeCall(
  call: HeldCall,
  cost: CallCost,
  end: CallEnd,
  stored: Settle['stored'] | null = null,
): Promise<NanoUsd | null> {
  call.ending.close();
  const { gateway, agentId, callId, holdNanoUsd } = call.options;
  if (!cost.known) {
    gateway.metrics.ended('pending', end.errorCode, holdNanoUsd, 0n);
    return gateway.ledgerRetries
      .close({ type: 'finish', agentId, callId, end, pending: cost.pending })
      .then((charged) => {
        gateway.watchPending(agentId, callId);
        return charged;
      });
  }
  const { nanoUsd } = cost;
  noteCost(call, nanoUsd);
  if (cost.isEstimated) gateway.metrics.loss('price_estimated', 0n);
  gateway.metrics.ended(end.outcome, end.errorCode, holdNanoUsd, minBigint(nanoUsd, holdNanoUsd));
  if (nanoUsd > holdNanoUsd) {
    const overrun = nanoUsd - holdNanoUsd;
    gateway.metrics.loss('cost_above_hold', overrun);
    gateway.log.warn('a call cost more than it held', { ...call.logFields, usd: formatUsd(overrun) });
  }
  return gateway.ledgerRetries.close({
    type: 'settle',
    agentId,
    callId,
    costNanoUsd: nanoUsd,
    end,
    cause: 'end',
    ...(stored === null ? {} : { stored }),
  });
}

/** To be compared with the provider's own bill. */
export function noteCost({ options, provider }: HeldCall, nanoUsd: NanoUsd): void {
  options.gateway.costs.note(provider.id, nanoUsd, provider.priceFactorPpm);
}

/** What will leave the balance at the most; `null`: not known yet. */
export const shownCost = (call: HeldCall, cost: CallCost): NanoUsd | null =>
  cost.known ? minBigint(cost.nanoUsd, call.options.holdNanoUsd) : null;

export function endOf(call: HeldCall, tokens: TokenCounts): CallEnd {
  return {
    outcome: call.hungUp ? 'stopped' : 'ok',
    httpStatus: null,
    errorCode: null,
    tokens,
    durationMs: durationOf(call),
  };
}

/** A clock that was set back would make it negative. */
export const durationOf = ({ options }: HeldCall): number =>
  Math.max(0, options.gateway.clock.now() - options.startedAtMs);

export const failedEnd = (call: HeldCall, error: ApiError, tokens = noTokens): CallEnd => ({
  ...endOf(call, tokens),
  ...failure(error),
});

const failure = ({ code }: ApiError): Pick<CallEnd, 'outcome' | 'httpStatus' | 'errorCode'> => ({
  outcome: 'failed',
  httpStatus: errorTable[code].status,
  errorCode: code,
});

/** A hold of whatever was to be made. */
export interface UnconfirmedHold {
  gateway: Pick<Gateway, 'metrics' | 'ledgerRetries'>;
  agentId: number;
  callId: number;
  holdNanoUsd: NanoUsd;
}

/**
 * Ends a hold that the log did not confirm in time. The caller was shown nothing, so the call never was: it is free.
 * Resolves with the error to answer, as `closeCall` does.
 */
export async function endUnconfirmed(
  { gateway, agentId, callId, holdNanoUsd }: UnconfirmedHold,
  durationMs: number,
): Promise<ApiError> {
  const error = apiError('service_unavailable');
  const end: CallEnd = { ...failure(error), tokens: noTokens, durationMs };
  gateway.metrics.ended(end.outcome, end.errorCode, holdNanoUsd, 0n);
  await gateway.ledgerRetries.close({ type: 'settle', agentId, callId, costNanoUsd: 0n, end, cause: 'end' });
  return error;
}
