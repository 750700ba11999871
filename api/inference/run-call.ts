import { reportsCost } from '#core/catalog/catalog.ts';
import type { CallFacts } from '#core/events/ledger-event.ts';
import type { AgentStatus } from '#core/ledger/state.ts';
import { attoToNanoUp, FACTOR_ONE_PPM, formatUsd } from '#core/money.ts';
import type { LossCause } from '#core/operator-losses.ts';
import type { Caller } from '../contract/caller.ts';
import { type ApiError, apiError, errorTable } from '../contract/errors.ts';
import type { HotCallContext } from '../contract/route.ts';
import { admitCall, type Routes } from './admit.ts';
import { answerHeaders, EVENT_STREAM } from './answer-headers.ts';
import type { Attempt, FailedAttempt } from './attempt.ts';
import { type CallCost, costOfCall, freeOfCharge, savePrice } from './call-cost.ts';
import type { CallPlan, Candidate } from './call-plan.ts';
import { closeCall, endOf, failedEnd, noteCost, shownCost } from './close-call.ts';
import { estimateHold } from './estimate.ts';
import { allowedBetas } from './formats/allowed-betas.ts';
import type { CallFormat } from './formats/call-format.ts';
import type { Gateway } from './gateway.ts';
import { linkOwner } from './link-owner.ts';
import { refuseMissing } from './refuse-missing.ts';
import { adviseText } from './refuse-start.ts';
import { runAttempt } from './run-attempt.ts';
import { RunningCall } from './running-call.ts';
import { refuse, refuseStart, type Start, type StartContext, startCall } from './start-call.ts';

/**
 * One call of a text model, in the spec's order: body, agent, model and tools, capacity, hold; then the provider; then
 * the charge. A refusal is returned for the edge to render; `null`: answered here. After the hold every path settles.
 */
export async function runCall(
  gateway: Gateway,
  format: CallFormat,
  request: Omit<HotCallContext<unknown, Caller>, 'deps'>,
): Promise<ApiError | null> {
  const { caller, body } = request;
  const admit = (agentStatus: AgentStatus) =>
    admitCall(format, body, agentStatus, routesOf(gateway, caller.agentId));
  const context: StartContext = {
    ...request,
    admit(agentStatus) {
      const again = admit(agentStatus);
      return again.ok ? null : again.error;
    },
  };
  const admitted = admit(caller.agentStatus);
  if (!admitted.ok) return await refuseStart(gateway, context, admitted.error);
  const { plan } = admitted;
  // Nothing of it is waited for where no picture of the agent's is named.
  const missing = plan.pictures.length === 0 ? null : await refuseMissing(gateway.files, plan.pictures);
  if (missing !== null) return await refuseStart(gateway, context, missing);
  const [candidate] = plan.candidates;
  if (candidate === undefined) return await refuse(gateway, context, apiError('provider_unavailable'));
  const start: Start = {
    kind: 'text',
    holdNanoUsd: estimateHold(plan),
    call: callFacts(plan),
    price: savePrice(plan, candidate),
    advice: adviseText(plan),
  };
  const betas = allowedBetas(request.req.headers);
  return await startCall(gateway, context, start, (held) =>
    runHeld(new RunningCall({ ...held, plan, candidate, betas })),
  );
}

const routesOf = ({ catalog, health, clock, files, limits }: Gateway, agentId: number): Routes => ({
  catalog,
  health,
  nowMs: clock.monotonicMs(),
  links: { ownerOf: linkOwner(files, agentId), linksMax: limits().linksPerCall },
});

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
    const { gateway } = call.options;
    gateway.log.error('call failed by a fault of the gateway', { ...call.logFields, error });
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
  await closeCall(call, freeOfCharge, failedEnd(call, error));
  call.caller.discard();
  return error;
}

async function answerJson(call: RunningCall, attempt: Extract<Attempt, { kind: 'json' }>): Promise<null> {
  const cost = costOf(call, attempt, true);
  const charged = await closeCall(call, cost, endOf(call, cost.tokens));
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
  const charged = await closeCall(call, cost, endOf(call, cost.tokens));
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
  const byLimit = call.endedByUs !== null && call.endedByUs !== 'drain';
  const written = call.caller.committed || (byLimit && call.requestSent);
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

const mayLookUp = (call: RunningCall): boolean =>
  call.generationId !== null && reportsCost(call.candidate.provider);

async function settleFailed(call: RunningCall, error: ApiError, cost: CallCost): Promise<ApiError | null> {
  const end = call.caller.gone ? endOf(call, cost.tokens) : failedEnd(call, error, cost.tokens);
  await closeCall(call, cost, end);
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
