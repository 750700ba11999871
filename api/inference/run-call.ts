import { reportsCost } from '#core/catalog/catalog.ts';
import type { CallEnd, CallFacts } from '#core/events/ledger-event.ts';
import { attoToNanoUp, FACTOR_ONE_PPM, formatUsd, minBigint, type NanoUsd } from '#core/money.ts';
import type { LossCause } from '#core/operator-losses.ts';
import type { Caller } from '../contract/caller.ts';
import { type ApiError, apiError, errorTable, isApiError } from '../contract/errors.ts';
import type { HotCallContext } from '../contract/route.ts';
import { admitCall, type Routes } from './admit.ts';
import { answerHeaders, EVENT_STREAM } from './answer-headers.ts';
import type { Attempt, FailedAttempt } from './attempt.ts';
import { type CallCost, costOfCall, freeOfCharge, savePrice } from './call-cost.ts';
import type { CallPlan, Candidate } from './call-plan.ts';
import { countRefusedStart } from './count-refused-start.ts';
import { estimateHold } from './estimate.ts';
import { allowedBetas } from './formats/allowed-betas.ts';
import type { CallFormat } from './formats/call-format.ts';
import type { Gateway } from './gateway.ts';
import { adviseText, refuseCapacity, refuseReserve } from './refuse-start.ts';
import { runAttempt } from './run-attempt.ts';
import { RunningCall } from './running-call.ts';
import { startLimits } from './start-limits.ts';

type StartContext = Omit<HotCallContext<unknown, Caller>, 'deps'> & { format: CallFormat };

/**
 * One call of a text model, in the spec's order: body, agent, model and tools, capacity, hold; then the provider; then
 * the charge. A refusal is returned for the edge to render; `null`: answered here. After the hold every path settles.
 */
export async function runCall(
  gateway: Gateway,
  format: CallFormat,
  request: Omit<StartContext, 'format'>,
): Promise<ApiError | null> {
  const context: StartContext = { ...request, format };
  const { caller, body } = context;
  const admitted = admitCall(format, body, caller.agentStatus, routesOf(gateway));
  if (!admitted.ok) return await refuseStart(gateway, context, admitted.error);
  const { plan } = admitted;
  const [candidate] = plan.candidates;
  if (candidate === undefined) return await refuse(gateway, context, apiError('provider_unavailable'));

  const holdNanoUsd = estimateHold(plan);
  const room = gateway.capacity.admit(holdNanoUsd);
  const noRoom = refuseCapacity(room, adviseText(plan), holdNanoUsd, gateway.capacity.perCallNanoUsd);
  if (noRoom !== null) return await refuse(gateway, context, noRoom);
  let refusal: ApiError;
  try {
    const { callId, res } = context;
    const { agentId, keyId } = caller;
    const limits = gateway.limits();
    const startedAtMs = gateway.clock.now();
    const arrivedAtMs = gateway.clock.monotonicMs();
    const timeLimitMs = plan.stream ? limits.streamMs : limits.callMs;
    const { result, durable } = await gateway.ledger.execute({
      type: 'reserve',
      agentId,
      keyId,
      callId,
      nonce: gateway.nonce,
      kind: 'text',
      nanoUsd: holdNanoUsd,
      timeLimitMs,
      callerNowMs: startedAtMs,
      call: callFacts(plan),
      price: savePrice(plan, candidate),
      limits: startLimits(gateway),
    });
    if (result.ok) {
      gateway.metrics.started();
      const betas = allowedBetas(context.req.headers);
      const call = { gateway, plan, candidate, res, callId, agentId, keyId, holdNanoUsd, betas, durable };
      return await runHeld(new RunningCall({ ...call, startedAtMs, arrivedAtMs, timeLimitMs }));
    }
    refusal = refuseReserve(result, adviseText(plan), holdNanoUsd, {
      nowMs: startedAtMs,
      callsPerMinute: limits.callsPerMinute,
    });
  } finally {
    gateway.capacity.release(holdNanoUsd);
  }
  return await refuseStart(gateway, context, refusal);
}

const routesOf = ({ catalog, health, clock }: Gateway): Routes => ({
  catalog,
  health,
  nowMs: clock.monotonicMs(),
});

async function refuse(gateway: Gateway, context: StartContext, wanted: ApiError): Promise<ApiError> {
  const error = await unlessEnded(gateway, context, wanted);
  gateway.metrics.refused(error.code);
  return error;
}

/** The same refusal, or what comes before it by now: the key revoked, the agent suspended. */
async function unlessEnded(
  gateway: Gateway,
  { format, caller, confirmCaller, body }: StartContext,
  error: ApiError,
): Promise<ApiError> {
  const now = await confirmCaller();
  if (isApiError(now)) return now;
  if (now.agentStatus === caller.agentStatus) return error;
  const admitted = admitCall(format, body, now.agentStatus, routesOf(gateway));
  return admitted.ok ? error : admitted.error;
}

/** A refusal costs an agent no money, so it has a rate of its own, by the work that its body made. */
async function refuseStart(gateway: Gateway, context: StartContext, wanted: ApiError): Promise<ApiError> {
  const { caller, body } = context;
  const error = await refuse(gateway, context, wanted);
  countRefusedStart(gateway, caller.agentId, body.length, error.code);
  return error;
}

/** What the call record shows of a call besides its money. */
const callFacts = ({ model, format, stream }: CallPlan): CallFacts => ({
  model: model.id,
  modelName: model.name,
  endpoint: format.endpoint,
  stream,
});

async function runHeld(call: RunningCall): Promise<ApiError | null> {
  try {
    // Nobody waits any more: no provider is asked, so nothing is charged.
    if (call.caller.gone) return await settleFailed(call, apiError('gateway_error'), freeOfCharge);
    let asked = call.candidate;
    let attempt = await runAttempt(call);
    while (attempt.kind === 'failed' && attempt.mayFallBack && call.fallBack()) {
      countBilled(call, asked, 'failed_fallback', attempt);
      asked = call.candidate;
      attempt = await runAttempt(call);
    }
    if ((await call.gate) === 'shut') return await giveUp(call, attempt);
    switch (attempt.kind) {
      case 'json':
        return await answerJson(call, attempt);
      case 'stream':
        return await endStream(call, attempt);
      case 'failed':
        return await fail(call, attempt);
    }
  } catch (error) {
    const { gateway, callId, agentId } = call.options;
    gateway.log.error('call failed by a fault of the gateway', { callId, agentId, error });
    if (call.closing) {
      // What it pays stands, and no answer may say otherwise.
      call.caller.drop();
      return null;
    }
    return await settleFailed(call, apiError('gateway_error'), freeOfCharge);
  } finally {
    call.close();
  }
}

/** The journal did not take the hold in time: the caller has seen nothing, so the call never was. */
async function giveUp(call: RunningCall, attempt: Attempt): Promise<ApiError> {
  const { gateway, plan } = call.options;
  const cost = costOfCall({
    plan,
    candidate: call.candidate,
    usage: attempt.usage,
    generationId: call.generationId,
    deliveredTokens: attempt.deliveredTokens,
    hungUp: false,
    shownNow: true,
  });
  if (cost.known) noteCost(call, cost.nanoUsd);
  gateway.metrics.loss('gate_timeout', cost.known ? cost.nanoUsd : 0n);
  const error = apiError('service_unavailable');
  await close(call, freeOfCharge, failedEnd(call, error));
  call.caller.discard();
  return error;
}

async function answerJson(call: RunningCall, attempt: Extract<Attempt, { kind: 'json' }>): Promise<null> {
  const cost = costOf(call, attempt, true);
  const charged = await close(call, cost, endOf(call, cost));
  if (!call.caller.gone) {
    const shown = charged ?? shownCost(call, cost);
    const bytes = call.options.plan.format.showAnswer(attempt, shown, call.candidate);
    const head = answerHeaders(call, 'application/json');
    head.push('content-length', String(bytes.length));
    call.caller.begin(head);
    call.caller.end(bytes);
  }
  return null;
}

/** The last chunk waits for its settle, so that what it shows is what left the balance. */
async function endStream(call: RunningCall, attempt: Extract<Attempt, { kind: 'stream' }>): Promise<null> {
  const { plan } = call.options;
  const cost = costOf(call, attempt, plan.showUsage);
  const charged = await close(call, cost, endOf(call, cost));
  const shown = charged ?? shownCost(call, cost);
  if (!call.caller.committed) call.caller.begin(answerHeaders(call, EVENT_STREAM));
  call.caller.end(attempt.reader.end({ identity: call.identity, shown, tokens: cost.tokens }));
  return null;
}

/**
 * What a failed call pays: what was written before the error; else, by its cost class, nothing or what the provider
 * recorded, which is usually nothing too.
 */
async function fail(call: RunningCall, attempt: FailedAttempt): Promise<ApiError | null> {
  const { error, usage } = attempt;
  const recorded = errorTable[error.code].cost === 'recorded';
  // The gate's end is a refusal, and was answered before.
  const written = call.caller.committed || (call.endedByUs !== null && call.requestSent);
  if (written || (recorded && (usage !== null || mayLookUp(call)))) {
    // Of an answer that never began, a caller who left owes no more than one who waited.
    return await settleFailed(call, error, costOf(call, attempt, false, written && call.caller.gone));
  }
  countBilled(call, call.candidate, 'free_failure', attempt);
  return await settleFailed(call, error, freeOfCharge);
}

/** What the provider billed for an attempt that no agent pays, without our margin. */
function countBilled(call: RunningCall, asked: Candidate, cause: LossCause, { usage }: FailedAttempt): void {
  if (!usage?.reportedAttoUsd) return;
  const nanoUsd = attoToNanoUp(usage.reportedAttoUsd);
  const { gateway } = call.options;
  gateway.metrics.loss(cause, nanoUsd);
  gateway.costs.note(asked.provider.id, nanoUsd, FACTOR_ONE_PPM);
}

/** To be compared with the provider's own bill. */
function noteCost({ options, candidate }: RunningCall, nanoUsd: NanoUsd): void {
  const { id, priceFactorPpm } = candidate.provider;
  options.gateway.costs.note(id, nanoUsd, priceFactorPpm);
}

const mayLookUp = (call: RunningCall): boolean =>
  call.generationId !== null && reportsCost(call.candidate.provider);

async function settleFailed(call: RunningCall, error: ApiError, cost: CallCost): Promise<ApiError | null> {
  const end = call.caller.gone ? endOf(call, cost) : { ...failedEnd(call, error), tokens: cost.tokens };
  await close(call, cost, end);
  const { holdNanoUsd, res } = call.options;
  if (!call.caller.committed) {
    call.caller.leave();
    if (!call.caller.gone) res.setHeader('x-hold-usd', formatUsd(holdNanoUsd));
    return error;
  }
  call.caller.end(call.options.plan.format.streamError(call.identity, error));
  return null;
}

function costOf(
  call: RunningCall,
  attempt: Pick<Attempt, 'usage' | 'deliveredTokens'>,
  shownNow: boolean,
  hungUp = call.caller.gone,
): CallCost {
  return costOfCall({
    plan: call.options.plan,
    candidate: call.candidate,
    usage: attempt.usage,
    generationId: call.generationId,
    deliveredTokens: attempt.deliveredTokens,
    hungUp,
    shownNow: shownNow && !call.caller.gone,
  });
}

function endOf(call: RunningCall, cost: CallCost): CallEnd {
  const { gateway, startedAtMs } = call.options;
  return {
    outcome: call.caller.gone ? 'stopped' : 'ok',
    httpStatus: null,
    errorCode: null,
    tokens: cost.tokens,
    // A clock that was set back would make it negative.
    durationMs: Math.max(0, gateway.clock.now() - startedAtMs),
  };
}

const failedEnd = (call: RunningCall, error: ApiError): CallEnd => ({
  ...endOf(call, freeOfCharge),
  outcome: 'failed',
  httpStatus: errorTable[error.code].status,
  errorCode: error.code,
});

/**
 * The one way a hold ends. Resolves with what was charged when the journal has it, or after a quarter of a second: then
 * it is carried on in the background, for at most the amount shown.
 */
function close(call: RunningCall, cost: CallCost, end: CallEnd): Promise<NanoUsd | null> {
  call.closing = true;
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
    gateway.log.warn('a call cost more than it held', { agentId, callId, usd: formatUsd(overrun) });
  }
  return gateway.ledgerRetries.close({
    type: 'settle',
    agentId,
    callId,
    costNanoUsd: nanoUsd,
    end,
    cause: 'end',
  });
}

/** What will leave the balance at the most; `null`: not known yet. */
const shownCost = (call: RunningCall, cost: CallCost): NanoUsd | null =>
  cost.known ? minBigint(cost.nanoUsd, call.options.holdNanoUsd) : null;
