import { type TokenPrices, tokenCost } from '#core/calls/token-cost.ts';
import type { PriceOverride, Prices } from '#core/catalog/catalog.ts';
import type { PendingPrice, SavedPrice, TokenCounts } from '#core/events/ledger-event.ts';
import { type AttoUsd, attoToNanoUp, type NanoUsd } from '#core/money.ts';
import type { CallPlan, Candidate } from '../admit/call-plan.ts';
import { estimateTokens, reachableOverrides } from './estimate.ts';
import { type CountedApart, noTokens, nothingApart, type Usage } from './usage.ts';

/** What a call cost, as far as it is known when it ends. */
export type CallCost =
  | { known: true; nanoUsd: NanoUsd; tokens: TokenCounts; isEstimated?: true }
  /** The provider may still tell: the settlement loop asks it. */
  | { known: false; pending: PendingPrice; tokens: TokenCounts };

export interface CostFacts {
  plan: CallPlan;
  candidate: Candidate;
  /** The last that came, from an answer or a stream. */
  usage: Usage | null;
  generationId: string | null;
  /** An estimate of the text that was relayed or read. */
  deliveredTokens: number;
  /**
   * The gateway read no further, because the caller had left: the prompt was read, and what the provider counted and
   * billed so far is not final.
   */
  stopped: boolean;
  /** True where a cost has to be shown now, so a later look-up comes too late. */
  shownNow: boolean;
}

/**
 * The price ladder's first rungs: what the provider reported; where it reported none, its own look-up, if that
 * may take its time; known tokens × the table's prices; else the estimate of the prompt's and the answer's texts. An
 * explicit cost of zero stays zero.
 */
export function costOfCall(facts: CostFacts): CallCost {
  const { candidate } = facts;
  const usage = facts.stopped ? usageSoFar(facts) : facts.usage;
  const { prices } = candidate.endpoint;
  const { capabilities, price } = candidate.provider.kind;
  const tokens = tokensOf(facts, usage);
  if (usage !== null && capabilities.reportsCost && usage.reportedAttoUsd !== null) {
    const nanoUsd = attoToNanoUp(usage.reportedAttoUsd, candidate.provider.priceFactorPpm);
    return { known: true, nanoUsd, tokens };
  }
  const counted = usage !== null && usage.tokens !== noTokens;
  const canLookUp = price !== null && facts.generationId !== null;
  if (canLookUp && !(facts.shownNow && counted)) {
    return { known: false, tokens, pending: pendingPrice(facts, counted) };
  }
  if (tokens === noTokens) return freeOfCharge;
  const nanoUsd = priceCall(tokens, prices, facts.plan.images, counted ? usage : nothingApart);
  return { known: true, nanoUsd, tokens, ...(tokens.estimated ? { isEstimated: true } : {}) };
}

/**
 * The usage of an answer that was not read to its end. A provider's running count is used where it is the greater one, because it
 * includes reasoning that is not shown; a count that falls short of the text that was read is not used. No prompt has no tokens.
 */
function usageSoFar({ plan, usage, deliveredTokens }: CostFacts): Usage | null {
  if (usage === null || usage.tokens === noTokens) return null;
  const { tokens } = usage;
  const prompt = tokens.prompt > 0 ? tokens.prompt : plan.promptEstimateTokens;
  const completion = Math.max(tokens.completion, deliveredTokens);
  if (prompt === tokens.prompt && completion === tokens.completion)
    return { ...usage, reportedAttoUsd: null };
  return { ...usage, tokens: { ...tokens, prompt, completion, estimated: true }, reportedAttoUsd: null };
}

export const freeOfCharge: CallCost = { known: true, nanoUsd: 0n, tokens: noTokens };

/**
 * Tokens, images and searches × the table's prices, summed exactly and rounded up once. An override reprices the
 * whole call.
 */
export function priceCall(
  tokens: TokenCounts,
  prices: Prices,
  images: number,
  { cacheWritten1h, webSearches }: CountedApart = nothingApart,
): NanoUsd {
  const applying = prices.overrides.filter(
    ({ minPromptTokens }) => minPromptTokens !== null && tokens.prompt > minPromptTokens,
  );
  const { cacheWrite1h, ...perToken } = tokenPrices(prices, applying);
  const searched = BigInt(webSearches) * (prices.webSearch ?? 0n);
  const forAnHour = BigInt(cacheWritten1h) * (cacheWrite1h - perToken.cacheWrite);
  return attoToNanoUp(tokenCost(tokens, perToken) + forAnHour + searched + callFees(prices, images));
}

/** Each override laid over those before it. */
function tokenPrices(
  prices: Prices,
  overrides: readonly PriceOverride[],
): TokenPrices & { cacheWrite1h: AttoUsd } {
  let { prompt, completion, cacheRead, cacheWrite, cacheWrite1h } = prices;
  for (const override of overrides) {
    prompt = override.prompt ?? prompt;
    completion = override.completion ?? completion;
    cacheRead = override.cacheRead ?? cacheRead;
    cacheWrite = override.cacheWrite ?? cacheWrite;
    cacheWrite1h = override.cacheWrite1h ?? cacheWrite1h;
  }
  return {
    prompt,
    completion,
    cacheRead: cacheRead ?? prompt,
    cacheWrite: cacheWrite ?? prompt,
    cacheWrite1h: cacheWrite1h ?? cacheWrite ?? prompt,
    reasoning: prices.internalReasoning ?? completion,
  };
}

const callFees = (prices: Prices, images: number): AttoUsd =>
  prices.request + BigInt(images) * (prices.image ?? 0n);

/**
 * The tokens that a call pays and its record shows: those that the provider counted. Where it counted nothing, or nothing of a prompt
 * that there was, or fewer tokens than an answer of that length can have, the estimate takes the place of that number, and the record
 * says so.
 */
function tokensOf({ plan, deliveredTokens, stopped }: CostFacts, usage: Usage | null): TokenCounts {
  const { promptEstimateTokens } = plan;
  if (usage === null || usage.tokens === noTokens) {
    if (deliveredTokens === 0 && !stopped) return noTokens;
    const estimate = { prompt: promptEstimateTokens, completion: deliveredTokens };
    return { ...estimate, reasoning: null, cached: 0, estimated: true };
  }
  const { tokens } = usage;
  const completion = isContradicted(tokens.completion, deliveredTokens) ? deliveredTokens : tokens.completion;
  const prompt = tokens.prompt === 0 && completion > 0 ? promptEstimateTokens : tokens.prompt;
  if (prompt === tokens.prompt && completion === tokens.completion) return tokens;
  return { ...tokens, prompt, completion, estimated: true };
}

/**
 * Whether more text was delivered than so many tokens can say. A token of prose or code is four bytes on average, and ten in
 * languages with long letters. The longest common tokens, of blanks or dashes, are about 128 bytes, but no whole answer consists of
 * them, so 64 bytes for each token leave room for every tokenizer. The slack lets short answers be of nothing but such tokens.
 */
const isContradicted = (countedTokens: number, deliveredTokens: number): boolean =>
  countedTokens === 0
    ? deliveredTokens > 0
    : deliveredTokens > countedTokens * LONGEST_TOKEN_ESTIMATE + SLACK_ESTIMATE;

/** 64 bytes, as tokens of the estimate. */
const LONGEST_TOKEN_ESTIMATE = estimateTokens(64);
/** 512 bytes, as tokens of the estimate. */
const SLACK_ESTIMATE = estimateTokens(512);

function pendingPrice(facts: CostFacts, tokensKnown: boolean): PendingPrice {
  return {
    price: savePrice(facts.plan, facts.candidate),
    generationId: facts.generationId,
    tokensKnown,
    deliveredTokens: facts.deliveredTokens,
    ...(facts.stopped ? { promptRead: true } : {}),
  };
}

/** The prices that this call may come to at one endpoint, in the words of the journal. */
export function savePrice(plan: CallPlan, candidate: Candidate): SavedPrice {
  const { promptEstimateTokens, images } = plan;
  const { endpoint, provider } = candidate;
  const { prices } = endpoint;
  const overrides = reachableOverrides(plan, candidate);
  const longPrompts = overrides.length === 0 ? [] : longPromptPrices(prices, overrides);
  return {
    providerId: provider.id,
    ...savedTokenPrices(prices, []),
    ...(prices.internalReasoning === null ? {} : { reasoningAtto: String(prices.internalReasoning) }),
    requestAtto: String(callFees(prices, images)),
    factorPpm: String(provider.priceFactorPpm),
    promptEstimateTokens,
    ...(longPrompts.length === 0 ? {} : { longPrompts }),
  };
}

/** Shortest first, each with all that holds from its length on, as in `priceCall`. */
function longPromptPrices(
  prices: Prices,
  overrides: readonly PriceOverride[],
): NonNullable<SavedPrice['longPrompts']> {
  const lengths = overrides.map((each) => each.minPromptTokens).filter((length) => length !== null);
  return [...new Set(lengths)]
    .sort((a, b) => a - b)
    .map((overTokens) => {
      const applying = overrides.filter(
        ({ minPromptTokens }) => minPromptTokens !== null && minPromptTokens <= overTokens,
      );
      return { overTokens, ...savedTokenPrices(prices, applying) };
    });
}

function savedTokenPrices(
  prices: Prices,
  overrides: readonly PriceOverride[],
): Pick<SavedPrice, 'promptAtto' | 'completionAtto' | 'cacheReadAtto' | 'cacheWriteAtto'> {
  const { prompt, completion, cacheRead, cacheWrite } = tokenPrices(prices, overrides);
  const saved = {
    promptAtto: String(prompt),
    completionAtto: String(completion),
    cacheReadAtto: String(cacheRead),
  };
  return cacheWrite === prompt ? saved : { ...saved, cacheWriteAtto: String(cacheWrite) };
}
