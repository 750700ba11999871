import { describe, expect, it } from 'vitest';
import { type CostFacts, costOfCall, freeOfCharge, savePrice } from '../../api/inference/price/call-cost.ts';
import { chatCounts, readUsage } from '../../api/inference/price/usage.ts';
import { type ProviderKindName, providerKinds } from '../../api/providers/provider-kinds.ts';
import { atto, bodyWith, candidate, endpoint, planOf, prices, provider } from './support.ts';

const plan = planOf(bodyWith());
const NANO = 1_000_000_000n;
const table = prices({ prompt: NANO, completion: 4n * NANO });

function costOf(
  kind: ProviderKindName,
  usage: string | null,
  given: Partial<CostFacts> = {},
  factorPpm = 1_000_000n,
) {
  return costOfCall({
    plan,
    candidate: candidate({
      endpoint: endpoint({ prices: table }),
      provider: provider({ kind: providerKinds[kind], priceFactorPpm: factorPpm }),
    }),
    usage: usage === null ? null : (readUsage(Buffer.from(usage), chatCounts)?.usage ?? null),
    generationId: 'gen-1',
    deliveredTokens: 3,
    stopped: false,
    shownNow: true,
    ...given,
  });
}

const counted = '{"prompt_tokens":10,"completion_tokens":5}';
const priced = (cost: string) => `{"prompt_tokens":10,"completion_tokens":5,"cost":${cost}}`;
const known = (nanoUsd: bigint) => expect.objectContaining({ known: true, nanoUsd });
const estimate = BigInt(plan.promptEstimateTokens) + 3n * 4n;

describe('the price of a call, rung by rung', () => {
  it.each<[string, ProviderKindName, string | null, Partial<CostFacts>, unknown]>([
    ['what a router reports', 'openrouter', priced('0.000001'), {}, known(1_000n)],
    ['and the simulator', 'simulator', priced('0.000001'), {}, known(1_000n)],
    ['an explicit zero stays zero', 'openrouter', priced('0'), {}, known(0n)],
    ['a cost without tokens is a cost', 'openrouter', '{"cost":0.000001}', {}, known(1_000n)],
    ['a plain server’s claim is none: its tokens count', 'openai', priced('99'), {}, known(30n)],
    ['tokens × table where no cost came and one has to be shown', 'openrouter', counted, {}, known(30n)],
    ['the same where the cost was nonsense', 'openrouter', priced('-1'), {}, known(30n)],
    [
      'the same where nobody can be asked',
      'openrouter',
      counted,
      { shownNow: false, generationId: null },
      known(30n),
    ],
    ['a plain server’s tokens', 'openai', counted, { shownNow: false }, known(30n)],
    ['an estimate where a plain server counted nothing', 'openai', null, {}, known(estimate)],
    [
      'an estimate where a router has no id to ask by',
      'openrouter',
      null,
      { generationId: null },
      known(estimate),
    ],
  ])('%s', (_what, kind, usage, given, expected) => {
    expect(costOf(kind, usage, given)).toEqual(expected);
  });

  it('waits for the router’s own record where nothing has to be shown now', () => {
    const cost = costOf('openrouter', counted, { shownNow: false });
    expect(cost).toMatchObject({
      known: false,
      tokens: { prompt: 10, completion: 5 },
      pending: { generationId: 'gen-1', tokensKnown: true, deliveredTokens: 3 },
    });
  });

  it('and where nothing is known at all', () => {
    for (const shownNow of [true, false]) {
      const cost = costOf('openrouter', null, { shownNow });
      expect(cost).toMatchObject({ known: false, pending: { tokensKnown: false, deliveredTokens: 3 } });
    }
  });

  it.each<[string, string | null, object]>([
    ['no usage', null, { prompt: plan.promptEstimateTokens, completion: 3, estimated: true }],
    [
      'a cost without tokens',
      '{"cost":0.5}',
      { prompt: plan.promptEstimateTokens, completion: 3, estimated: true },
    ],
    [
      'no tokens of a prompt',
      '{"prompt_tokens":0,"completion_tokens":5}',
      { prompt: plan.promptEstimateTokens, completion: 5, estimated: true },
    ],
    [
      'no tokens of an answer',
      '{"prompt_tokens":10,"completion_tokens":0}',
      { prompt: 10, completion: 3, estimated: true },
    ],
  ])(
    'the record of a call says that its tokens are an estimate where the provider tells %s',
    (_what, usage, tokens) => {
      for (const kind of ['openai', 'openrouter'] as const)
        expect(costOf(kind, usage).tokens).toMatchObject(tokens);
    },
  );

  describe('a count that is too low for the text that was delivered', () => {
    const count = (completion: number) => `{"prompt_tokens":10,"completion_tokens":${completion}}`;

    it.each([
      ['1 token for 4,400 bytes', 1, 1_100],
      ['100 tokens for 8,000 bytes', 100, 2_000],
    ])('gives way to the estimate, and the record says so: %s', (_what, completion, deliveredTokens) => {
      const cost = costOf('openai', count(completion), { deliveredTokens });
      expect(cost).toMatchObject({
        nanoUsd: 10n + BigInt(deliveredTokens) * 4n,
        tokens: { prompt: 10, completion: deliveredTokens, estimated: true },
        isEstimated: true,
      });
    });

    it.each([
      ['1 token for 500 bytes of blanks', 1, 125],
      ['100 tokens for 4,400 bytes', 100, 1_100],
      ['more tokens than bytes, as hidden reasoning needs', 5_000, 10],
    ])('is believed where a tokenizer can reach it: %s', (_what, completion, deliveredTokens) => {
      const { tokens } = costOf('openai', count(completion), { deliveredTokens });
      expect(tokens.completion).toBe(completion);
      expect(tokens).not.toHaveProperty('estimated');
    });

    it('leaves the price that a router reports, and marks the count in the record', () => {
      const cost = costOf('openrouter', priced('0.000001').replace('5', '1'), { deliveredTokens: 1_100 });
      expect(cost).toMatchObject({ nanoUsd: 1_000n, tokens: { completion: 1_100, estimated: true } });
    });
  });

  it('a call whose tokens were counted is no estimate, and one that delivered nothing has none', () => {
    expect(costOf('openai', counted).tokens).not.toHaveProperty('estimated');
    const nothing = { deliveredTokens: 0 };
    expect(costOf('openai', null, nothing)).toEqual(freeOfCharge);
    const zeros = costOf('openai', '{"prompt_tokens":0,"completion_tokens":0}', nothing);
    expect(zeros).toMatchObject({ known: true, nanoUsd: 0n });
    expect(zeros.tokens).not.toHaveProperty('estimated');
  });

  it('a reported cost of zero stays zero, whatever its tokens say', () => {
    const cost = costOf('openrouter', '{"prompt_tokens":0,"completion_tokens":0,"cost":0}');
    expect(cost).toMatchObject({ known: true, nanoUsd: 0n, tokens: { completion: 3, estimated: true } });
    expect(cost).not.toHaveProperty('isEstimated');
  });

  it.each([
    // 0.1 nano-dollars twice over is 0.2, not 2: one rounding, not two.
    ['0.0000000001', 2_000_000n, 1n],
    ['0.000000001', 1_055_000n, 2n],
    ['0.00014235000000000001', 1_000_000n, 142_351n],
    ['0.136002', 1_055_000n, 143_482_110n],
    ['0', 1_055_000n, 0n],
  ])('the margin is inside before the one rounding up: %s × %s', (text, factorPpm, expected) => {
    expect(costOf('openrouter', priced(text), {}, factorPpm)).toEqual(known(expected));
  });

  it('what is free costs nothing', () => {
    expect(freeOfCharge).toEqual(known(0n));
  });
});

describe('the price that is saved for later', () => {
  it('holds everything that a price needs, as whole atto-dollars', () => {
    const dear = prices({
      prompt: atto('0.00001'),
      completion: atto('100'),
      cacheRead: 7n,
      request: atto('100'),
    });
    const saved = savePrice(
      plan,
      candidate({ endpoint: endpoint({ prices: dear }), provider: provider({ id: 'r' }) }),
    );
    expect(saved).toEqual({
      providerId: 'r',
      promptAtto: '10000000000000',
      completionAtto: '100000000000000000000',
      cacheReadAtto: '7',
      requestAtto: '100000000000000000000',
      factorPpm: '1000000',
      promptEstimateTokens: plan.promptEstimateTokens,
    });
  });

  it('takes a cached token for a plain one where it has no price of its own', () => {
    expect(savePrice(plan, candidate()).cacheReadAtto).toBe(savePrice(plan, candidate()).promptAtto);
  });
});
