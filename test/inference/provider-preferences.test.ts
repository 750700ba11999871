import { describe, expect, it } from 'vitest';
import { runAtOnce } from '#core/steps.ts';
import { buildChatBody } from '../../api/inference/formats/chat-body.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import {
  atto,
  bodyWith,
  endpoint,
  model,
  planOf,
  prices,
  provider,
  refusalOf,
  testCatalog,
} from './support.ts';

const dear = prices({ prompt: atto('0.000003'), completion: atto('0.000012') });
const cheap = prices({ prompt: atto('0.000001'), completion: atto('0.000004') });
const catalog = testCatalog({
  models: [
    model({
      endpoints: [
        endpoint({ providerId: 'own-dear', prices: dear }),
        endpoint({ providerId: 'own-cheap', prices: cheap }),
        endpoint({ prices: dear }),
      ],
    }),
    model({ id: 'acme/own', endpoints: [endpoint({ providerId: 'own-cheap', prices: cheap })] }),
  ],
  providers: [
    provider({ priceFactorPpm: 1_500_000n }),
    provider({ id: 'own-dear', kind: providerKinds.openai }),
    provider({ id: 'own-cheap', kind: providerKinds.openai }),
  ],
});

const tried = (preferences: object, more = ''): string[] =>
  planOf(bodyWith(`"provider":${JSON.stringify(preferences)}${more}`), catalog).candidates.map(
    (each) => each.endpoint.providerId,
  );

describe('what a caller prefers of providers', () => {
  it('changes nothing where it prefers nothing', () => {
    expect(tried({})).toEqual(['own-dear', 'own-cheap', 'router']);
    expect(tried({ only: [], zdr: false, data_collection: 'allow', order: ['x'], ignore: [] })).toHaveLength(
      3,
    );
  });

  it('may sort them by price', () => {
    expect(tried({ sort: 'price' })).toEqual(['own-cheap', 'own-dear', 'router']);
    expect(tried({ sort: { by: 'price', partition: 'none' } })[0]).toBe('own-cheap');
  });

  it('may allow no other than the first', () => {
    expect(tried({ allow_fallbacks: false })).toEqual(['own-dear']);
    expect(tried({ allow_fallbacks: false, sort: 'price' })).toEqual(['own-cheap']);
    expect(tried({ allow_fallbacks: false }, ',"models":["acme/own"]')).toEqual(['own-dear', 'own-cheap']);
  });

  it('may leave out those above a price, in dollars per million tokens', () => {
    expect(tried({ max_price: { prompt: 1 } })).toEqual(['own-cheap', 'router']);
    expect(tried({ max_price: { completion: '11.99' } })).toEqual(['own-cheap', 'router']);
    expect(tried({ max_price: { prompt: 3, completion: 12 } })).toHaveLength(3);
  });

  it.each<[string, unknown]>([
    ['only', ['anthropic']],
    ['zdr', true],
    ['data_collection', 'deny'],
    ['quantizations', ['fp16']],
    ['enforce_distillable_text', true],
  ])('leaves %s to those who know: no endpoint of the operator’s own runs it', (name, value) => {
    expect(tried({ [name]: value })).toEqual(['router']);
    const body = bodyWith(`"provider":${JSON.stringify({ [name]: value })}`).replace(
      'acme/small',
      'acme/own',
    );
    expect(refusalOf(body, catalog)).toMatchObject({
      code: 'no_provider',
      param: `provider.${name}`,
      message: expect.stringContaining(`\`provider.${name}\``),
    });
  });

  it('has prices in it as the model list shows them, and a router is told them without the margin', () => {
    const body = bodyWith('"provider":{"max_price":{"prompt":1.5,"completion":600}}');
    const plan = planOf(body, catalog);
    const router = plan.candidates.at(-1);
    if (router === undefined) throw new Error('no candidate');
    const { max_price: ceilings } = JSON.parse(runAtOnce(buildChatBody(plan, router, 7)).toString()).provider;
    expect(ceilings).toEqual({ prompt: 1, completion: 8, request: 0 });
  });
});
