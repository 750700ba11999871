import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLookUpPrice } from '#core/calls/look-up-price.ts';
import { costFromSavedPrice } from '#core/calls/price-ladder.ts';
import type { Prices } from '#core/catalog/catalog.ts';
import {
  type CallEnd,
  savedPrice as ledgerEventPrice,
  type PendingPrice,
} from '#core/events/ledger-event.ts';
import { formatAttoUsd } from '#core/money.ts';
import type { CallPlan } from '../../api/inference/admit/call-plan.ts';
import { priceCall, savePrice } from '../../api/inference/price/call-cost.ts';
import { type ProviderKindName, providerKinds } from '../../api/providers/provider-kinds.ts';
import {
  bodyWith,
  candidate,
  endpoint,
  planOf,
  prices,
  provider,
  testCatalog,
} from '../inference/support.ts';

const plan = planOf(bodyWith());

const end = (prompt: number, completion: number, cached = 0): CallEnd => ({
  outcome: 'stopped',
  httpStatus: null,
  errorCode: null,
  tokens: { prompt, completion, reasoning: null, cached },
  durationMs: 1,
});

const pending = (
  given: Partial<PendingPrice> = {},
  price: Partial<PendingPrice['price']> = {},
): PendingPrice => ({
  price: {
    providerId: 'router',
    promptAtto: '1000000000',
    completionAtto: '4000000000',
    cacheReadAtto: '500000000',
    requestAtto: '7000000000',
    factorPpm: '1055000',
    promptEstimateTokens: 12,
    ...price,
  },
  generationId: 'gen-1',
  tokensKnown: true,
  deliveredTokens: 3,
  ...given,
});

describe('a price that no provider tells', () => {
  it('is known tokens × the prices saved in the hold, which have the margin inside', () => {
    expect(costFromSavedPrice(end(10, 5, 4), pending()).nanoUsd).toBe(6n + 2n + 20n + 7n);
  });

  it('keeps an explicit zero: a request fee is all that is left', () => {
    expect(costFromSavedPrice(end(0, 0), pending()).nanoUsd).toBe(7n);
    expect(costFromSavedPrice(end(0, 0), pending({}, { requestAtto: '0' })).nanoUsd).toBe(0n);
  });

  it('is the prompt’s estimate and what was delivered, where nothing was counted', () => {
    const { nanoUsd, tokens } = costFromSavedPrice(end(0, 0), pending({ tokensKnown: false }));
    expect(tokens).toEqual({ prompt: 12, completion: 3, reasoning: null, cached: 0, estimated: true });
    expect(nanoUsd).toBe(12n + 12n + 7n);
  });

  it('is nothing where nothing was delivered either, unless the caller left: then the prompt was read', () => {
    const nothing = pending({ tokensKnown: false, deliveredTokens: 0 });
    const { nanoUsd, tokens } = costFromSavedPrice(end(0, 0), nothing);
    expect(nanoUsd).toBe(0n);
    expect(tokens.prompt).toBe(0);
    expect(costFromSavedPrice(end(0, 0), { ...nothing, promptRead: true }).nanoUsd).toBe(12n + 7n);
  });

  it('is rounded up once', () => {
    const fine = { promptAtto: '1', completionAtto: '1', cacheReadAtto: '1', requestAtto: '1' };
    expect(costFromSavedPrice(end(3, 3, 1), pending({}, fine)).nanoUsd).toBe(1n);
  });
});

describe('a price saved for a prompt that may be long', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 12n });
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
  const override = fc.record({
    minPromptTokens: maybe(fc.integer({ min: 0, max: 40 })),
    prompt: maybe(amount),
    completion: maybe(amount),
    cacheRead: maybe(amount),
    cacheWrite: maybe(amount),
    cacheWrite1h: maybe(amount),
  });
  const saved = (table: Partial<Prices>, given: Partial<CallPlan> = {}) =>
    savePrice({ ...plan, ...given }, candidate({ endpoint: endpoint({ prices: prices(table) }) }));

  it('is what the same tokens cost by the table, overrides and all', () => {
    const table = fc.record({
      prompt: amount,
      completion: amount,
      cacheRead: maybe(amount),
      cacheWrite: maybe(amount),
      internalReasoning: maybe(amount),
      image: maybe(amount),
      overrides: fc.array(override, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(
        table,
        fc.nat({ max: 50 }),
        fc.nat({ max: 50 }),
        fc.nat({ max: 50 }),
        fc.nat({ max: 50 }),
        fc.nat({ max: 60 }),
        fc.nat({ max: 2 }),
        (given, prompt, completion, fromCache, toCache, reasoning, images) => {
          const cached = Math.min(fromCache, prompt);
          const cacheWritten = Math.min(toCache, prompt - cached);
          const ended = end(prompt, completion, cached);
          ended.tokens = { ...ended.tokens, cacheWritten, reasoning };
          const price = saved(given, { promptTokensMax: 50, images });
          const later = costFromSavedPrice(ended, pending({ price })).nanoUsd;
          expect(later).toBe(priceCall(ended.tokens, prices(given), images));
          expect(ledgerEventPrice.parse(JSON.parse(JSON.stringify(price)))).toEqual(price);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  const long = {
    minPromptTokens: 200_000,
    prompt: 2n,
    completion: null,
    cacheRead: null,
    cacheWrite: null,
    cacheWrite1h: null,
  };

  it('holds no price that this prompt cannot come to', () => {
    expect(Object.keys(saved({ overrides: [long] }, { promptTokensMax: 200_000 }))).toEqual(
      Object.keys(saved({ overrides: [] })),
    );
    expect(Object.keys(saved({ overrides: [{ ...long, minPromptTokens: null }] }))).toEqual(
      Object.keys(saved({ overrides: [] })),
    );
  });
});

describe('a price that the provider tells later', () => {
  const asked: string[] = [];
  const lookUp = (answer: unknown, kind: ProviderKindName = 'openrouter') =>
    createLookUpPrice(
      testCatalog({ providers: [provider({ kind: providerKinds[kind] })] }),
      async (_provider, path) => {
        asked.push(path);
        if (answer instanceof Error) throw answer;
        return answer;
      },
    );
  const priceOf = async (data: unknown) => {
    const found = await lookUp({ data })('router', 'gen-1');
    return found === null ? null : formatAttoUsd(found.attoUsd);
  };

  it.each<[string, unknown, string | null]>([
    ['what it charged', { total_cost: 0.136002 }, '0.136002'],
    ['nothing', { total_cost: 0 }, '0'],
    ['less than nothing is no price', { total_cost: -0.1 }, null],
    ['minus zero is nothing', { total_cost: -0 }, '0'],
    ['a small price', { total_cost: 1e-9 }, '0.000000001'],
    ['a tiny price', { total_cost: 1.5e-15 }, '0.0000000000000015'],
    ['an absurd one', { total_cost: 1e30 }, null],
    ['more than any balance', { total_cost: 9_000_001 }, null],
    ['a text', { total_cost: '0.1' }, null],
    ['null', { total_cost: null }, null],
    ['no price', {}, null],
    [
      'with the operator’s own key, both bills',
      { total_cost: 0.05, is_byok: true, upstream_inference_cost: 1 },
      '1.05',
    ],
    [
      'both bills, one of them not there yet',
      { total_cost: 0.05, is_byok: true, upstream_inference_cost: null },
      null,
    ],
    [
      'both bills, one of them absurd',
      { total_cost: 0.05, is_byok: true, upstream_inference_cost: 1e30 },
      null,
    ],
    [
      'without it, only the router’s',
      { total_cost: 0.05, is_byok: false, upstream_inference_cost: 1 },
      '0.05',
    ],
  ])('%s', async (_what, data, expected) => {
    expect(await priceOf(data)).toBe(expected);
  });

  it.each([
    null,
    5,
    'x',
    [],
    {},
    { data: null },
    { data: [] },
    { error: { code: 404 } },
    new Error('not there yet'),
  ])('is asked for again after %j', async (answer) => {
    expect(await lookUp(answer)('router', 'gen-1')).toBeNull();
  });

  it('comes with the tokens, where both are counted', async () => {
    const tokensOf = async (data: object) =>
      (await lookUp({ data: { total_cost: 1, ...data } })('router', 'gen-1'))?.tokens;
    expect(
      await tokensOf({ native_tokens_prompt: 9, native_tokens_completion: 4, native_tokens_reasoning: 2 }),
    ).toEqual({ prompt: 9, completion: 4, reasoning: 2, cached: 0 });
    expect(
      await tokensOf({ native_tokens_prompt: 9, native_tokens_completion: 4, native_tokens_cached: 99 }),
    ).toMatchObject({ cached: 9 });
    expect(await tokensOf({ native_tokens_prompt: 9 })).toBeNull();
    expect(await tokensOf({ native_tokens_prompt: null, native_tokens_completion: 4 })).toBeNull();
  });

  it('is asked only of routers, by an id that cannot leave its place in the address', async () => {
    asked.length = 0;
    expect(await lookUp({ data: { total_cost: 1 } }, 'openai')('router', 'gen-1')).toBeNull();
    expect(await lookUp({ data: { total_cost: 1 } })('nobody', 'gen-1')).toBeNull();
    expect(asked).toEqual([]);
    await lookUp({ data: { total_cost: 1 } })('router', 'a&b=c/../d?e#f');
    expect(asked).toEqual(['/generation?id=a%26b%3Dc%2F..%2Fd%3Fe%23f']);
  });
});
