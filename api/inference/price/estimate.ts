import type { PriceOverride } from '#core/catalog/catalog.ts';
import { SERVER_TOOL_PROMPT_TOKENS } from '#core/limits.ts';
import { type AttoUsd, attoToNanoUp, maxBigint, type NanoUsd, nanoToAtto } from '#core/money.ts';
import type { CallPlan, Candidate } from '../admit/call-plan.ts';

/**
 * The hold: the most the call can cost, over every endpoint that may run it, rounded up once to the nano-dollar.
 * Prompt bound × dearest input price + output bound × dearest output price + fees, × choices.
 */
export const estimateHold = (plan: CallPlan): NanoUsd => holdWithCap(plan, plan.outputTokensCap);

/** The same with another cap on the answer; `null`: without one. */
export function holdWithCap(plan: CallPlan, cap: number | null): NanoUsd {
  let dearest = 0n;
  for (const candidate of plan.candidates)
    dearest = maxBigint(dearest, worstCase(plan, candidate, outputTokensMax(plan, candidate, cap)));
  return attoToNanoUp(dearest);
}

/** The largest output cap whose hold is at most `availableNanoUsd`; `null` where not even one token fits. */
export function largestFittingCap(plan: CallPlan, availableNanoUsd: NanoUsd): number | null {
  const available = nanoToAtto(availableNanoUsd);
  let fitting = Math.max(...plan.candidates.map(modelOutputTokens));
  for (const candidate of plan.candidates) {
    const costs = (cap: number) => worstCase(plan, candidate, cap + plan.extraOutputTokens);
    const whole = modelOutputTokens(candidate);
    // A model that writes less than this in all fits any cap.
    if (costs(whole) <= available) continue;
    let [fits, tooMuch] = [0, whole];
    while (tooMuch - fits > 1) {
      const between = Math.floor((fits + tooMuch) / 2);
      if (costs(between) <= available) fits = between;
      else tooMuch = between;
    }
    fitting = Math.min(fitting, fits);
  }
  return fitting < 1 ? null : fitting;
}

/** What the endpoint can write at most when nobody caps it. */
export function modelOutputTokens({ model, endpoint }: Pick<Candidate, 'model' | 'endpoint'>): number {
  const context = contextTokens({ model, endpoint });
  return Math.min(endpoint.maxOutputTokens ?? model.maxOutputTokens ?? context, context);
}

function outputTokensMax(plan: CallPlan, candidate: Candidate, cap = plan.outputTokensCap): number {
  const whole = modelOutputTokens(candidate);
  return (cap === null ? whole : Math.min(cap, whole)) + plan.extraOutputTokens;
}

/** With answers of `outputTokens` in each turn. */
function worstCase(plan: CallPlan, candidate: Candidate, outputTokens: number): AttoUsd {
  const { prices } = candidate.endpoint;
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
  // Not every search is asked for: some models search by themselves, once for each answer, and nothing in a price list
  // tells them from those that merely can. Models that search in a loop are not served (`import-models.ts`).
  const { searchesUnasked } = candidate.provider.kind.capabilities;
  const unasked = searchesUnasked ? (prices.webSearch ?? 0n) : 0n;
  const turnFees = prices.request + unasked + BigInt(plan.images) * (prices.image ?? 0n);
  const turns = BigInt(turnsMax(candidate));
  const tokens =
    inputTokensMax(plan, candidate, outputTokens) * input + turns * BigInt(outputTokens) * output;
  return (tokens + turns * turnFees + toolFees(candidate)) * BigInt(plan.choices);
}

/** The first turn reads the prompt; each that follows a server tool also what was found and written before it. */
function inputTokensMax(plan: CallPlan, candidate: Candidate, outputTokens: number): bigint {
  const context = contextTokens(candidate);
  const prompt = promptTokensMax(plan, candidate);
  const moreTurns = turnsMax(candidate) - 1;
  const later = prompt + foundTokensMax(candidate) + moreTurns * outputTokens;
  return BigInt(Math.min(prompt, context)) + BigInt(moreTurns) * BigInt(Math.min(later, context));
}

/** A translation may say more than the caller did, and so may a body that is written as its server takes it. */
const promptTokensMax = (
  plan: CallPlan,
  { serverTools, translated, translatedTokensMax, addedTokens = 0 }: Candidate,
): number =>
  Math.max(plan.promptTokensMax, translatedTokensMax ?? translated?.bytes.length ?? 0) +
  addedTokens +
  (serverTools?.tools.length ?? 0) * SERVER_TOOL_PROMPT_TOKENS;

const turnsMax = ({ serverTools }: Candidate): number => (serverTools?.stepsMax ?? 0) + 1;

const foundTokensMax = ({ serverTools }: Candidate): number =>
  serverTools?.tools.reduce((sum, { resultTokensMax }) => sum + resultTokensMax, 0) ?? 0;

function toolFees({ serverTools }: Candidate): AttoUsd {
  let fees = 0n;
  for (const { usesMax, feeAtto } of serverTools?.tools ?? []) fees += BigInt(usesMax) * feeAtto;
  return fees;
}

/** The other prices that this call may come to; those of a longer prompt than it can have are none of its. */
export function reachableOverrides(plan: CallPlan, candidate: Candidate): readonly PriceOverride[] {
  const { overrides } = candidate.endpoint.prices;
  if (overrides.length === 0) return overrides;
  const written = (turnsMax(candidate) - 1) * outputTokensMax(plan, candidate);
  const promptTokens = Math.min(
    promptTokensMax(plan, candidate) + foundTokensMax(candidate) + written,
    contextTokens(candidate),
  );
  return overrides.filter(
    ({ minPromptTokens }) => minPromptTokens === null || promptTokens > minPromptTokens,
  );
}

export const contextTokens = ({ model, endpoint }: Pick<Candidate, 'model' | 'endpoint'>): number =>
  Math.min(endpoint.contextLength ?? model.contextLength, model.contextLength);

/** Of a text that nobody counted. */
export const estimateTokens = (bytes: number): number => Math.ceil(bytes / BYTES_PER_TOKEN);
const BYTES_PER_TOKEN = 4;
