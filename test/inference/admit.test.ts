import { describe, expect, it } from 'vitest';
import { BODY_MEMBERS_MAX, JSON_DEPTH_MAX, JSON_KEYS_MAX, JSON_VALUES_MAX } from '#core/limits.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { TOOL_USE_PROMPT_TOKENS } from '../../api/inference/price/prompt-bound.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import {
  admit,
  bodyWith,
  endpoint,
  messages,
  model,
  planOf,
  provider,
  refusalOf,
  testCatalog,
} from './support.ts';

const refusal = (body: string | Buffer) => {
  const { code, param } = refusalOf(body);
  return param === null ? code : `${code} ${param}`;
};

describe('a body that cannot be read', () => {
  it.each<[string, string | Buffer]>([
    ['nothing', ''],
    ['blanks', '  \n'],
    ['no JSON', 'hello'],
    ['half a body', '{"model":"acme/small",'],
    ['two bodies', `${bodyWith()}${bodyWith()}`],
    ['a list', `[${bodyWith()}]`],
    ['null', 'null'],
    ['a byte order mark', `\ufeff${bodyWith()}`],
    ['a trailing comma', bodyWith('"n":1,')],
    ['a comment', `${bodyWith()}// hi`],
    ['single quotes', "{'model':'acme/small'}"],
    ['NaN', bodyWith('"temperature":NaN')],
    ['wrong UTF-8', Buffer.from([...Buffer.from(bodyWith('"user":"')), 0xff, 0x22, 0x7d])],
    ['UTF-16', Buffer.from(bodyWith(), 'utf16le')],
    ['half a letter at its end', Buffer.from(bodyWith('"user":"é"')).subarray(0, -3)],
    ['lists in lists without end', bodyWith(`"x":${'['.repeat(10_000)}${']'.repeat(10_000)}`)],
    ['objects in objects without end', bodyWith(`"x":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)],
    ['100,000 keys', bodyWith(`"x":{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":1`).join(',')}}`)],
    ['one key twice', bodyWith('"n":1,"n":1')],
    ['one key twice, once escaped', bodyWith('"n":1,"\\u006e":2')],
    ['one key twice, deep inside', bodyWith('"provider":{"max_price":{"prompt":1,"prompt":2}}')],
    [
      'one key twice in a message',
      '{"model":"acme/small","messages":[{"role":"user","content":"a","content":"b"}]}',
    ],
    ['__proto__ twice', bodyWith('"__proto__":1,"__proto__":2')],
  ])('is refused: %s', (_what, body) => {
    expect(refusal(body)).toBe('invalid_request');
  });

  it('may nest as deep, and hold as many keys and values, as is allowed', () => {
    const depth = JSON_DEPTH_MAX - 1;
    expect(admit(bodyWith(`"x":${'['.repeat(depth)}${']'.repeat(depth)}`)).ok).toBe(true);
    expect(refusal(bodyWith(`"x":${'['.repeat(depth + 1)}${']'.repeat(depth + 1)}`))).toBe('invalid_request');
    const keys = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',');
    const others = 5;
    expect(admit(bodyWith(`"x":{${keys(JSON_KEYS_MAX - others)}}`)).ok).toBe(true);
    expect(refusal(bodyWith(`"x":{${keys(JSON_KEYS_MAX - others + 1)}}`))).toBe('invalid_request');
    expect(admit(bodyWith(keys(BODY_MEMBERS_MAX - 2))).ok).toBe(true);
    expect(refusal(bodyWith(keys(BODY_MEMBERS_MAX - 1)))).toBe('invalid_request');
    const values = (count: number) => Array.from({ length: count }, () => '[]').join(',');
    expect(admit(bodyWith(`"x":[${values(JSON_VALUES_MAX / 2 - 10)}]`)).ok).toBe(true);
    expect(refusal(bodyWith(`"x":[${values(JSON_VALUES_MAX / 2)}]`))).toBe('invalid_request');
  });

  it('cannot hide a field by escapes, even after another body has taught V8 to misread its key', () => {
    // nodejs/node issue 63785: after this, V8 takes the key `t\u006fols` for `t\u00`.
    JSON.parse(`{"model":[],${messages},"t\\\\u00":0}`);
    const disguised = `{"model":"acme/small",${messages},"t\\u006fols":[{"type":"web_search"}]}`;
    expect(refusalOf(disguised).message).toContain('`tools`');
    expect(refusal(bodyWith('"provider":{"optio\\u006es":{}}'))).toBe('invalid_request');
    expect(refusal(bodyWith('"max_tokens":1,"max_t\\u006fkens":100000'))).toBe('invalid_request');
    expect(
      admit(bodyWith('"tools":[{"type":"function","function":{"name":"f","parameters":{"^\\\\d+$":{}}}}]'))
        .ok,
    ).toBe(true);
    expect(admit(bodyWith('"metadata":{"\\u57ce\\u5e02":"x","a\\/b":"y"}')).ok).toBe(true);
  });
});

describe('wrong values in the fields that the gateway reads', () => {
  const wrong: Record<string, readonly string[]> = {
    model: ['null', '1', '""', '[]', '{}', 'true', `"${'x'.repeat(257)}"`],
    messages: [
      'null',
      '"hi"',
      '[]',
      '{}',
      '[null]',
      '["hi"]',
      '[{}]',
      '[{"role":"user"}]',
      '[{"role":"god","content":"x"}]',
    ],
    max_tokens: ['0', '-1', '1152921504606846976', '"5"', '1.5', '1e400', 'true', '[]', '{}'],
    max_completion_tokens: ['0', '-1', '1152921504606846976', '"5"', '1.5', '[5]'],
    n: ['0', '-1', '1e9', '129', '1.5', '"2"', '[]'],
    stream: ['"true"', '1', '0', '[]'],
    stream_options: ['true', '"include_usage"', '[]', '{"include_usage":"yes"}'],
    temperature: ['-0.1', '2.1', '"1"', '1e400', '[]'],
    tools: ['{}', '"web"', '[null]', '[[]]', '[{}]', '[{"type":1}]'],
    tool_choice: ['1', '"sometimes"', '[]', '{}', '{"type":1}'],
    response_format: ['"json"', '[]', '{"type":"json_schema"}'],
    reasoning: [
      '"high"',
      '[]',
      '{"effort":"huge"}',
      '{"max_tokens":10.5}',
      '{"max_tokens":-1}',
      '{"max_tokens":"9"}',
      '{"max_tokens":1e300}',
    ],
    models: ['"acme/small"', '{}', '[null]', '[""]', '[1]', `[${Array(9).fill('"acme/small"').join(',')}]`],
    plugins: ['{}', '"web"', '[null]', '[{}]', '[{"id":1}]'],
    provider: ['"acme"', '[]', '1', '{"options":{}}'],
  };
  const rows = Object.entries(wrong).flatMap(([field, values]) =>
    values.map((value) => [field, value] as const),
  );

  it.each(rows)('%s: %s', (field, value) => {
    const others = { model: '"acme/small"', messages: '[{"role":"user","content":"hi"}]', [field]: value };
    const body = `{${Object.entries(others)
      .map(([name, text]) => `"${name}":${text}`)
      .join(',')}}`;
    const { code, param } = refusalOf(body);
    expect(code).toBe('invalid_request');
    expect(param?.split(/[.[]/)[0]).toBe(field);
  });

  it.each([
    ['model', `{${messages}}`],
    ['messages', '{"model":"acme/small"}'],
  ])('%s is required', (field, body) => {
    expect(refusal(body)).toBe(`invalid_request ${field}`);
  });

  it.each([
    'max_tokens',
    'max_completion_tokens',
    'n',
    'stream',
    'stream_options',
    'tools',
    'tool_choice',
    'models',
  ])('null stands for %s not set', (field) => {
    expect(admit(bodyWith(`"${field}":null`)).ok).toBe(true);
  });

  it.each(['MAX_TOKENS', 'Max_Tokens', 'Model', 'N', 'TOOLS', 'Provider', 'ſtream', 'toolſ', 'Preset'])(
    'a server that reads %s in any spelling is not given the chance',
    (field) => {
      expect(refusalOf(bodyWith(`"${field}":1`)).message).toContain('in small letters');
    },
  );

  it('other fields may be spelled as one likes', () => {
    expect(admit(bodyWith('"MyField":1,"topK":2,"X":3,"__proto__":{"tools":[{"type":"mcp"}]}')).ok).toBe(
      true,
    );
  });
});

describe('the bounds that a hold is made of', () => {
  it.each<[string, string[], number | null]>([
    ['no cap', [], null],
    ['one cap', ['"max_tokens":7'], 7],
    ['a cap in other digits', ['"max_tokens":7.0'], 7],
    ['a cap with an exponent', ['"max_tokens":1e2'], 100],
    ['the newer name', ['"max_completion_tokens":9'], 9],
    ['both: the larger, whichever a server reads', ['"max_tokens":7', '"max_completion_tokens":9'], 9],
    ['both, the other way round', ['"max_tokens":9', '"max_completion_tokens":7'], 9],
    ['a null beside a cap', ['"max_tokens":null', '"max_completion_tokens":7'], 7],
    ['more thinking than answer', ['"max_tokens":7', '"reasoning":{"max_tokens":50}'], 50],
    ['thinking alone is no cap', ['"reasoning":{"max_tokens":50}'], null],
  ])('%s', (_what, members, cap) => {
    expect(planOf(bodyWith(...members)).outputTokensCap).toBe(cap);
  });

  it('has room for numbers that a server prints anew, wherever a prompt may hold them', () => {
    const withTools = (number: string) =>
      planOf(
        bodyWith(
          `"tools":[{"type":"function","function":{"name":"f","parameters":{"enum":[${Array(1_000).fill(number).join()}]}}}]`,
        ),
      ).promptTokensMax;
    const digits = '1'.padEnd(21, '0').length + 1;
    expect(withTools('1e20')).toBeGreaterThan(1_000 * digits);
    // Each stands in a line of its own where a template prints it so (`prompt-bound.ts`).
    const lineTokens = 3;
    expect(withTools('123')).toBeLessThan(
      1_000 * ('123,'.length + lineTokens) + 1_000 + TOOL_USE_PROMPT_TOKENS,
    );
    // A cap is in no prompt: one that was named as fitting has to fit.
    const capped = (cap: number) => planOf(bodyWith(`"max_tokens":${cap}`, '"x":[1e20]')).promptTokensMax;
    expect(capped(1)).toBe(capped(4_000));
  });

  it('no prompt can have more tokens than the body has bytes and a template has marks', () => {
    const content = '🚇'.repeat(1_000);
    const body = `{"model":"acme/small","messages":[{"role":"user","content":"${content}"}]}`;
    const { promptTokensMax, promptEstimateTokens } = planOf(body);
    expect(promptTokensMax).toBeGreaterThan(Buffer.byteLength(content));
    expect(promptTokensMax).toBeLessThan(Buffer.byteLength(body) + 1_000);
    expect(promptEstimateTokens).toBe(Math.ceil(Buffer.byteLength(content) / 4));
  });

  it.each([
    ['an image', '{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}', 1],
    ['a film', '{"type":"video_url","video_url":{"url":"https://example.com/a.mp4"}}', 0],
    ['a file', '{"type":"file","file":{"file_data":"https://example.com/a.pdf"}}', 0],
  ])('%s behind a link may fill the context', (_what, part, images) => {
    const catalog = testCatalog({ models: [model({ inputModalities: ['text', 'file'] })] });
    const plan = planOf(`{"model":"acme/small","messages":[{"role":"user","content":[${part}]}]}`, catalog);
    expect(plan.promptTokensMax).toBe(Number.MAX_SAFE_INTEGER);
    expect(plan.images).toBe(images);
  });

  it('a file is not sent where a router would have it read for a price per page', () => {
    const part = '{"type":"file","file":{"file_data":"https://example.com/a.pdf"}}';
    const body = `{"model":"acme/small","messages":[{"role":"user","content":[${part}]}]}`;
    expect(refusal(body)).toBe('invalid_request messages');
    const [blind, reader] = [model(), model({ id: 'acme/reader', inputModalities: ['file'] })];
    const both = testCatalog({ models: [blind, reader] });
    const withFallback = (wanted: string, fallback: string) =>
      admit(body.replace('"acme/small"', `"${wanted}","models":["${fallback}"]`), both).ok;
    expect(withFallback('acme/reader', 'acme/reader')).toBe(true);
    expect(withFallback('acme/reader', 'acme/small')).toBe(false);
    const plain = testCatalog({
      models: [model({ endpoints: [endpoint({ providerId: 'plain' })] })],
      providers: [provider({ id: 'plain', kind: providerKinds.openai })],
    });
    expect(admit(body, plain).ok).toBe(true);
  });

  it('nothing is read from what stands in `__proto__`', () => {
    const plan = planOf(
      bodyWith('"__proto__":{"max_tokens":1,"n":9,"stream":true,"models":["nobody/knows"]}'),
    );
    expect([plan.outputTokensCap, plan.choices, plan.stream, plan.candidates.length]).toEqual([
      null,
      1,
      false,
      1,
    ]);
  });

  it.each([
    [
      'images of an earlier answer',
      '"images":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]',
      1,
    ],
    [
      'a file read for an earlier answer',
      '"annotations":[{"type":"file","file":{"hash":"x","content":[]}}]',
      0,
    ],
  ])('%s count too', (_what, member, images) => {
    const plan = planOf(
      `{"model":"acme/small","messages":[{"role":"assistant","content":"x",${member}},{"role":"user","content":"y"}]}`,
    );
    expect(plan.promptTokensMax).toBe(Number.MAX_SAFE_INTEGER);
    expect(plan.images).toBe(images);
  });

  it('a predicted answer may be billed in full beside the real one', () => {
    const prediction = '{"type":"content","content":"fünf"}';
    expect(planOf(bodyWith(`"prediction":${prediction}`)).extraOutputTokens).toBe(
      Buffer.byteLength(prediction),
    );
  });

  it('what is asked decides what is shown: usage in a stream only on request', () => {
    const shows = (...members: string[]) => planOf(bodyWith(...members)).showUsage;
    expect(shows()).toBe(true);
    expect(shows('"stream":false')).toBe(true);
    expect(shows('"stream":true')).toBe(false);
    expect(shows('"stream":true', '"stream_options":{}')).toBe(false);
    expect(shows('"stream":true', '"stream_options":null')).toBe(false);
    expect(shows('"stream":true', '"stream_options":{"include_usage":false}')).toBe(false);
    expect(shows('"stream":true', '"stream_options":{"include_usage":true}')).toBe(true);
  });

  it('what is asked decides what is shown: thought unless it was not wanted', () => {
    const shows = (...members: string[]) => planOf(bodyWith(...members)).showReasoning;
    expect(shows()).toBe(true);
    expect(shows('"reasoning":{"exclude":false}')).toBe(true);
    expect(shows('"reasoning":{"effort":"low","exclude":true}')).toBe(false);
  });

  it('every plan has a candidate', () => {
    const admitted = admit(bodyWith(), testCatalog({ models: [] }));
    expect(admitted.ok || isApiError(admitted.error)).toBe(true);
    expect(admitted.ok).toBe(false);
  });
});
