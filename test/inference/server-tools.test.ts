import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { runAtOnce } from '#core/steps.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { FORMATS, requestIn } from '../formats/requests.ts';
import { plainHealth } from '../support/plain-health.ts';
import { atto, endpoint, model, noLinkRules, prices, provider, testCatalog } from './support.ts';

const catalog = testCatalog({
  models: [
    model(),
    model({
      id: 'anthropic/claude',
      endpoints: [
        endpoint({ upstreamModel: 'anthropic/claude', prices: prices({ webSearch: atto('0.01') }) }),
      ],
    }),
    model({ id: 'acme/plain', endpoints: [endpoint({ providerId: 'plain' })] }),
    model({
      id: 'acme/claude',
      endpoints: [endpoint({ providerId: 'claude', prices: prices({ webSearch: atto('0.01') }) })],
    }),
    model({
      id: 'acme/searcher',
      endpoints: [endpoint({ upstreamModel: 'acme/searcher', prices: prices({ webSearch: atto('0.01') }) })],
    }),
    model({ id: 'acme/half', endpoints: [endpoint({ providerId: 'half' })] }),
    model({ id: 'acme/unpriced', endpoints: [endpoint({ providerId: 'claude' })] }),
  ],
  providers: [
    provider(),
    provider({ id: 'plain', kind: providerKinds.openai }),
    // Two formats are translated for it.
    provider({ id: 'half', formats: ['messages'] }),
    provider({ id: 'claude', kind: providerKinds.anthropic, formats: ['messages'] }),
  ],
});

const admit = (format: FormatName, extra: object, modelId = 'acme/small') =>
  admitText(format, JSON.stringify(requestIn(format, modelId, extra)));

const admitText = (format: FormatName, body: string) =>
  admitCall(callFormats[format], Buffer.from(body), 'active', {
    catalog,
    health: plainHealth(),
    links: noLinkRules,
  });

/** What goes to the provider. */
const sent = (format: FormatName, extra: object, modelId = 'acme/small'): Record<string, unknown> =>
  JSON.parse(sentText(format, JSON.stringify(requestIn(format, modelId, extra))));

function sentText(format: FormatName, body: string): string {
  const admitted = admitText(format, body);
  if (!admitted.ok) throw new Error(`refused: ${admitted.error.code}: ${admitted.error.message}`);
  const { plan } = admitted;
  const [first] = plan.candidates;
  if (first === undefined) throw new Error('no candidate');
  const { translated } = first;
  const asked = translated === null ? plan : { ...plan, body: translated };
  return runAtOnce(first.format.buildBody(asked, first, 7)).toString();
}

function refused(format: FormatName, extra: object, modelId?: string) {
  const admitted = admit(format, extra, modelId);
  if (admitted.ok) throw new Error('admitted');
  const { code, param, message } = admitted.error;
  return { code, param, message };
}

/** The names of what the first provider is not sent. */
function leftOut(format: FormatName, extra: object, modelId: string): readonly string[] | undefined {
  const admitted = admit(format, extra, modelId);
  return admitted.ok ? admitted.plan.candidates[0]?.leftOut : undefined;
}

const own: Readonly<Record<FormatName, object>> = {
  chat: { type: 'function', function: { name: 'f' } },
  responses: { type: 'function', name: 'f' },
  messages: { name: 'f', input_schema: { type: 'object' } },
};
const auto: Readonly<Record<FormatName, unknown>> = {
  chat: 'auto',
  responses: 'auto',
  messages: { type: 'auto' },
};
const functionChoice: Readonly<Record<FormatName, object>> = {
  chat: { type: 'function', function: { name: 'f' } },
  responses: { type: 'function', name: 'f' },
  messages: { type: 'tool', name: 'f' },
};
const forced: Readonly<Record<FormatName, unknown>> = {
  chat: 'required',
  responses: 'required',
  messages: { type: 'any' },
};

const search = (parameters: object = {}) => ({ type: 'openrouter:web_search', parameters });
const steps = (count: number) => [{ type: 'step_count_is', step_count: count }];

describe.each(FORMATS)('a web search on %s', (format) => {
  it('has bounds where the caller set none, in its own place', () => {
    const f = { type: 'function', name: 'f', function: { name: 'f' } };
    const own = format === 'messages' ? { name: 'f', input_schema: {} } : f;
    const body = sent(format, { tools: [own, search({ allowed_domains: ['example.com'] }), own] });
    expect(body.tools).toEqual([
      own,
      search({
        allowed_domains: ['example.com'],
        engine: 'exa',
        max_results: 5,
        max_uses: 5,
        max_characters: 1_000,
      }),
      own,
    ]);
    expect(body).toMatchObject({ stop_server_tools_when: steps(5), max_tool_calls: 5 });
  });

  it('keeps the bounds that the caller set, none above the highest', () => {
    const bounds = { engine: 'parallel', mode: 'fast', max_results: 7, max_uses: 3, max_characters: 400 };
    expect(sent(format, { tools: [search(bounds)] })).toMatchObject({
      tools: [search(bounds)],
      stop_server_tools_when: steps(3),
      max_tool_calls: 3,
    });
    const most = sent(format, {
      tools: [search({ max_uses: 99, max_results: 99, max_characters: 1e9 })],
      max_tool_calls: 99,
    });
    expect(most).toMatchObject({
      tools: [search({ engine: 'exa', max_uses: 30, max_results: 25, max_characters: 30_000 })],
      max_tool_calls: 30,
    });
  });

  it('runs in no more steps than the call may have', () => {
    const body = sent(format, { tools: [search({ max_uses: 9 }), search()], max_tool_calls: 2 });
    const bounds = { max_uses: 2, engine: 'exa', max_results: 5, max_characters: 1_000 };
    expect(body).toMatchObject({ tools: [search(bounds), search(bounds)], stop_server_tools_when: steps(2) });
  });

  it('may end earlier by conditions of the caller, and never without a number of steps', () => {
    const early = { type: 'has_tool_call', tool_name: 'f' };
    const body = sent(format, {
      tools: [search()],
      stop_server_tools_when: [early, ...steps(3), ...steps(8)],
    });
    expect(body).toMatchObject({ stop_server_tools_when: [early, ...steps(3)], max_tool_calls: 3 });
    expect(refused(format, { tools: [search()], stop_server_tools_when: [early] })).toEqual({
      code: 'tool_not_served',
      param: 'stop_server_tools_when',
      message: expect.stringContaining('without a step limit'),
    });
  });

  it('by its short names has its bounds beside its type', () => {
    for (const type of ['web_search', 'web_search_preview', 'web_search_2025_08_26']) {
      const body = sent(format, { tools: [{ type, search_context_size: 'low' }] });
      const bounds = { engine: 'exa', max_results: 5, max_uses: 5 };
      expect(body.tools).toEqual([{ type, search_context_size: 'low', ...bounds }]);
    }
  });

  it('by a plugin searches once, and by options becomes such a plugin', () => {
    const plugin = { id: 'web', engine: 'exa', max_results: 5, max_uses: 1, max_characters: 1_000 };
    expect(sent(format, { plugins: [{ id: 'web' }] })).toMatchObject({
      plugins: [plugin],
      max_tool_calls: 1,
    });
    const asked = sent(format, { web_search_options: { user_location: { country: 'NO' } } });
    expect(asked.plugins).toEqual([{ ...plugin, user_location: { country: 'NO' } }]);
    expect(asked).not.toHaveProperty('web_search_options');
  });

  it('by a suffix becomes a plugin, once', () => {
    const plugins = [expect.objectContaining({ id: 'web', max_uses: 1 })];
    expect(sent(format, {}, 'acme/small:online')).toMatchObject({ model: 'acme/small', plugins });
    const twice = sent(format, { tools: [search()] }, 'acme/small:online');
    expect(twice).not.toHaveProperty('plugins');
  });

  it.each<[string, object, string]>([
    ['the model’s own engine, which nothing bounds', { engine: 'native' }, 'engine'],
    ['an engine on an account that agents share', { engine: 'firecrawl' }, 'engine'],
    ['an engine that is none', { engine: { exa: 1 } }, 'engine'],
    ['a mode that has no price', { mode: 'ultra' }, 'mode'],
    ['a mode of another engine', { engine: 'perplexity', mode: 'deep' }, 'mode'],
    ['a mode by the name of every object’s', { mode: 'constructor' }, 'mode'],
    ['no uses', { max_uses: 0 }, 'max_uses'],
    ['half a result', { max_results: 0.5 }, 'max_results'],
    ['a text for a number', { max_characters: '9' }, 'max_characters'],
    ['a size that is none', { search_context_size: 'toString' }, 'search_context_size'],
    ['a setting that nobody priced', { deep_research: true }, 'deep_research'],
    ['a model of its own', { model: 'acme/large' }, 'model'],
  ])('is refused by name with %s', (_what, parameters, field) => {
    const asked = refused(format, { tools: [search(parameters)] });
    expect([asked.code, asked.param]).toEqual(['invalid_request', `tools[0].parameters.${field}`]);
    const short = refused(format, { tools: [{ type: 'web_search', ...parameters }] });
    expect([short.code, short.param]).toEqual(['invalid_request', `tools[0].${field}`]);
    const { param } = refused(format, { plugins: [{ id: 'web', ...parameters }] });
    expect(param).toBe(`plugins[0].${field}`);
  });

  it.each<[string, object, string]>([
    ['by the short name', { type: 'web_search' }, 'tools'],
    ['by a plugin', { id: 'web' }, 'plugins'],
  ])('%s takes no setting from a place where nobody looks for it', (_how, entry, list) => {
    for (const [key, value] of Object.entries({
      parameters: { engine: 'native', max_uses: 1_000 },
      filters: { engine: 'native' },
      allowed_callers: ['code_execution_20260120'],
      response_inclusion: 'full',
    })) {
      const { code, param } = refused(format, { [list]: [{ ...entry, [key]: value }] });
      expect([code, param?.startsWith(`${list}[0].${key}`)]).toEqual(['invalid_request', true]);
    }
  });

  it('may be kept to domains by its filters', () => {
    const filters = { allowed_domains: ['example.com'] };
    const [tool] = sent(format, { tools: [{ type: 'web_search', filters }] }).tools as object[];
    expect(tool).toMatchObject({ filters, engine: 'exa', max_uses: 5 });
  });

  it.each([true, 'high', [], 5])('is not switched on by options that are no object: %j', (options) => {
    expect(refused(format, { web_search_options: options })).toMatchObject({
      code: 'invalid_request',
      param: 'web_search_options',
    });
  });

  it('has room in its hold for the words that stand before what each search finds', () => {
    const words = 'x'.repeat(10_000);
    const plain = admit(format, { plugins: [{ id: 'web', max_uses: 4 }] });
    const worded = admit(format, { plugins: [{ id: 'web', max_uses: 4, search_prompt: words }] });
    const found = (each: typeof plain) =>
      each.ok && each.plan.candidates[0]?.serverTools?.tools[0]?.resultTokensMax;
    expect(Number(found(worded)) - Number(found(plain))).toBe(4 * 10_000);
    expect(refused(format, { plugins: [{ id: 'web', search_prompt: { a: 1 } }] }).param).toBe(
      'plugins[0].search_prompt',
    );
  });

  it('leaves the numbers of tools beside it as they were written', () => {
    const schema = '{"minimum":-0,"maximum":12345678901234567890,"multipleOf":1.0}';
    const own =
      format === 'messages'
        ? `{"name":"f","input_schema":${schema}}`
        : `{"type":"function","name":"f","function":{"name":"f","parameters":${schema}},"parameters":${schema}}`;
    const extra = { tools: ['OWN', search()], plugins: [{ id: 'web' }] };
    const body = JSON.stringify(requestIn(format, 'acme/small', extra)).replace('"OWN"', own);
    expect(sentText(format, body)).toContain(own);
  });

  it('runs in no more than the most steps that a call may have', () => {
    const tools = [{ type: 'openrouter:web_fetch', parameters: { max_uses: 30 } }];
    expect(sent(format, { tools }, 'acme/small:online')).toMatchObject({ max_tool_calls: 30 });
  });

  it('is refused where a call may have no step', () => {
    expect(refused(format, { tools: [search()], max_tool_calls: 0 })).toMatchObject({
      code: 'invalid_request',
      param: 'max_tool_calls',
    });
  });

  it('is left out by its name where it is merely offered, and no provider of the model runs it', () => {
    for (const choice of [undefined, null, auto[format], functionChoice[format]]) {
      const extra = { tools: [search(), own[format]], tool_choice: choice };
      expect(sent(format, extra, 'acme/plain').tools).toEqual([own[format]]);
      expect(leftOut(format, extra, 'acme/plain')).toEqual(['tools[0]']);
    }
    const alone = sent(format, { tools: [search()], tool_choice: auto[format] }, 'acme/plain');
    for (const member of ['tools', 'tool_choice']) expect(alone).not.toHaveProperty(member);
  });

  it.each([{ brand_new: 1 }, { max_uses: 'many' }, { max_results: [5] }, { engine: 'of_next_year' }])(
    'fails no call of a model that does not run it by its settings, where it is merely offered: %j',
    (settings) => {
      const odd = { type: 'openrouter:web_search', ...settings };
      const extra = { tools: [odd, own[format]] };
      expect(sent(format, extra, 'acme/plain').tools).toEqual([own[format]]);
      expect(leftOut(format, extra, 'acme/plain')).toEqual(['tools[0]']);
      const [name = ''] = Object.keys(settings);
      expect(refused(format, extra)).toMatchObject({ code: 'invalid_request', param: `tools[0].${name}` });
      const demand = { ...extra, tool_choice: forced[format] };
      expect(refused(format, demand, 'acme/plain')).toMatchObject({
        code: 'tool_not_served',
        param: 'tools[0]',
      });
    },
  );

  it('is refused with the tool’s name where it is asked for, and no provider of the model runs it', () => {
    for (const demand of [{ tool_choice: forced[format] }, { provider: { require_parameters: true } }]) {
      expect(refused(format, { tools: [search(), own[format]], ...demand }, 'acme/plain')).toEqual({
        code: 'tool_not_served',
        param: 'tools[0]',
        message: expect.stringContaining('`openrouter:web_search`'),
      });
    }
    expect(refused(format, {}, 'acme/plain:online')).toMatchObject({
      code: 'tool_not_served',
      param: 'model',
    });
    expect(refused(format, { plugins: [{ id: 'web' }] }, 'acme/plain').param).toBe('plugins[0]');
  });

  if (format !== 'messages') {
    it('is refused where the call is translated, by whatever door it is asked for', () => {
      const asked = { tools: [search()], tool_choice: forced[format] };
      for (const extra of [asked, { plugins: [{ id: 'web' }] }, { web_search_options: {} }])
        expect(refused(format, extra, 'acme/half').code).toBe('tool_not_served');
      const offered = { tools: [search(), own[format]] };
      expect(sent(format, offered, 'acme/half').tools).toMatchObject([{ name: 'f' }]);
      expect(leftOut(format, offered, 'acme/half')).toEqual(['tools[0]']);
      expect(refused(format, {}, 'acme/half:online').code).toBe('tool_not_served');
    });
  }

  it('counts as none where its plugin is switched off', () => {
    const off = { id: 'web', enabled: false, max_uses: 9 };
    const body = sent(format, { plugins: [off] });
    expect(body.plugins).toEqual([off]);
    expect(body).not.toHaveProperty('stop_server_tools_when');
  });

  it('by a plugin has no more uses than any may have', () => {
    expect(sent(format, { plugins: [{ id: 'web', max_uses: 99 }] }).plugins).toEqual([
      expect.objectContaining({ max_uses: 30 }),
    ]);
  });

  it('ends by no number of steps that is not there', () => {
    for (const step_count of [undefined, null, 0, '3', 2.5]) {
      const stops = [{ type: 'step_count_is', step_count }];
      expect(refused(format, { tools: [search()], stop_server_tools_when: stops })).toMatchObject({
        code: 'invalid_request',
        param: 'stop_server_tools_when',
      });
    }
  });

  it('leaves fallbacks that cannot run it untried, where it is asked for', () => {
    const extra = { tools: [search()], models: ['acme/plain'], tool_choice: forced[format] };
    const admitted = admit(format, extra);
    expect(admitted.ok && admitted.plan.candidates.map((each) => each.model.id)).toEqual(['acme/small']);
  });
});

describe.each(FORMATS)('a web fetch on %s', (format) => {
  it('has bounds where the caller set none', () => {
    const bounds = { engine: 'openrouter', max_uses: 5, max_content_tokens: 10_000 };
    expect(sent(format, { tools: [{ type: 'openrouter:web_fetch' }] }).tools).toEqual([
      { type: 'openrouter:web_fetch', parameters: bounds },
    ]);
    expect(sent(format, { plugins: [{ id: 'web-fetch' }] }).plugins).toEqual([
      { id: 'web-fetch', ...bounds, max_uses: 1 },
    ]);
  });

  it('is refused by name with an engine that nothing bounds', () => {
    const tool = { type: 'openrouter:web_fetch', parameters: { engine: 'native' } };
    expect(refused(format, { tools: [tool] })).toMatchObject({ param: 'tools[0].parameters.engine' });
  });
});

describe('the tools of Anthropic’s own', () => {
  const own = { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['example.com'] };
  const late = { type: 'web_fetch_20260309', name: 'web_fetch', max_content_tokens: 500 };

  it('are run by its models as they are, with bounds, and called by no program', () => {
    for (const id of ['anthropic/claude', 'acme/claude']) {
      expect(sent('messages', { tools: [own, late] }, id).tools).toEqual([
        { ...own, max_uses: 5 },
        { ...late, max_uses: 5, allowed_callers: ['direct'] },
      ]);
    }
  });

  it('are run by the router for any other model, in the router’s words', () => {
    expect(sent('messages', { tools: [{ ...own, blocked_domains: ['x.com'], max_uses: 2 }] }).tools).toEqual([
      search({
        allowed_domains: ['example.com'],
        excluded_domains: ['x.com'],
        engine: 'exa',
        max_results: 5,
        max_uses: 2,
        max_characters: 1_000,
      }),
    ]);
  });

  it('stand for a search in any other words where a provider knows no others', () => {
    const tools = [search({ allowed_domains: ['a.com'], max_uses: 2 }), { name: 'f', input_schema: {} }];
    expect(sent('messages', { tools }, 'acme/claude').tools).toEqual([
      { name: 'f', input_schema: {} },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 2, allowed_domains: ['a.com'] },
    ]);
    const demand = { tool_choice: { type: 'any' } };
    const engine = { tools: [search({ engine: 'exa' })], ...demand };
    expect(refused('messages', engine, 'acme/claude')).toMatchObject({ code: 'tool_not_served' });
    const clock = { tools: [{ type: 'openrouter:datetime' }], ...demand };
    expect(refused('messages', clock, 'acme/claude').code).toBe('tool_not_served');
  });

  it.each<[FormatName, object, string]>([
    [
      'chat',
      { web_search_options: { user_location: { type: 'approximate', approximate: { country: 'NO' } } } },
      'acme/claude',
    ],
    [
      'responses',
      { tools: [{ type: 'web_search', user_location: { country: 'NO' } }], max_tool_calls: 1 },
      'acme/claude',
    ],
    ['chat', { plugins: [{ id: 'web', user_location: { country: 'NO' } }] }, 'acme/claude'],
  ])('stand for it when the call is translated, too: %s', (format, extra, id) => {
    const body = sent(format, extra, id);
    expect(body.tools).toEqual([
      {
        type: 'web_search_20250305',
        name: 'web_search',
        max_uses: 1,
        user_location: { type: 'approximate', country: 'NO' },
      },
    ]);
    for (const key of ['plugins', 'web_search_options', 'max_tool_calls', 'stop_server_tools_when'])
      expect(body).not.toHaveProperty(key);
  });

  it('stand beside functions that were translated', () => {
    const f = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
    const { tools } = sent('chat', { tools: [search(), f, search({ max_uses: 1 })] }, 'acme/claude');
    expect(tools).toMatchObject([
      { name: 'f' },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 6 },
    ]);
  });

  it.each([
    { engine: 'exa' },
    { mode: 'deep-reasoning' },
    { max_results: 25 },
    { search_context_size: 'high' },
    { parameters: { engine: 'exa' } },
    { filters: { engine: 'exa' } },
  ])('take no words of the router, whose fees are others: %j', (words) => {
    const [word = ''] = Object.keys(words);
    for (const id of ['anthropic/claude', 'acme/claude', 'acme/small']) {
      expect(refused('messages', { tools: [{ ...own, ...words }] }, id)).toMatchObject({
        code: 'invalid_request',
        param: `tools[0].${word}`,
      });
    }
    expect(refused('messages', { tools: [{ ...late, engine: 'exa' }] }, 'acme/claude').param).toBe(
      'tools[0].engine',
    );
  });

  it('are run by no other author’s model, though its searches have a price', () => {
    expect(sent('messages', { tools: [{ ...own, max_uses: 1 }] }, 'acme/searcher').tools).toEqual([
      expect.objectContaining({ type: 'openrouter:web_search' }),
    ]);
  });

  it('are refused at any other server that speaks the format, where the choice names them', () => {
    const named = { tools: [late], tool_choice: { type: 'tool', name: 'web_fetch' } };
    expect(refused('messages', named, 'acme/plain').code).toBe('tool_not_served');
    expect(leftOut('messages', { tools: [late] }, 'acme/plain')).toEqual(['tools[0]']);
  });

  it('are refused where a search has no price', () => {
    const named = { tools: [own], tool_choice: { type: 'tool', name: 'web_search' } };
    expect(refused('messages', named, 'acme/unpriced')).toMatchObject({
      code: 'tool_not_served',
      message: expect.stringContaining('`web_search_20250305`'),
    });
  });

  it('are refused where a program may call them', () => {
    const tool = { ...late, allowed_callers: ['direct', 'code_execution_20260120'] };
    expect(refused('messages', { tools: [tool] }, 'acme/claude')).toMatchObject({
      code: 'tool_not_served',
      param: 'tools[0].allowed_callers',
    });
  });
});

describe('a search with settings that only OpenAI’s has', () => {
  const settings = {
    search_content_types: ['text', 'image'],
    image_settings: { max_results: 8 },
    indexed_web_access: true,
    return_token_budget: 'unlimited',
  };
  const tool = { type: 'web_search', external_web_access: true, ...settings };
  const names = Object.keys(settings).map((name) => `tools[0].${name}`);

  it.each(['acme/small', 'acme/claude'])('is run without them, and they are named: %s', (id) => {
    const [entry] = sent('responses', { tools: [tool] }, id).tools as object[];
    for (const name of Object.keys(settings)) expect(entry).not.toHaveProperty(name);
    expect(entry).toHaveProperty('max_uses');
    expect(leftOut('responses', { tools: [tool] }, id)).toEqual(names);
    const chosen = { tools: [tool], tool_choice: { type: 'web_search' } };
    expect(leftOut('responses', chosen, 'acme/small')).toEqual(names);
  });

  it('is held for as the same search without them', () => {
    const held = (given: object) => {
      const admitted = admit('responses', { tools: [given] });
      return admitted.ok && admitted.plan.candidates[0]?.serverTools?.tools.map(({ bounds }) => bounds);
    };
    expect(held(tool)).toEqual(held({ type: 'web_search' }));
  });

  it('is left out as a whole where nobody searches', () => {
    expect(leftOut('responses', { tools: [tool] }, 'acme/plain')).toEqual(['tools[0]']);
  });

  it('is refused where every field must be heeded', () => {
    const all = { tools: [tool], provider: { require_parameters: true } };
    expect(refused('responses', all)).toMatchObject({ code: 'no_provider', param: names[0] });
  });
});

describe('a choice of tool', () => {
  it.each<[FormatName, (tools: object[]) => object]>([
    ['responses', (tools) => ({ type: 'allowed_tools', mode: 'auto', tools })],
    ['chat', (tools) => ({ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } })],
  ])('allows no search that nobody runs: %s', (format, allowing) => {
    const tools = [own[format], { type: 'web_search' }];
    const asked = { tools, tool_choice: allowing([functionChoice[format], { type: 'web_search' }]) };
    const body = sent(format, asked, 'acme/plain');
    expect(body.tools).toEqual([own[format]]);
    expect(body.tool_choice).toEqual(allowing([functionChoice[format]]));
    const alone = { tools, tool_choice: allowing([{ type: 'web_search' }]) };
    expect(sent(format, alone, 'acme/plain').tool_choice).toBe('none');
    expect(leftOut(format, asked, 'acme/plain')).toEqual(['tools[1]']);
  });

  it('may name a search that stands in the list, and none that does not', () => {
    const choice = { type: 'web_search' };
    expect(sent('responses', { tools: [{ type: 'web_search' }], tool_choice: choice }).tool_choice).toEqual(
      choice,
    );
    expect(refused('responses', { tool_choice: choice })).toMatchObject({
      code: 'tool_not_served',
      param: 'tool_choice',
    });
  });
});

describe('what tools found in an earlier answer', () => {
  const use = (name: string) => ({ type: 'server_tool_use', id: 'srvtoolu_1', name, input: { query: 'x' } });
  const found = {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [
      { type: 'web_search_result', url: 'https://example.com', title: 't', encrypted_content: 'AAAA' },
    ],
  };
  const fetched = (source: object) => ({
    type: 'web_fetch_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: { type: 'web_fetch_result', url: 'https://example.com', content: { type: 'document', source } },
  });
  const answer = (...content: object[]) => ({
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content },
      { role: 'user', content: 'and then?' },
    ],
  });

  it('comes back in the next call of a conversation', () => {
    const failed = { ...found, content: { type: 'web_search_tool_result_error', error_code: 'unavailable' } };
    const text = { type: 'text', media_type: 'text/plain', data: 'x' };
    const blocks = [use('web_search'), found, failed, use('web_fetch'), fetched(text)];
    expect(sent('messages', answer(...blocks))).toMatchObject(answer(...blocks));
    const items = [
      { role: 'user', content: 'x' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
      { type: 'openrouter:web_search', id: 'st_1', status: 'completed' },
      { type: 'openrouter:web_fetch', id: 'st_2', status: 'completed' },
      { type: 'openrouter:datetime', id: 'st_3', status: 'completed' },
      { role: 'user', content: 'and then?' },
    ];
    expect(sent('responses', { input: items }).input).toEqual(items);
  });

  it('fills the context where its pages cannot be counted', () => {
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'AAAA' };
    const admitted = admit('messages', answer(use('web_fetch'), fetched(pdf)));
    expect(admitted.ok && admitted.plan.promptTokensMax).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each<[string, object]>([
    ['a stored file', fetched({ type: 'file', file_id: 'file_1' })],
    ['a link into the dark', fetched({ type: 'url', url: 'http://10.0.0.1/' })],
    [
      'what no search finds',
      { ...found, content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] },
    ],
    ['a program', use('code_execution')],
    ['what a program left', { type: 'code_execution_tool_result', tool_use_id: 'x', content: {} }],
  ])('brings nothing else in: %s', (_what, block) => {
    expect(refused('messages', answer(block))).toMatchObject({
      code: 'invalid_request',
      param: expect.stringContaining('messages[1].content[0]'),
    });
  });
});
