import type { Provider } from '#core/catalog/catalog.ts';
import type { Settle } from '#core/ledger/command.ts';
import { attoToNanoUp, FACTOR_ONE_PPM, type NanoUsd } from '#core/money.ts';
import type { LossCause } from '#core/operator-losses.ts';
import { type ApiError, apiError } from '../../contract/errors.ts';
import { type CallCost, freeOfCharge } from '../price/call-cost.ts';
import type { Usage } from '../price/usage.ts';
import { holdHeader } from './answer-headers.ts';
import {
  closeCall,
  durationOf,
  endOf,
  endUnconfirmed,
  failedEnd,
  noteCost,
  shownCost,
} from './close-call.ts';
import type { Gateway } from './gateway.ts';
import type { HeldCall } from './held-call.ts';
import { ignoredHeader } from './ignored-fields.ts';

/** The facts that every kind of call has of a request that was not answered. */
export interface FailedRequest {
  kind: 'failed';
  error: ApiError;
  usage: Usage | null;
}

/** The facts that every kind of call has of an answer. The name of the answer is the kind's own. */
export interface AnsweredRequest {
  kind: 'json' | 'stream' | 'made';
  usage: Usage | null;
}

/** Kinds of held calls differ in how the provider is asked, what the call costs, and how an end is shown. */
export interface CallKind<Answered extends AnsweredRequest, Failed extends FailedRequest> {
  /** Asks the provider, and another one where the kind may fall back. Resolves when nothing more will be read. */
  ask(): Promise<Answered | Failed>;
  costOfAnswer(answered: Answered): CallCost;
  /** `null`: the failure is free. */
  costOfFailure(failed: Failed): CallCost | null;
  /** The provider's bill for a call that nobody pays, because its hold was not durable in time. */
  costOfUnconfirmed(ended: Answered | Failed): CallCost;
  /** The storage that the answer takes; from this call on it belongs to the caller. `null`: nothing was stored. */
  keepStored(): Settle['stored'] | null;
  /** Writes what the answer still lacks, for a caller who is still there. `shown`: `null` where no cost is known yet. */
  showAnswer(answered: Answered, cost: CallCost, shown: NanoUsd | null): void;
  /** Ends an answer whose status line is out. */
  showError(error: ApiError): void;
}

/**
 * The life of a held call: one request to a provider, the gate, what the call pays, and how that is shown. Every path ends
 * in a settlement. A refusal is returned for the edge to render; `null`: the call was answered here.
 */
export async function runHeldCall<A extends AnsweredRequest, F extends FailedRequest>(
  call: HeldCall,
  kind: CallKind<A, F>,
): Promise<ApiError | null> {
  try {
    // The caller disconnected before dispatch, so no provider is called and nothing is charged.
    if (call.caller.gone) return await settleFailed(call, kind, apiError('gateway_error'), freeOfCharge);
    const ended = await kind.ask();
    if ((await call.gate) === 'shut') return await giveUp(call, kind, ended);
    call.ending.decide();
    return isFailed(ended) ? await fail(call, kind, ended) : await answer(call, kind, ended);
  } catch (error) {
    const { gateway } = call.options;
    gateway.log.error('call failed by a fault of the gateway', { ...call.logFields, error });
    if (call.ending.closing) {
      // The charge stands, and no answer may say otherwise.
      call.caller.drop();
      return null;
    }
    return await settleFailed(call, kind, apiError('gateway_error'), freeOfCharge);
  } finally {
    call.close();
  }
}

const isFailed = <A extends AnsweredRequest, F extends FailedRequest>(ended: A | F): ended is F =>
  ended.kind === 'failed';

async function answer<A extends AnsweredRequest, F extends FailedRequest>(
  call: HeldCall,
  kind: CallKind<A, F>,
  answered: A,
): Promise<null> {
  const cost = kind.costOfAnswer(answered);
  const stored = call.hungUp ? null : kind.keepStored();
  const charged = await closeCall(call, cost, endOf(call, cost.tokens), stored);
  if (!call.hungUp) kind.showAnswer(answered, cost, charged ?? shownCost(call, cost));
  return null;
}

async function fail<A extends AnsweredRequest, F extends FailedRequest>(
  call: HeldCall,
  kind: CallKind<A, F>,
  failed: F,
): Promise<ApiError | null> {
  const cost = kind.costOfFailure(failed);
  if (cost === null) countUnpaid(call.options.gateway, call.provider, 'free_failure', failed.usage);
  return await settleFailed(call, kind, failed.error, cost ?? freeOfCharge);
}

async function settleFailed<A extends AnsweredRequest, F extends FailedRequest>(
  call: HeldCall,
  kind: CallKind<A, F>,
  error: ApiError,
  cost: CallCost,
): Promise<ApiError | null> {
  call.ending.decide();
  const { tokens } = cost;
  await closeCall(call, cost, call.hungUp ? endOf(call, tokens) : failedEnd(call, error, tokens));
  if (call.caller.committed || call.caller.headSent) {
    kind.showError(error);
    return null;
  }
  call.caller.leave();
  // The edge writes the refusal around it.
  if (!call.hungUp)
    call.options.res.setHeaders(
      new Map(
        Object.entries({ ...holdHeader(call.options.holdNanoUsd), ...ignoredHeader(call.ignoredFields) }),
      ),
    );
  return error;
}

/** The log did not confirm the hold in time: the caller has seen nothing, so the call never was. */
async function giveUp<A extends AnsweredRequest, F extends FailedRequest>(
  call: HeldCall,
  kind: CallKind<A, F>,
  ended: A | F,
): Promise<ApiError> {
  const { gateway } = call.options;
  const cost = kind.costOfUnconfirmed(ended);
  if (cost.known) noteCost(call, cost.nanoUsd);
  gateway.metrics.loss('gate_timeout', cost.known ? cost.nanoUsd : 0n);
  call.ending.close();
  const error = await endUnconfirmed(call.options, durationOf(call));
  call.caller.discard();
  return error;
}

/** Counts what the provider billed for an attempt that no agent pays, without the operator's margin. */
export function countUnpaid(
  gateway: Pick<Gateway, 'metrics' | 'costs'>,
  asked: Provider,
  cause: LossCause,
  usage: Usage | null,
): void {
  if (!usage?.reportedAttoUsd) return;
  const nanoUsd = attoToNanoUp(usage.reportedAttoUsd);
  gateway.metrics.loss(cause, nanoUsd);
  gateway.costs.note(asked.id, nanoUsd, FACTOR_ONE_PPM);
}
