import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Catalog } from '#core/catalog/catalog.ts';
import { runAtOnce } from '#core/steps.ts';
import { buildChatBody } from '../../api/inference/formats/chat-body.ts';
import { memberText, scanJsonObject } from '../../api/inference/json/json-object.ts';
import { type DialectName, dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { jsonText } from './arbitrary-json.ts';
import { atto, bodyWith, endpoint, model, planOf, prices, provider, testCatalog } from './support.ts';

const AGENT = 7;
const plainOf = (dialect: DialectName): Catalog =>
  testCatalog({
    models: [model({ endpoints: [endpoint({ providerId: 'plain', upstreamModel: 'small-2026' })] })],
    providers: [provider({ id: 'plain', kind: providerKinds.openai, dialect: dialects[dialect] })],
  });
const plain = plainOf('other');

/** What goes upstream to the first candidate, as text. */
function sent(body: string, catalog: Catalog = testCatalog(), agentId = AGENT): string {
  const plan = planOf(body, catalog);
  const [first] = plan.candidates;
  if (first === undefined) throw new Error('no candidate');
  return runAtOnce(buildChatBody(plan, first, agentId)).toString();
}

const parsed = (body: string, catalog?: Catalog, agentId?: number) =>
  JSON.parse(sent(body, catalog, agentId));
/** One member as it goes upstream, byte for byte. */
const member = (field: string, body: string, catalog?: Catalog) => {
  const object = scanJsonObject(Buffer.from(sent(body, catalog)));
  if (typeof object === 'string') throw new Error(object);
  return memberText(object, field);
};

describe('what goes upstream', () => {
  it('is what was sent, byte for byte, but for what the gateway decides', () => {
    const body =
      '{"model":"acme/small", "messages" : [ {"role":"user","content":"\\u00e9 \\ud83d\\ude87 é"} ],' +
      '"max_tokens":1e2,"seed": 12345678901234567890 ,"temperature":1.0,"x":{"y":[1.50,-0,1E5]},"stop":"\\u0022"}';
    expect(sent(body)).toBe(
      '{"model":"acme/small","messages" : [ {"role":"user","content":"\\u00e9 \\ud83d\\ude87 é"} ],' +
        '"max_tokens":1e2,"seed": 12345678901234567890 ,"temperature":1.0,"x":{"y":[1.50,-0,1E5]},"stop":"\\u0022",' +
        `"user":"${parsed(body).user}","provider":{"max_price":{"prompt":1,"completion":4,"request":0}}}`,
    );
  });

  it('keeps any other field, whatever it holds', () => {
    fc.assert(
      fc.property(jsonText, (value) => {
        expect(member('x', bodyWith(`"x":${value}`))).toBe(value);
        expect(member('x', bodyWith(`"x":${value}`), plain)).toBe(value);
      }),
      { numRuns: 300 },
    );
  });

  it('never holds what routes, repeats or prices in the caller’s name', () => {
    const upstream = parsed(
      bodyWith(
        '"models":["acme/small"]',
        '"route":"fallback"',
        '"usage":{"include":true}',
        '"trace":{"a":1}',
      ),
    );
    for (const field of ['models', 'route', 'usage', 'trace']) expect(upstream).not.toHaveProperty(field);
  });

  it.each(['[]', '[ ]', '[\n]'])('leaves out a tool list that is empty: %j', (tools) => {
    expect(parsed(bodyWith(`"tools":${tools}`))).not.toHaveProperty('tools');
    const tool = { type: 'function', function: { name: 'f' } };
    expect(parsed(bodyWith(`"tools":[${JSON.stringify(tool)}]`)).tools).toEqual([tool]);
  });
});

describe('the cap on the answer', () => {
  it.each<[string, string[], Record<string, unknown>]>([
    ['none: the model’s own', [], { max_tokens: 4_096 }],
    ['null: the model’s own', ['"max_tokens":null'], { max_tokens: 4_096 }],
    ['null twice', ['"max_tokens":null', '"max_completion_tokens":null'], { max_tokens: 4_096 }],
    ['one that fits passes', ['"max_tokens":5'], { max_tokens: 5 }],
    ['one that is too large is cut', ['"max_tokens":5000'], { max_tokens: 4_096 }],
    ['the newer name is kept', ['"max_completion_tokens":5'], { max_completion_tokens: 5 }],
    ['the newer name is cut', ['"max_completion_tokens":2147483647'], { max_completion_tokens: 4_096 }],
    [
      'each of two is cut by itself',
      ['"max_tokens":5', '"max_completion_tokens":9999'],
      { max_tokens: 5, max_completion_tokens: 4_096 },
    ],
    ['beside a null', ['"max_tokens":null', '"max_completion_tokens":6'], { max_completion_tokens: 6 }],
  ])('%s', (_what, members, expected) => {
    const { max_tokens, max_completion_tokens } = parsed(bodyWith(...members));
    expect(JSON.parse(JSON.stringify({ max_tokens, max_completion_tokens }))).toEqual(expected);
  });

  it.each<['other' | 'openai', string[], Record<string, unknown>]>([
    ['other', [], { max_tokens: 4_096 }],
    ['other', ['"max_completion_tokens":5'], { max_tokens: 5 }],
    ['other', ['"max_completion_tokens":5000'], { max_tokens: 4_096 }],
    ['other', ['"max_tokens":1e2'], { max_tokens: 100 }],
    ['other', ['"max_tokens":null', '"max_completion_tokens":6'], { max_tokens: 6 }],
    ['other', ['"max_tokens":9999', '"max_completion_tokens":7'], { max_tokens: 7 }],
    ['openai', [], { max_completion_tokens: 4_096 }],
    ['openai', ['"max_tokens":5'], { max_completion_tokens: 5 }],
    ['openai', ['"max_tokens":5', '"max_completion_tokens":9'], { max_completion_tokens: 5 }],
  ])('has the one name that a plain server heeds: %s, %j', (dialect, members, expected) => {
    const { max_tokens, max_completion_tokens } = parsed(bodyWith(...members), plainOf(dialect));
    expect(JSON.parse(JSON.stringify({ max_tokens, max_completion_tokens }))).toEqual(expected);
  });

  it('is the endpoint’s where that is smaller, and none where nobody knows one', () => {
    const small = testCatalog({ models: [model({ endpoints: [endpoint({ maxOutputTokens: 9 })] })] });
    expect(parsed(bodyWith('"max_tokens":10'), small).max_tokens).toBe(9);
    const unknown = testCatalog({ models: [model({ maxOutputTokens: null })] });
    expect(parsed(bodyWith(), unknown)).not.toHaveProperty('max_tokens');
    expect(parsed(bodyWith('"max_tokens":999999'), unknown).max_tokens).toBe(32_768);
  });

  it('leaves room for the prompt, because servers refuse a cap that does not fit beside it', () => {
    const tight = testCatalog({ models: [model({ contextLength: 8_192, maxOutputTokens: 8_192 })] });
    const withPrompt = (letters: number) =>
      parsed(`{"model":"acme/small","messages":[{"role":"user","content":"${'a'.repeat(letters)}"}]}`, tight)
        .max_tokens;
    expect(withPrompt(100)).toBeGreaterThan(7_000);
    expect(withPrompt(100) + 100).toBeLessThan(8_192);
    // 16,000 letters may be 16,000 tokens, but are likely 4,000: half of what is then free.
    expect(withPrompt(16_000)).toBeGreaterThan(1_900);
    expect(withPrompt(16_000)).toBeLessThan(2_100);
    expect(withPrompt(100_000)).toBe(1);
    expect(parsed(bodyWith('"max_tokens":8192'), tight).max_tokens).toBe(8_192);
  });
});

describe('streams', () => {
  it.each<[string, string[], unknown]>([
    ['always ask for usage', ['"stream":true'], { include_usage: true }],
    [
      'even when the caller said no',
      ['"stream":true', '"stream_options":{"include_usage":false}'],
      { include_usage: true },
    ],
    ['even when the caller said null', ['"stream":true', '"stream_options":null'], { include_usage: true }],
    [
      'keeping what else was asked',
      ['"stream":true', '"stream_options":{"include_obfuscation":false}'],
      { include_obfuscation: false, include_usage: true },
    ],
    ['and nothing where no stream is', ['"stream_options":{"include_usage":true}'], undefined],
    ['nor where it was said not to be one', ['"stream":false', '"stream_options":{}'], undefined],
  ])('%s', (_what, members, expected) => {
    expect(parsed(bodyWith(...members)).stream_options).toEqual(expected);
  });
});

describe('tags that all agents of the operator would share', () => {
  const hostile = [
    '"a"',
    '"\\"},\\"model\\":\\"x"',
    '"\\u0022\\u007d"',
    `"${'x'.repeat(256)}"`,
    '5',
    '{"a":1}',
    '[]',
    'true',
  ];

  it.each(['session_id', 'prompt_cache_key', 'safety_identifier'])('%s becomes each agent’s own', (field) => {
    const kind = field === 'session_id' ? testCatalog() : plain;
    const tagOf = (value: string, agentId: number) =>
      parsed(bodyWith(`"${field}":${value}`), kind, agentId)[field];
    for (const value of hostile) expect(tagOf(value, 1)).toMatch(/^[0-9a-f]{16}-[0-9a-f]{16}$/);
    expect(tagOf('"a"', 1)).toBe(tagOf('"a"', 1));
    expect(tagOf('"a"', 1)).not.toBe(tagOf('"b"', 1));
    expect(tagOf('"a"', 1)).not.toBe(tagOf('"a"', 2));
    expect(tagOf('null', 1)).toBeNull();
  });

  it('user is the agent, whatever was sent: always at a router, elsewhere where there is one', () => {
    const [one, two] = [parsed(bodyWith(), undefined, 1).user, parsed(bodyWith(), undefined, 2).user];
    expect(one).toMatch(/^[0-9a-f]{16}$/);
    expect(one).not.toBe(two);
    for (const value of hostile) expect(parsed(bodyWith(`"user":${value}`), undefined, 1).user).toBe(one);
    for (const value of hostile) expect(parsed(bodyWith(`"user":${value}`), plain, 1).user).toBe(one);
    expect(parsed(bodyWith(), plain)).not.toHaveProperty('user');
  });
});

describe('a router', () => {
  it('gets the model with its suffixes, and the prices of the hold as its ceiling, without our margin', () => {
    const withMargin = testCatalog({
      models: [
        model({
          endpoints: [
            endpoint({
              prices: prices({
                prompt: atto('0.00000105500000000001'),
                completion: atto('0.00000422'),
                request: atto('0.00211'),
              }),
            }),
          ],
        }),
      ],
      providers: [provider({ priceFactorPpm: 1_055_000n })],
    });
    const upstream = parsed(
      '{"model":"acme/small:nitro","messages":[{"role":"user","content":"x"}]}',
      withMargin,
    );
    expect(upstream.model).toBe('acme/small');
    expect(upstream.provider.sort).toBe('throughput');
    expect(upstream.provider.max_price.completion).toBe(4);
    expect(upstream.provider.max_price.request).toBe(0.002);
    expect(upstream.provider.max_price.prompt).toBeGreaterThanOrEqual(1);
    expect(upstream.provider.max_price.prompt).toBeLessThan(1.0000001);
  });

  it.each([
    ['nitro', '', 'acme/small', 'throughput'],
    ['nitro', ',"provider":{"sort":"price"}', 'acme/small', 'throughput'],
    ['floor', '', 'acme/small:floor', undefined],
    ['exacto', ',"provider":{"sort":"price"}', 'acme/small:exacto', 'price'],
  ])('admits no endpoint of a dearer tier: :%s%s', (suffix, extra, model, sort) => {
    const body = `{"model":"acme/small:${suffix}","messages":[{"role":"user","content":"x"}]${extra}}`;
    const upstream = parsed(body);
    expect(upstream.model).toBe(model);
    expect(upstream.provider.sort).toBe(sort);
    expect(upstream.provider.max_price).toEqual({ prompt: 1, completion: 4, request: 0 });
  });

  it('is a decimal with every digit of the price, in dollars per million tokens', () => {
    const exact = testCatalog({
      models: [
        model({
          endpoints: [
            endpoint({
              prices: prices({ prompt: atto('0.000000123456789012'), completion: atto('0.00000000000045') }),
            }),
          ],
        }),
      ],
    });
    expect(member('provider', bodyWith(), exact)).toBe(
      '{"max_price":{"prompt":0.123456789012,"completion":0.00000045,"request":0}}',
    );
  });

  it('may run the dearest price that the hold covers', () => {
    const longer = {
      minPromptTokens: 100,
      prompt: atto('0.000002'),
      completion: null,
      cacheRead: null,
      cacheWrite: null,
      cacheWrite1h: null,
    };
    const tiered = testCatalog({
      models: [model({ endpoints: [endpoint({ prices: prices({ overrides: [longer] }) })] })],
    });
    expect(parsed(bodyWith(), tiered).provider.max_price).toEqual({ prompt: 2, completion: 4, request: 0 });
  });

  it('may not run the price of a longer prompt than the hold was made for', () => {
    const longer = {
      minPromptTokens: 20_000,
      prompt: atto('0.000002'),
      completion: atto('0.000008'),
      cacheRead: null,
      cacheWrite: null,
      cacheWrite1h: null,
    };
    const tiered = testCatalog({
      models: [model({ endpoints: [endpoint({ prices: prices({ overrides: [longer] }) })] })],
    });
    expect(parsed(bodyWith(), tiered).provider.max_price).toEqual({ prompt: 1, completion: 4, request: 0 });
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['a lower ceiling stays', '{"prompt":0.5}', { prompt: 0.5, completion: 4 }],
    ['as text too', '{"prompt":"0.5","completion":"1e-3"}', { prompt: 0.5, completion: 0.001 }],
    ['nothing at all stays', '{"prompt":0}', { prompt: 0, completion: 4 }],
    ['a higher one does not', '{"prompt":99,"completion":1e30}', { prompt: 1, completion: 4 }],
    ['null is no ceiling', '{"prompt":null,"completion":null}', { prompt: 1, completion: 4 }],
    ['nor is a list', '{"prompt":[],"completion":[0]}', { prompt: 1, completion: 4 }],
    ['nor a boolean', '{"prompt":false,"completion":true}', { prompt: 1, completion: 4 }],
    ['nor an empty text', '{"prompt":"","completion":" "}', { prompt: 1, completion: 4 }],
    ['nor another number system', '{"prompt":"0x0","completion":"-1"}', { prompt: 1, completion: 4 }],
    ['nor less than nothing', '{"prompt":-1,"completion":-1e-9}', { prompt: 1, completion: 4 }],
    ['nor a record', '{"prompt":{"a":1}}', { prompt: 1, completion: 4 }],
    ['other units stay', '{"audio":0.01,"image":"1"}', { audio: 0.01, image: '1', prompt: 1, completion: 4 }],
    ['null is none', 'null', { prompt: 1, completion: 4 }],
    ['a text is none', '"cheap"', { prompt: 1, completion: 4 }],
    ['a list is none', '[1]', { prompt: 1, completion: 4 }],
  ])('of the caller’s ceilings %s', (_what, given, expected) => {
    expect(parsed(bodyWith(`"provider":{"max_price":${given}}`)).provider.max_price).toEqual({
      ...expected,
      request: 0,
    });
  });

  it('may take no more for an image than the hold was made of, where there is one', () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    const body = JSON.stringify({ model: 'acme/small', messages: [{ role: 'user', content: [image] }] });
    const imaged = testCatalog({
      models: [
        model({
          inputModalities: ['text', 'image'],
          endpoints: [endpoint({ prices: prices({ image: atto('0.01') }) })],
        }),
      ],
    });
    expect(parsed(body, imaged).provider.max_price.image).toBe(0.01);
    expect(parsed(bodyWith(), imaged).provider.max_price).not.toHaveProperty('image');
  });

  it('keeps the other preferences as they were sent', () => {
    const body = bodyWith('"provider":{"order":[ "acme" ],"max_price":{"prompt":0.5},"zdr":true}');
    expect(member('provider', body)).toBe(
      '{"order":[ "acme" ],"max_price":{"prompt":0.5,"completion":4,"request":0},"zdr":true}',
    );
    expect(parsed(bodyWith('"provider":null')).provider).toEqual({
      max_price: { prompt: 1, completion: 4, request: 0 },
    });
  });

  it('cannot be written to through a ceiling', () => {
    const anyCeiling = fc.dictionary(fc.string(), jsonText, { maxKeys: 4, noNullPrototype: true });
    fc.assert(
      fc.property(anyCeiling, (given) => {
        const names = Object.entries(given).filter(([name]) => !JSON.stringify(name).includes('\\'));
        const text = `{${names.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
        const upstream = parsed(bodyWith(`"provider":{"max_price":${text},"order":["acme"]}`));
        expect(Object.keys(upstream.provider).sort()).toEqual(['max_price', 'order']);
        expect(Number(upstream.provider.max_price.prompt)).toBeLessThanOrEqual(1);
        expect(Number(upstream.provider.max_price.completion)).toBeLessThanOrEqual(4);
        expect(upstream.model).toBe('acme/small');
      }),
      { numRuns: 500 },
    );
  });
});

describe('a plain server', () => {
  it('gets its own name of the model and no word of the router’s dialect', () => {
    const upstream = parsed(
      bodyWith('"provider":{"order":["acme"]}', '"plugins":[]', '"transforms":[]', '"session_id":"s"'),
      plain,
    );
    expect(upstream.model).toBe('small-2026');
    for (const field of ['provider', 'plugins', 'transforms', 'session_id']) {
      expect(upstream).not.toHaveProperty(field);
    }
  });

  it.each<[string, string[], unknown]>([
    ['as its own field', ['"reasoning":{"effort":"low"}'], 'low'],
    ['unless that is there', ['"reasoning":{"effort":"low"}', '"reasoning_effort":"high"'], 'high'],
    ['unless null is there', ['"reasoning":{"effort":"low"}', '"reasoning_effort":null'], 'low'],
    ['that is nearest to a budget', ['"reasoning":{"max_tokens":5}'], 'low'],
    ['that is nearest to most of the answer', ['"max_tokens":100', '"reasoning":{"max_tokens":90}'], 'high'],
    ['by its name before its budget', ['"reasoning":{"max_tokens":5,"effort":"high"}'], 'high'],
    ['of none', ['"reasoning":{"enabled":false,"effort":"none"}'], 'none'],
    ['and not where none was named', ['"reasoning":{"enabled":true,"exclude":false}'], undefined],
    ['nor from null', ['"reasoning":null'], undefined],
  ])('gets the effort %s', (_what, members, expected) => {
    const upstream = parsed(bodyWith(...members), plain);
    expect(upstream).not.toHaveProperty('reasoning');
    expect(upstream.reasoning_effort).toBe(expected);
  });

  it('a router gets it as it was sent', () => {
    expect(member('reasoning', bodyWith('"reasoning":{ "effort":"low" }'))).toBe('{ "effort":"low" }');
  });
});
