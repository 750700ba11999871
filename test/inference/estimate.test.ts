import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Prices } from '#core/catalog/catalog.ts';
import { attoToNanoUp } from '#core/money.ts';
import type { CallPlan, Candidate } from '../../api/inference/admit/call-plan.ts';
import { priceCall } from '../../api/inference/price/call-cost.ts';
import {
  contextTokens,
  estimateHold,
  largestFittingCap,
  modelOutputTokens,
} from '../../api/inference/price/estimate.ts';
import { bodyWith, candidate, endpoint, model, planOf, prices } from './support.ts';

const template = planOf(bodyWith());
const plan = (given: Partial<CallPlan>): CallPlan => ({ ...template, ...given });

const price = fc.bigInt({ min: 0n, max: 10n ** 15n });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const tokens = fc.integer({ min: 1, max: 300_000 });

const anyPrices: fc.Arbitrary<Prices> = fc.record({
  prompt: price,
  completion: price,
  request: price,
  cacheRead: maybe(price),
  cacheWrite: maybe(price),
  cacheWrite1h: maybe(price),
  internalReasoning: maybe(price),
  image: maybe(price),
  webSearch: maybe(price),
  overrides: fc.array(
    fc.record({
      minPromptTokens: maybe(fc.nat({ max: 200_000 })),
      prompt: maybe(price),
      completion: maybe(price),
      cacheRead: maybe(price),
      cacheWrite: maybe(price),
      cacheWrite1h: maybe(price),
    }),
    { maxLength: 3 },
  ),
});

const anyCandidate: fc.Arbitrary<Candidate> = fc
  .record({
    prices: anyPrices,
    contextLength: tokens,
    maxOutputTokens: maybe(tokens),
    ownContext: maybe(tokens),
    ownOutput: maybe(tokens),
  })
  .map((given) =>
    candidate({
      model: model({ contextLength: given.contextLength, maxOutputTokens: given.maxOutputTokens }),
      endpoint: endpoint({
        prices: given.prices,
        contextLength: given.ownContext,
        maxOutputTokens: given.ownOutput,
      }),
    }),
  );

const anyPlan: fc.Arbitrary<CallPlan> = fc
  .record({
    candidates: fc.array(anyCandidate, { minLength: 1, maxLength: 3 }),
    promptTokensMax: fc.oneof(tokens, fc.constant(Number.MAX_SAFE_INTEGER)),
    outputTokensCap: maybe(fc.oneof(tokens, fc.constant(2_147_483_647))),
    extraOutputTokens: fc.oneof(fc.constant(0), fc.nat({ max: 1_000 })),
    images: fc.nat({ max: 5 }),
    choices: fc.integer({ min: 1, max: 128 }),
  })
  .map(plan);

/** A share of what is allowed, in thousandths; 1000 is all of it. */
const share = fc.oneof(fc.constant(1_000), fc.nat({ max: 1_000 }));
const part = (thousandths: number, of: number) => Math.floor((of * thousandths) / 1_000);

describe('the hold', () => {
  it('covers whatever a call within its caps can cost, whichever endpoint answers', () => {
    fc.assert(
      fc.property(
        anyPlan,
        fc.nat(),
        fc.tuple(share, share, share, share, share, share),
        (given, which, shares) => {
          const [read, written, fromCache, toCache, forAnHour, thought] = shares;
          const used = given.candidates[which % given.candidates.length];
          if (used === undefined) return;
          const prompt = part(read, Math.min(given.promptTokensMax, contextTokens(used)));
          const cap = Math.min(given.outputTokensCap ?? Number.MAX_SAFE_INTEGER, modelOutputTokens(used));
          const completion = part(written, cap) * given.choices + given.extraOutputTokens;
          const cached = part(fromCache, prompt);
          const cacheWritten = part(toCache, prompt - cached);
          const usage = { prompt, completion, cached, cacheWritten, reasoning: part(thought, completion) };
          const cost =
            priceCall(usage, used.endpoint.prices, given.images, {
              cacheWritten1h: part(forAnHour, cacheWritten),
              webSearches: 0,
            }) + attoToNanoUp(used.endpoint.prices.webSearch ?? 0n);
          // Both are rounded up by themselves here.
          expect(cost - 1n).toBeLessThanOrEqual(estimateHold(given));
        },
      ),
      { numRuns: 3_000 },
    );
  });

  const NANO = 1_000_000_000n;
  const one = (given: Partial<Prices>, more: Partial<CallPlan> = {}) =>
    estimateHold(
      plan({
        candidates: [
          candidate({ endpoint: endpoint({ prices: prices({ prompt: 0n, completion: 0n, ...given }) }) }),
        ],
        promptTokensMax: 100,
        outputTokensCap: 10,
        ...more,
      }),
    );
  const over = {
    minPromptTokens: 50,
    prompt: null,
    completion: null,
    cacheRead: null,
    cacheWrite: null,
    cacheWrite1h: null,
  };

  it.each<[string, bigint, bigint]>([
    ['prompt', one({ prompt: NANO }), 100n],
    ['writing to the cache, where dearer', one({ prompt: NANO, cacheWrite: 2n * NANO }), 200n],
    ['writing to it for an hour', one({ cacheWrite: 2n * NANO, cacheWrite1h: 3n * NANO }), 300n],
    ['reading from the cache, where dearer', one({ prompt: NANO, cacheRead: 3n * NANO }), 300n],
    ['the cap', one({ completion: NANO }), 10n],
    ['the model’s whole output without one', one({ completion: NANO }, { outputTokensCap: null }), 4_096n],
    ['the model’s whole output at most', one({ completion: NANO }, { outputTokensCap: 99_999 }), 4_096n],
    ['thinking, where dearer', one({ completion: NANO, internalReasoning: 2n * NANO }), 20n],
    ['a request fee', one({ request: NANO }), 1n],
    ['one search of a model that searches by itself', one({ webSearch: 5n * NANO }), 5n],
    ['images', one({ image: NANO }, { images: 3 }), 3n],
    ['a long prompt’s price', one({ prompt: NANO, overrides: [{ ...over, prompt: 5n * NANO }] }), 500n],
    [
      'not where the prompt cannot be so long',
      one({ prompt: NANO, overrides: [{ ...over, minPromptTokens: 100, prompt: 5n * NANO }] }),
      100n,
    ],
    [
      'a price under unknown conditions',
      one({ completion: NANO, overrides: [{ ...over, minPromptTokens: null, completion: 9n * NANO }] }),
      90n,
    ],
    ['cache writes of a long prompt', one({ overrides: [{ ...over, cacheWrite: 7n * NANO }] }), 700n],
    ['a prediction that is thrown away', one({ completion: NANO }, { extraOutputTokens: 4 }), 14n],
    ['a search for each answer', one({ webSearch: NANO }, { choices: 3 }), 3n],
    ['each answer by itself', one({ prompt: NANO, completion: NANO, request: NANO }, { choices: 3 }), 333n],
    ['media: all the context', one({ prompt: NANO }, { promptTokensMax: Number.MAX_SAFE_INTEGER }), 32_768n],
    ['no fraction of a nano-dollar less', one({ prompt: 1n }), 1n],
  ])('counts %s', (_what, hold, expected) => {
    expect(hold).toBe(expected);
  });

  it('covers what a translation says beyond the caller’s own words', () => {
    const bytes = Buffer.from(`{"tools":"${'x'.repeat(5_000)}"}`);
    const translated = {
      bytes,
      members: [],
      keyCount: 1,
      valueCount: 0,
      hasExponent: false,
      disguisedKey: null,
      hasFoldableKey: false,
    };
    const cost = (given: Partial<Candidate>) =>
      estimateHold(plan({ promptTokensMax: 100, candidates: [candidate(given)] }));
    expect(cost({ translated }) - cost({})).toBe(BigInt(bytes.length - 100) * 1_000n);
  });

  it('is that of the dearest model', () => {
    const at = (completion: bigint) =>
      candidate({ endpoint: endpoint({ prices: prices({ prompt: 0n, completion }) }) });
    const hold = (...candidates: Candidate[]) => estimateHold(plan({ candidates, outputTokensCap: 10 }));
    expect(hold(at(NANO), at(3n * NANO), at(2n * NANO))).toBe(hold(at(3n * NANO)));
  });
});

describe('the largest cap that fits', () => {
  it('fits, and one more would not', () => {
    fc.assert(
      fc.property(anyPlan, fc.nat({ max: 1_500 }), (given, thousandths) => {
        const available = (estimateHold(given) * BigInt(thousandths)) / 1_000n;
        const cap = largestFittingCap(given, available);
        const holdOf = (outputTokensCap: number) => estimateHold({ ...given, outputTokensCap });
        const bound = Math.max(...given.candidates.map(modelOutputTokens));
        if (cap === null) {
          expect(holdOf(1)).toBeGreaterThan(available);
          return;
        }
        expect(cap).toBeGreaterThanOrEqual(1);
        expect(cap).toBeLessThanOrEqual(bound);
        expect(holdOf(cap)).toBeLessThanOrEqual(available);
        if (cap < bound) expect(holdOf(cap + 1)).toBeGreaterThan(available);
      }),
      { numRuns: 3_000 },
    );
  });

  it('is not bound by a fallback that writes little', () => {
    const NANO = 1_000_000_000n;
    const at = (maxOutputTokens: number) =>
      candidate({
        endpoint: endpoint({ maxOutputTokens, prices: prices({ prompt: 0n, completion: NANO }) }),
      });
    const candidates = [at(4_000), at(10)];
    expect(largestFittingCap(plan({ candidates }), 2_000n)).toBe(2_000);
  });
});
