import { formatAttoUsd, parseAttoUsd } from '../money.ts';
import type { Endpoint } from './catalog.ts';
import type { CatalogSettings, ModelSettings } from './catalog-settings.ts';

/** One cent per token: above what any vendor takes, below any price meant per million tokens. */
const PER_TOKEN_SUSPECT = parseAttoUsd('0.01') ?? 0n;

/** What is allowed but looks like a mistake; sentences for the operator, in the configuration's order. */
export function checkCatalog(settings: CatalogSettings): string[] {
  const named = new Set([
    ...settings.models.flatMap(({ endpoints }) => endpoints.map(({ providerId }) => providerId)),
    ...[...settings.videos.models, ...settings.images.models].map(({ providerId }) => providerId),
  ]);
  return [
    ...(settings.providers.length === 0 ? ['No provider is configured: no call can be served.'] : []),
    ...settings.providers.flatMap((provider) => {
      const unused = provider.catalog === 'none' && !named.has(provider.id);
      return [
        ...(unused
          ? [`Provider ${provider.id} runs no model: nothing is imported and no model names it.`]
          : []),
        ...(provider.kind.configuration.needsKey && provider.apiKey === null
          ? [`Provider ${provider.id} has no key: its models are listed, but calls will fail.`]
          : []),
      ];
    }),
    ...settings.models.flatMap((model) => checkModel(model, settings)),
  ];
}

function checkModel(model: ModelSettings, settings: CatalogSettings): string[] {
  const warnings: string[] = [];
  if (model.maxOutputTokens !== null && model.maxOutputTokens > model.contextLength) {
    warnings.push(`Model ${model.id} says that it writes more tokens than its context holds.`);
  }
  const running = model.endpoints.filter((endpoint) => {
    const provider = settings.providers.find((each) => each.id === endpoint.providerId);
    return provider !== undefined && !provider.stopped;
  });
  if (running.length === 0) {
    warnings.push(`Model ${model.id} has no endpoint that runs: every provider of it is stopped.`);
  }
  for (const endpoint of model.endpoints) warnings.push(...checkPrices(model.id, endpoint));
  return warnings;
}

function checkPrices(modelId: string, { providerId, prices }: Endpoint): string[] {
  const where = `Model ${modelId} at provider ${providerId}`;
  const warnings: string[] = [];
  if (prices.completion === 0n) warnings.push(`${where} gives answers away: the price of completion is 0.`);
  if (prices.prompt === 0n) warnings.push(`${where} gives prompts away: the price of prompt is 0.`);
  const perToken = { prompt: prices.prompt, completion: prices.completion, cacheRead: prices.cacheRead };
  for (const [name, price] of Object.entries(perToken)) {
    if (price === null || price < PER_TOKEN_SUSPECT) continue;
    warnings.push(
      `${where} takes ${formatAttoUsd(price)} dollars per token of ${name}: is it per million tokens?`,
    );
  }
  if (prices.cacheRead !== null && prices.cacheRead > prices.prompt) {
    warnings.push(`${where} takes more for a cached prompt than for a new one.`);
  }
  return warnings;
}
