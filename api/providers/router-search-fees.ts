import { type AttoUsd, attoUsd } from '#core/money.ts';

/**
 * What OpenRouter takes for one search, by engine and mode; no price list of models has it. The first ten results are
 * included. `null`: an engine or mode that is not in the list.
 */
export function searchFee(engine: string, mode: string | null, resultsMax: number): AttoUsd | null {
  const modes = searchEngines.get(engine);
  const fee = mode === null ? modes?.usual : modes?.fees.get(mode);
  if (fee === undefined) return null;
  return fee + BigInt(Math.max(0, resultsMax - RESULTS_INCLUDED)) * EXTRA_RESULT;
}

export const searchModes = (engine: string): string[] => [...(searchEngines.get(engine)?.fees.keys() ?? [])];

/** Other engines bill the search at the provider's own price, which nothing bounds, or to an account that agents share. */
export const searchEngineNames = ['exa', 'parallel', 'perplexity'];
export const defaultSearchEngine = 'exa';

export const fetchEngineNames = ['openrouter', 'exa', 'parallel'];
export const defaultFetchEngine = 'openrouter';
export const fetchFee = attoUsd('0.001');

interface Modes {
  /** The dearest of those that are taken where the caller names none. */
  usual: AttoUsd;
  fees: ReadonlyMap<string, AttoUsd>;
}

const searchEngines: ReadonlyMap<string, Modes> = new Map([
  [
    'exa',
    {
      usual: attoUsd('0.007'),
      fees: fees({
        instant: '0.007',
        fast: '0.007',
        auto: '0.007',
        'deep-lite': '0.012',
        deep: '0.012',
        'deep-reasoning': '0.015',
      }),
    },
  ],
  [
    'parallel',
    {
      usual: attoUsd('0.005'),
      fees: fees({ turbo: '0.001', fast: '0.001', basic: '0.005', advanced: '0.005' }),
    },
  ],
  ['perplexity', { usual: attoUsd('0.005'), fees: fees({}) }],
]);

const RESULTS_INCLUDED = 10;
const EXTRA_RESULT = attoUsd('0.001');

function fees(byMode: Record<string, string>): ReadonlyMap<string, AttoUsd> {
  return new Map(Object.entries(byMode).map(([mode, text]) => [mode, attoUsd(text)]));
}
