import type { PriceOverride } from '#core/catalog/catalog.ts';
import { type AttoUsd, attoToNanoUp, maxBigint, minBigint, type NanoUsd, nanoToAtto } from '#core/money.ts';
import type { CallPlan, Candidate } from './call-plan.ts';

/**
 * The hold: the most the call can cost, over every endpoint that may run it, rounded up once to the nano-dollar.
 * Prompt bound × dearest input price + output bound × dearest output price + fees, × choices.
 */
export function estimateHold(plan: CallPlan): NanoUsd {
  let dearest = 0n;
  for (const candidate of plan.candidates) {
    const output = BigInt(outputTokensMax(plan, candidate));
    const { fixed, perOutputToken } = worstCase(plan, candidate);
    dearest = maxBigint(dearest, fixed + output * perOutputToken);
  }
  return attoToNanoUp(dearest);
}

/** The largest output cap whose hold is at most `availableNanoUsd`; `null` where not even one token fits. */
export function largestFittingCap(plan: CallPlan, availableNanoUsd: NanoUsd): number | null {
  let cap = BigInt(Math.max(...plan.candidates.map(modelOutputTokens)));
  for (const candidate of plan.candidates) {
    const { fixed, perOutputToken } = worstCase(plan, candidate);
    const rest = nanoToAtto(availableNanoUsd) - fixed - BigInt(plan.extraOutputTokens) * perOutputToken;
    if (rest < 0n) return null;
    // A model that writes less than this in all fits any cap.
    if (rest >= BigInt(modelOutputTokens(candidate)) * perOutputToken) continue;
    cap = minBigint(cap, rest / perOutputToken);
  }
  return cap < 1n ? null : Number(cap);
}

/** What the endpoint can write at most when nobody caps it. */
export function modelOutputTokens({ model, endpoint }: Pick<Candidate, 'model' | 'endpoint'>): number {
  const context = contextTokens({ model, endpoint });
  return Math.min(endpoint.maxOutputTokens ?? model.maxOutputTokens ?? context, context);
}

function outputTokensMax(plan: CallPlan, candidate: Candidate): number {
  const whole = modelOutputTokens(candidate);
  const capped = plan.outputTokensCap === null ? whole : Math.min(plan.outputTokensCap, whole);
  return capped + plan.extraOutputTokens;
}

interface WorstCase {
  /** Everything but the output: prompt, fees, media. For all choices. */
  fixed: AttoUsd;
  perOutputToken: AttoUsd;
}

function worstCase(plan: CallPlan, candidate: Candidate): WorstCase {
  const { prices } = candidate.endpoint;
  const promptTokens = Math.min(plan.promptTokensMax, contextTokens(candidate));
  let input = prices.prompt;
  for (const price of [prices.cacheRead, prices.cacheWrite, prices.cacheWrite1h])
    input = maxBigint(input, price ?? 0n);
  let output = maxBigint(prices.completion, prices.internalReasoning ?? 0n);
  for (const override of reachableOverrides(plan, candidate)) {
    for (const price of [override.prompt, override.cacheRead, override.cacheWrite, override.cacheWrite1h]) {
      input = maxBigint(input, price ?? 0n);
    }
    output = maxBigint(output, override.completion ?? 0n);
  }
  const choices = BigInt(plan.choices);
  // No tool of a call searches, but some models do by themselves, once for each answer, and nothing in a price list
  // tells them from those that merely can. Models that search in a loop are not served (`import-models.ts`).
  const fees = prices.request + (prices.webSearch ?? 0n) + BigInt(plan.images) * (prices.image ?? 0n);
  const perCall = BigInt(promptTokens) * input + fees;
  return { fixed: perCall * choices, perOutputToken: output * choices };
}

/** The other prices that this call may come to; those of a longer prompt than it can have are none of its. */
export function reachableOverrides(plan: CallPlan, candidate: Candidate): readonly PriceOverride[] {
  const { overrides } = candidate.endpoint.prices;
  if (overrides.length === 0) return overrides;
  const promptTokens = Math.min(plan.promptTokensMax, contextTokens(candidate));
  return overrides.filter(
    ({ minPromptTokens }) => minPromptTokens === null || promptTokens > minPromptTokens,
  );
}

export const contextTokens = ({ model, endpoint }: Pick<Candidate, 'model' | 'endpoint'>): number =>
  Math.min(endpoint.contextLength ?? model.contextLength, model.contextLength);

/** Of a text that nobody counted. */
export const estimateTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);
const BYTES_PER_TOKEN = 4;
