import { describe, expect, it } from 'vitest';
import type { FormatName, Prices } from '#core/catalog/catalog.ts';
import { formatUsd } from '#core/money.ts';
import { runAtOnce } from '#core/steps.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { estimateHold } from '../../api/inference/price/estimate.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { requestIn } from '../formats/requests.ts';
import { plainHealth } from '../support/plain-health.ts';
import { atto, endpoint, model, noLinkRules, prices, provider, testCatalog } from './support.ts';

/*
 * What a hold has in it for tools that a provider runs, part by part: all other prices are nothing, and the context holds
 * whatever is found.
 */

const NOTHING: Partial<Prices> = { prompt: 0n, completion: 0n };
const NANO = 1_000_000_000n;
const OUTPUT_TOKENS = 100;
const CONTEXT_TOKENS = 100_000_000;

interface Asked {
  extra: object;
  priced?: Partial<Prices>;
  format?: FormatName;
  /** Of the model's maker. */
  author?: 'acme' | 'anthropic';
  kind?: 'openrouter' | 'anthropic';
  factorPpm?: bigint;
}

function planOf({ extra, priced, format = 'chat', author = 'acme', ...asked }: Asked) {
  const { kind = 'openrouter', factorPpm = 1_000_000n } = asked;
  const upstreamModel = `${author}/searcher`;
  const catalog = testCatalog({
    models: [
      model({
        id: upstreamModel,
        contextLength: CONTEXT_TOKENS,
        endpoints: [endpoint({ upstreamModel, prices: prices({ ...NOTHING, ...priced }) })],
      }),
    ],
    providers: [provider({ kind: providerKinds[kind], priceFactorPpm: factorPpm })],
  });
  const cap = format === 'responses' ? 'max_output_tokens' : 'max_tokens';
  const body = JSON.stringify(requestIn(format, upstreamModel, { [cap]: OUTPUT_TOKENS, ...extra }));
  const routes = { catalog, health: plainHealth(), links: noLinkRules };
  const admitted = admitCall(callFormats[format], Buffer.from(body), 'active', routes);
  if (!admitted.ok) throw new Error(`refused: ${admitted.error.message}`);
  return admitted.plan;
}

const heldUsd = (asked: Asked): string => formatUsd(estimateHold(planOf(asked)));

const tools = (type: string, parameters: object) => ({ tools: [{ type, parameters }] });
const search = (parameters: object) => tools('openrouter:web_search', parameters);
const fetching = (parameters: object) => tools('openrouter:web_fetch', parameters);
const own = (more: object) => ({ tools: [{ type: 'web_search_20250305', name: 'web_search', ...more }] });

describe('the fees of tools', () => {
  it.each<[string, object, string]>([
    ['each search', search({ max_uses: 3 }), '0.021'],
    ['each search by default', search({}), '0.035'],
    ['each search of a dearer mode', search({ max_uses: 3, mode: 'deep-reasoning' }), '0.045'],
    ['each search of a cheaper engine', search({ max_uses: 3, engine: 'parallel', mode: 'turbo' }), '0.003'],
    ['each result beyond ten', search({ max_uses: 3, max_results: 12 }), '0.027'],
    ['each fetch', fetching({ max_uses: 4 }), '0.004'],
    ['the clock', tools('openrouter:datetime', {}), '0'],
    ['a plugin', { plugins: [{ id: 'web' }] }, '0.007'],
    ['a plugin that stands there twice', { plugins: [{ id: 'web' }, { id: 'web', max_uses: 2 }] }, '0.021'],
    ['a plugin that is switched off', { plugins: [{ id: 'web', enabled: false }] }, '0'],
    ['options', { web_search_options: {} }, '0.007'],
    ['a search and a plugin', { ...search({ max_uses: 1 }), plugins: [{ id: 'web-fetch' }] }, '0.008'],
    ['each answer', { ...search({ max_uses: 3 }), n: 2 }, '0.042'],
  ])('are held for %s', (_what, extra, usd) => {
    expect(heldUsd({ extra })).toBe(usd);
  });

  it('have the operator’s margin in them', () => {
    expect(heldUsd({ extra: search({ max_uses: 3 }), factorPpm: 1_100_000n })).toBe('0.0231');
  });

  it('of a model’s own search are those of its price list, and its own fetch costs tokens alone', () => {
    const webSearch = atto('0.01');
    const asked = { format: 'messages', kind: 'anthropic', priced: { webSearch } } as const;
    expect(heldUsd({ ...asked, extra: own({ max_uses: 3 }) })).toBe('0.03');
    const fetch = { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] };
    expect(heldUsd({ ...asked, extra: fetch })).toBe('0');
  });

  it('a request are held for each turn', () => {
    const priced = { request: atto('1') };
    expect(heldUsd({ extra: search({ max_uses: 3 }), priced })).toBe('4.021');
    expect(heldUsd({ extra: { ...search({ max_uses: 3 }), max_tool_calls: 2 }, priced })).toBe('3.014');
  });
});

describe('the tokens of tools', () => {
  const promptOf = (asked: Asked): bigint => BigInt(planOf(asked).promptTokensMax);
  const heldTokens = (asked: Asked): bigint => {
    const fees = estimateHold(planOf(asked));
    const priced = { prompt: atto('0.000000001') };
    return estimateHold(planOf({ ...asked, priced: { ...asked.priced, ...priced } })) - fees;
  };

  /** What the provider tells the model of each tool, and what stands around each result. */
  const TOOL = 2_000n;
  const FRAME = 512n;

  it.each<[string, object, { turns: bigint; tools: bigint; found: bigint }]>([
    ['a search', search({ max_uses: 2 }), { turns: 2n, tools: 1n, found: 2n * 5n * (4_000n + FRAME) }],
    [
      'more text of fewer results',
      search({ max_uses: 1, max_results: 2, max_characters: 3_000 }),
      { turns: 1n, tools: 1n, found: 2n * (12_000n + FRAME) },
    ],
    [
      'the larger of two sizes',
      search({ max_uses: 1, max_results: 1, search_context_size: 'low', max_characters: 6_000 }),
      { turns: 1n, tools: 1n, found: 24_000n + FRAME },
    ],
    [
      'a size that is larger than its characters',
      search({ max_uses: 1, max_results: 1, search_context_size: 'high', max_characters: 60 }),
      { turns: 1n, tools: 1n, found: 120_000n + FRAME },
    ],
    [
      'a fetch',
      fetching({ max_uses: 3, max_content_tokens: 700 }),
      { turns: 3n, tools: 1n, found: 3n * (700n + FRAME) },
    ],
    ['the clock', tools('openrouter:datetime', { max_uses: 2 }), { turns: 2n, tools: 1n, found: 2n * 256n }],
    [
      'two tools in few steps',
      { tools: [...search({}).tools, ...fetching({ max_content_tokens: 700 }).tools], max_tool_calls: 1 },
      { turns: 1n, tools: 2n, found: 5n * (4_000n + FRAME) + 700n + FRAME },
    ],
  ])(
    '%s: the prompt is read again after each step, with all that was found and written',
    (_what, extra, of) => {
      const prompt = promptOf({ extra }) + of.tools * TOOL;
      const again = prompt + of.found + of.turns * BigInt(OUTPUT_TOKENS);
      expect(heldTokens({ extra })).toBe(prompt + of.turns * again);
    },
  );

  it('of a model’s own search may fill the context', () => {
    const asked = { format: 'messages', kind: 'anthropic', extra: own({ max_uses: 2 }) } as const;
    const priced = { webSearch: 0n };
    const prompt = promptOf({ ...asked, priced }) + TOOL;
    expect(heldTokens({ ...asked, priced })).toBe(prompt + 2n * BigInt(CONTEXT_TOKENS));
  });

  it('that the model writes are held for each turn', () => {
    const priced = { completion: atto('0.000000001') };
    const fees = estimateHold(planOf({ extra: search({ max_uses: 3 }) }));
    const held = estimateHold(planOf({ extra: search({ max_uses: 3 }), priced }));
    expect(held - fees).toBe(4n * BigInt(OUTPUT_TOKENS));
  });

  it.each<[string, object, number]>([
    ['what is found', search({ max_uses: 1 }), 15_000],
    [
      'what is written',
      { ...search({ max_uses: 1, max_results: 1, max_characters: 1 }), max_tokens: 4_000 },
      6_500,
    ],
  ])('may come to the prices of a longer prompt by %s', (_what, extra, minPromptTokens) => {
    const dear = atto('1');
    const none = { completion: null, cacheRead: null, cacheWrite: null, cacheWrite1h: null };
    const overrides = (least: number) => [{ ...none, minPromptTokens: least, prompt: dear }];
    expect(
      estimateHold(planOf({ extra, priced: { overrides: overrides(minPromptTokens) } })),
    ).toBeGreaterThan(NANO * BigInt(minPromptTokens));
    expect(estimateHold(planOf({ extra, priced: { overrides: overrides(50_000) } }))).toBeLessThan(NANO);
  });
});

describe('tools that a model runs by itself, where nobody counts the steps of all', () => {
  const ownFetch = (more: object = {}) => ({ type: 'web_fetch_20250910', name: 'web_fetch', ...more });
  const ownSearch = (more: object = {}) => ({ type: 'web_search_20250305', name: 'web_search', ...more });
  const at = (extra: object, format: FormatName = 'messages'): Asked => ({
    extra,
    format,
    author: 'anthropic',
    kind: 'anthropic',
    priced: { webSearch: atto('0.01') },
  });

  function sentTools(asked: Asked): { name: string; max_uses: number }[] {
    const plan = planOf(asked);
    const [candidate] = plan.candidates;
    if (candidate === undefined) throw new Error('no candidate');
    const { translated } = candidate;
    const body = translated === null ? plan : { ...plan, body: translated };
    return JSON.parse(runAtOnce(candidate.format.buildBody(body, candidate, 1)).toString()).tools;
  }
  const stepsHeld = (asked: Asked): number | undefined => planOf(asked).candidates[0]?.serverTools?.stepsMax;

  it.each<[string, object]>([
    ['no bound', { tools: [ownSearch(), ownFetch()] }],
    ['a bound of each', { tools: [ownSearch({ max_uses: 1 }), ownFetch({ max_uses: 2 })] }],
    ['a bound of all', { max_tool_calls: 3, tools: [ownSearch(), ownFetch()] }],
    ['a high bound of each', { tools: [ownSearch({ max_uses: 30 }), ownFetch({ max_uses: 30 })] }],
    ['searches in several words', { max_tool_calls: 2, tools: [ownSearch()], plugins: [{ id: 'web' }] }],
  ])('a turn is held for each use that is sent: %s', (_name, extra) => {
    const uses = sentTools(at(extra)).reduce((sum, { max_uses: each }) => sum + each, 0);
    expect(stepsHeld(at(extra))).toBe(uses);
  });

  it('keep to the caller’s bound of all', () => {
    const uses = (extra: object) => sentTools(at(extra)).map(({ max_uses: each }) => each);
    expect(uses({ max_tool_calls: 3, tools: [ownSearch(), ownFetch()] })).toEqual([2, 1]);
    expect(uses({ max_tool_calls: 1, tools: [ownSearch()], plugins: [{ id: 'web' }] })).toEqual([1]);
  });

  it('a search that is asked for at two doors is sent once', () => {
    const names = (extra: object) => sentTools(at(extra)).map(({ name }) => name);
    expect(names({ tools: [ownSearch()], plugins: [{ id: 'web' }] })).toEqual(['web_search']);
    const chat = { tools: [{ type: 'web_search' }], plugins: [{ id: 'web' }], web_search_options: {} };
    const [once, ...more] = sentTools(at({ max_tool_calls: 1, ...chat }, 'chat'));
    expect(more).toEqual([]);
    expect(once).toMatchObject({ name: 'web_search', max_uses: 1 });
  });

  it('of which one is left no step are refused, naming the bound', () => {
    expect(() => planOf(at({ max_tool_calls: 1, tools: [ownSearch(), ownFetch()] }))).toThrow(
      'refused: `max_tool_calls` leaves no step for `web_fetch_20250910`. Raise it, or leave the tool out.',
    );
  });
});
