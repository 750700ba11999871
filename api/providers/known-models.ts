import type { ModelSettings } from '#core/catalog/catalog-settings.ts';
import type { KnownModel, ProviderKind } from '#core/catalog/provider-kind.ts';
import { attoUsd } from '#core/money.ts';

/** The models of a kind that is configured by its key alone, served by the provider that is called like the kind. */
export const knownModels = ({ name, configuration }: ProviderKind): ModelSettings[] =>
  (configuration.fromKey?.models ?? []).map((model) => toSettings(name, model));

function toSettings(
  kind: string,
  { id, upstreamModel = id, name, tokens, ...model }: KnownModel,
): ModelSettings {
  const [contextLength, maxOutputTokens] = tokens;
  const [prompt, completion, cacheRead, cacheWrite, cacheWrite1h] = model.prices;
  return {
    id: `${kind}/${id}`,
    name,
    contextLength,
    maxOutputTokens,
    inputModalities: model.inputModalities ?? ['text', 'image'],
    endpoints: [
      {
        providerId: kind,
        upstreamModel,
        contextLength: null,
        maxOutputTokens: null,
        prices: {
          prompt: attoUsd(prompt),
          completion: attoUsd(completion),
          request: 0n,
          cacheRead: attoUsd(cacheRead),
          cacheWrite: cacheWrite === undefined ? null : attoUsd(cacheWrite),
          cacheWrite1h: cacheWrite1h === undefined ? null : attoUsd(cacheWrite1h),
          internalReasoning: null,
          image: null,
          webSearch: model.webSearch === undefined ? null : attoUsd(model.webSearch),
          overrides: [],
        },
      },
    ],
  };
}
