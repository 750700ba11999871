import { expect, test } from 'vitest';
import { checkCatalog } from '#core/catalog/check-catalog.ts';
import { knownModels } from '../../api/providers/known-models.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { model, provider, settings } from './support.ts';

test('a price that looks like one per million tokens is pointed out', () => {
  const [warning, ...others] = checkCatalog(
    settings({
      providers: [provider({ kind: providerKinds.simulator })],
      models: [model('a/b', '2.5'), model('a/c', '0.009')],
    }),
  );
  expect(warning).toBe(
    'Model a/b at provider p takes 2.5 dollars per token of prompt: is it per million tokens?',
  );
  expect(others).toEqual([]);
});

test('what is given away, cannot run, or contradicts itself is pointed out', () => {
  const warnings = checkCatalog(
    settings({
      providers: [
        provider(),
        provider({ id: 'q', kind: providerKinds.openai, catalog: 'none' }),
        provider({ id: 's', stopped: true }),
      ],
      models: [
        model('a/free', '0'),
        model('a/long', '0.000001', { maxOutputTokens: 2_000 }),
        model('a/idle', '0.000001', {
          endpoints: model('x').endpoints.map((each) => ({ ...each, providerId: 's' })),
        }),
      ],
    }),
  );
  expect(warnings).toEqual([
    'Provider p has no key: its models are listed, but calls will fail.',
    'Provider q runs no model: nothing is imported and no model names it.',
    'Provider s has no key: its models are listed, but calls will fail.',
    'Model a/free at provider p gives prompts away: the price of prompt is 0.',
    'Model a/long says that it writes more tokens than its context holds.',
    'Model a/idle has no endpoint that runs: every provider of it is stopped.',
  ]);
  expect(checkCatalog(settings({ providers: [] }))).toEqual([
    'No provider is configured: no call can be served.',
  ]);
});

test('the shipped price list raises no warning', () => {
  const openai = provider({ id: 'openai', kind: providerKinds.openai, catalog: 'none' });
  expect(checkCatalog(settings({ providers: [openai], models: knownModels(providerKinds.openai) }))).toEqual(
    [],
  );
});
