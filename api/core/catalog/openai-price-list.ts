import { parseAttoUsd } from '../money.ts';
import type { ModelSettings } from './catalog-settings.ts';

/**
 * OpenAI publishes no prices by interface, so these stand in for a first start with nothing but a key. They
 * are as last known to us and change without notice: THE OPERATOR HAS TO CHECK THEM against the vendor's
 * price page, or write models of its own in the configuration, which then replaces this list.
 */
const LAST_KNOWN: readonly Row[] = [
  ['gpt-4o', 'GPT-4o', 128_000, 16_384, '0.0000025', '0.00000125', '0.00001'],
  ['gpt-4o-mini', 'GPT-4o mini', 128_000, 16_384, '0.00000015', '0.000000075', '0.0000006'],
  ['gpt-4.1', 'GPT-4.1', 1_047_576, 32_768, '0.000002', '0.0000005', '0.000008'],
  ['gpt-4.1-mini', 'GPT-4.1 mini', 1_047_576, 32_768, '0.0000004', '0.0000001', '0.0000016'],
  ['gpt-4.1-nano', 'GPT-4.1 nano', 1_047_576, 32_768, '0.0000001', '0.000000025', '0.0000004'],
];

/** Id, name, context, longest answer; dollars per prompt token, per cached prompt token, per answer token. */
type Row = readonly [string, string, number, number, string, string, string];

export function openaiPriceList(providerId: string): ModelSettings[] {
  return LAST_KNOWN.map(([id, name, contextLength, maxOutputTokens, prompt, cacheRead, completion]) => ({
    id: `openai/${id}`,
    name,
    contextLength,
    maxOutputTokens,
    inputModalities: ['text', 'image'],
    endpoints: [
      {
        providerId,
        upstreamModel: id,
        contextLength: null,
        maxOutputTokens: null,
        prices: {
          prompt: price(prompt),
          completion: price(completion),
          request: 0n,
          cacheRead: price(cacheRead),
          cacheWrite: null,
          internalReasoning: null,
          image: null,
          webSearch: null,
          overrides: [],
        },
      },
    ],
  }));
}

function price(text: string): bigint {
  const atto = parseAttoUsd(text);
  if (atto === null) throw new Error('A price of the shipped list is no decimal.');
  return atto;
}
