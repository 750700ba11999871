import { describe, expect, it } from 'vitest';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import {
  atto,
  bodyWith,
  endpoint,
  messages,
  model,
  planOf,
  prices,
  provider,
  refusalOf,
  testCatalog,
} from './support.ts';

const cheap = endpoint({ providerId: 'plain', prices: prices({ prompt: 1n, completion: 1n }) });
const dear = endpoint({ prices: prices({ prompt: 2n, completion: 2n }) });
const catalog = testCatalog({
  models: [
    model({ endpoints: [dear, cheap] }),
    model({ id: 'acme/small:thinking', name: 'Acme Small, thinking' }),
    model({ id: 'acme/large', endpoints: [endpoint({ prices: prices({ prompt: atto('0.1') }) })] }),
    model({ id: 'acme/stopped', endpoints: [endpoint({ providerId: 'stopped' })] }),
  ],
  providers: [
    provider(),
    provider({ id: 'plain', kind: providerKinds.openai }),
    provider({ id: 'stopped', stopped: true }),
  ],
  notServed: ['acme/small:free', 'openrouter/auto'],
});

const named = (id: string) => `{"model":${JSON.stringify(id)},${messages}}`;
const refusal = (body: string, from = catalog) => {
  const { code, param } = refusalOf(body, from);
  return `${code} ${param}`;
};
const tried = (body: string) =>
  planOf(body, catalog).candidates.map((each) => `${each.model.id} ${each.endpoint.providerId}`);

describe('the model that is asked for', () => {
  it('is run by its endpoints in their order', () => {
    expect(tried(named('acme/small'))).toEqual(['acme/small router', 'acme/small plain']);
  });

  it.each<[string, string[]]>([
    ['acme/small:nitro', ['nitro']],
    ['acme/small:exacto', ['exacto']],
    ['acme/small:thinking', []],
    ['acme/small:thinking:nitro', ['nitro']],
    ['acme/small:nitro:thinking', ['nitro']],
  ])('%s steers by its suffixes', (id, suffixes) => {
    const plan = planOf(named(id), catalog);
    expect(plan.candidates[0]?.suffixes).toEqual(suffixes);
    expect(plan.model.id).toBe(id.includes('thinking') ? 'acme/small:thinking' : 'acme/small');
  });

  it.each(['acme/small:nitro:exacto', 'acme/small:nitro:nitro', 'acme/small:thinking:floor:nitro'])(
    '%s has one suffix too many, and no provider is asked',
    (id) => {
      expect(refusal(named(id))).toBe('unknown_model model');
    },
  );

  it(':floor tries the cheapest first', () => {
    expect(tried(named('acme/small:floor'))).toEqual(['acme/small plain', 'acme/small router']);
  });

  it.each([
    ['acme/small:free', 'model_not_served model'],
    ['acme/small:batch', 'model_not_served model'],
    ['acme/small:free:nitro', 'model_not_served model'],
    ['acme/small:nitro:free', 'model_not_served model'],
    ['acme/nobody:free', 'model_not_served model'],
    ['openrouter/auto', 'model_not_served model'],
    ['acme/small:online:nitro', 'unknown_model model'],
    ['acme/small:free:online', 'model_not_served model'],
    ['acme/small:turbo', 'unknown_model model'],
    ['acme/small:nitro:turbo', 'unknown_model model'],
    ['acme/small:', 'unknown_model model'],
    ['acme/small@preset/x', 'model_not_served model'],
    ['@preset/x', 'model_not_served model'],
    ['~acme/newest', 'model_not_served model'],
    ['~acme/newest:nitro', 'model_not_served model'],
    ['acme/~small', 'unknown_model model'],
    ['ACME/SMALL', 'unknown_model model'],
    [' acme/small', 'unknown_model model'],
    [':nitro', 'unknown_model model'],
    ['__proto__', 'unknown_model model'],
    ['acme/stopped', 'provider_unavailable null'],
  ])('%s: %s', (id, expected) => {
    expect(refusal(named(id))).toBe(expected);
  });

  it('a wrong name is answered with the nearest ones', () => {
    expect(refusalOf(named('acme/smal'), catalog).message).toContain('Did you mean `acme/small`');
    expect(refusalOf(named('gpt-9'), catalog).message).toBe(
      'No model has the id `gpt-9`. `GET /models` lists those that are served.',
    );
  });

  it('a long name is not read back in full', () => {
    expect(refusalOf(named('x'.repeat(256)), catalog).message.length).toBeLessThan(200);
  });

  it('may exist while no list has come', () => {
    expect(refusal(named('acme/new'), testCatalog({ unavailable: true }))).toBe('catalog_unavailable model');
  });

  it('is not run at all while the gateway is stopped, and then nothing else is looked at', () => {
    expect(refusal(named('nobody/knows'), testCatalog({ stopped: true }))).toBe('gateway_unavailable null');
  });
});

describe('fallbacks', () => {
  it('come after, with all their endpoints', () => {
    expect(tried(bodyWith('"models":["acme/large"]'))).toEqual([
      'acme/small router',
      'acme/small plain',
      'acme/large router',
    ]);
  });

  it.each([
    ['["acme/large","nobody/knows"]', 'unknown_model models[1]'],
    ['["acme/small:free"]', 'model_not_served models[0]'],
    ['["openrouter/auto"]', 'model_not_served models[0]'],
  ])('%s have to be served, used or not: %s', (models, expected) => {
    expect(refusal(bodyWith(`"models":${models}`))).toBe(expected);
  });

  it('take over from a provider that is stopped', () => {
    const body = `{"model":"acme/stopped",${messages},"models":["acme/large"]}`;
    expect(tried(body)).toEqual(['acme/large router']);
  });

  it('an empty list counts as absent', () => {
    expect(tried(bodyWith('"models":[]'))).toEqual(tried(bodyWith()));
  });
});

describe('the order of refusals', () => {
  it.each([
    ['the body before the model', `{"model":"nobody/knows","messages":[]}`, 'invalid_request messages'],
    [
      'the tools before the model',
      `{"model":"nobody/knows",${messages},"tools":[{"type":"mcp"}]}`,
      'tool_not_served tools[0]',
    ],
    [
      'the model before its fallbacks',
      `{"model":"nobody/knows",${messages},"models":["x:free"]}`,
      'unknown_model model',
    ],
  ])('%s', (_what, body, expected) => {
    expect(refusal(body)).toBe(expected);
  });
});
