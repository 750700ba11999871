import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { reasonsByEffort } from '../../api/inference/formats/reasoning-words.ts';
import { records } from '../../api/inference/formats/values.ts';
import { translate, user } from './ask.ts';

/* Claude takes only some schemas, and refuses the whole call for any other. */

function asked(from: FormatName, extra: object, upstreamModel = 'claude-sonnet-4-5') {
  const body = from === 'chat' ? { messages: [user], ...extra } : { input: 'x', ...extra };
  const result = translate(from, 'messages', body, {
    upstreamModel,
    reasonsByEffort: reasonsByEffort(upstreamModel),
  });
  if (isApiError(result)) throw new Error(result.message);
  const { system, messages, output_config, tools } = JSON.parse(result.object.bytes.toString());
  return { system, messages, output_config, tools: records(tools), leftOut: result.leftOut };
}

const string = { type: 'string' };
const closed = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const strictTool = (index: number, parameters: object) => ({
  type: 'function',
  name: `f${index}`,
  parameters,
  strict: true,
});
const many = (length: number, parameters: object) =>
  Array.from({ length }, (_, index) => strictTool(index, parameters));
const inChat = ({ name, parameters, strict }: ReturnType<typeof strictTool>) => ({
  type: 'function',
  function: { name, parameters, strict },
});
const strictCount = (tools: readonly object[]): number =>
  tools.filter((tool) => Reflect.get(tool, 'strict') === true).length;
const properties = (length: number, schema: object) =>
  Object.fromEntries(Array.from({ length }, (_, index) => [`p${index}`, schema]));

describe('tools whose arguments are to keep to their schemas', () => {
  it('keep their schemas, without that promise for those beyond the twentieth, which is named', () => {
    const one = asked('responses', { tools: many(25, closed({ a: string })) });
    expect([one.tools.length, strictCount(one.tools)]).toEqual([25, 20]);
    expect(one.tools.at(-1)).toMatchObject({ name: 'f24', input_schema: { properties: { a: string } } });
    expect(one.leftOut).toEqual([20, 21, 22, 23, 24].map((index) => `tools[${index}].strict`));
    const chat = asked('chat', { tools: many(21, closed({ a: string })).map(inChat) });
    expect(chat.leftOut).toEqual(['tools[20].function.strict']);
    const legacy = many(21, closed({ a: string })).map(({ type: _, ...each }) => each);
    expect(asked('chat', { functions: legacy }).leftOut).toEqual(['functions[20].strict']);
    const grouped = [{ type: 'namespace', name: 'n', tools: many(21, closed({ a: string })) }];
    expect(asked('responses', { tools: grouped }).leftOut).toEqual(['tools[0].tools[20].strict']);
  });

  it.each([
    ['24 optional parameters', closed(properties(12, string), []), 2],
    ['24 optional parameters inside of others', closed({ a: closed(properties(11, string), []) }, []), 2],
    ['16 parameters of several types', closed(properties(8, { type: ['string', 'null'] })), 2],
    [
      '16 parameters of several types in other words',
      closed(properties(8, { anyOf: [string, { type: 'null' }] })),
      2,
    ],
  ])('promise it as far as a request may have %s', (_name, schema, fitting) => {
    const { tools, leftOut } = asked('responses', { tools: many(4, schema) });
    expect(tools.map(({ strict }) => strict === true)).toEqual([0, 1, 2, 3].map((index) => index < fitting));
    expect(leftOut).toEqual(['tools[2].strict', 'tools[3].strict']);
    // A smaller one still fits behind those that do not.
    const after = asked('responses', { tools: [...many(3, schema), strictTool(9, closed({ a: string }))] });
    expect(after.tools.at(-1)).toHaveProperty('strict', true);
  });

  it.each([
    [
      'refers to itself',
      { ...closed({ a: { $ref: '#/$defs/d' } }), $defs: { d: closed({ b: { $ref: '#/$defs/d' } }) } },
    ],
    [
      'refers to itself over another',
      {
        ...closed({ a: { $ref: '#/$defs/d' } }),
        $defs: {
          d: closed({ b: { $ref: '#/$defs/e' } }),
          e: { type: 'array', items: { $ref: '#/$defs/d' } },
        },
      },
    ],
    ['refers to the whole', closed({ a: { $ref: '#' } })],
    ['refers elsewhere', closed({ a: { $ref: 'https://example.com/s.json' } })],
    [
      'adds to a reference',
      { ...closed({ a: { allOf: [{ $ref: '#/$defs/d' }] } }), $defs: { d: closed({ b: string }) } },
    ],
  ])('promise nothing where the schema %s', (_name, schema) => {
    const { tools, leftOut } = asked('responses', { tools: many(1, schema) });
    expect([strictCount(tools), leftOut]).toEqual([0, ['tools[0].strict']]);
  });

  it('promise it where definitions only refer to others', () => {
    const $defs = { d: closed({ b: { $ref: '#/$defs/e' } }), e: closed({ c: string }) };
    const schema = { ...closed({ a: { $ref: '#/$defs/d' }, b: { $ref: '#/$defs/e' } }), $defs };
    expect(asked('responses', { tools: many(1, schema) })).toMatchObject({
      tools: [{ strict: true }],
      leftOut: [],
    });
  });

  it.each([
    ['claude-sonnet-4-20250514', 0],
    ['claude-3-7-sonnet-20250219', 0],
    ['claude-opus-4-1', 1],
    ['claude-opus-5', 1],
  ])('promise it only to a model that can: %s', (name, count) => {
    const { tools, leftOut } = asked('responses', { tools: many(1, closed({ a: string })) }, name);
    expect([strictCount(tools), leftOut.length]).toEqual([count, 1 - count]);
  });

  it('promise it to other vendors’ models, however many they are', () => {
    const { tools, leftOut } = asked('responses', { tools: many(25, closed({ a: string })) }, 'glm-5');
    expect([strictCount(tools), leftOut]).toEqual([25, []]);
  });
});

describe('an answer of a wanted shape', () => {
  const shape = closed(properties(17, { type: ['string', 'null'] }));
  const words = 'It must match this JSON schema:\n{"type":"object"';

  it('is asked for in words, and named, where the model cannot be held to it', () => {
    const json_schema = { name: 'a', description: 'An a.', schema: shape, strict: true };
    const chat = asked('chat', {
      messages: [{ role: 'system', content: 'Be short.' }, user],
      response_format: { type: 'json_schema', json_schema },
    });
    expect(chat).toMatchObject({ leftOut: ['response_format'] });
    expect(chat.output_config).toBe(undefined);
    expect(chat.system).toContain('Be short.\n\nAnswer with one JSON object');
    expect(chat.system).toContain('{"description":"An a.","type":"object"');
    const format = { type: 'json_schema', name: 'a', schema: shape };
    const responses = asked('responses', { text: { format } });
    expect(responses.system).toContain(words);
    expect(responses.leftOut).toEqual(['text.format']);
  });

  it('is asked for in words of a model that can be held to no shape', () => {
    const format = {
      type: 'json_schema',
      name: 'a',
      schema: closed({ n: { type: 'integer', maximum: 9 } }),
    };
    const { system, output_config, leftOut } = asked(
      'responses',
      { text: { format } },
      'claude-3-7-sonnet-20250219',
    );
    expect(system).toContain(words);
    expect([output_config, leftOut]).toEqual([undefined, ['text.format']]);
  });

  it('counts before the tools', () => {
    const format = { type: 'json_schema', name: 'a', schema: closed(properties(13, string), []) };
    const { output_config, leftOut } = asked('responses', {
      text: { format },
      tools: many(1, closed(properties(12, string), [])),
    });
    expect(output_config.format.type).toBe('json_schema');
    expect(leftOut).toEqual(['tools[0].strict']);
  });

  it('is no answer to go on with', () => {
    const messages = [user, { role: 'assistant', content: '{' }];
    const response_format = {
      type: 'json_schema',
      json_schema: { name: 'a', schema: closed({ a: string }) },
    };
    expect(asked('chat', { messages, response_format }).messages.at(-1)).toEqual({
      role: 'user',
      content: [{ type: 'text', text: 'Continue.' }],
    });
  });
});

/** The schema of a tool as Claude gets it. */
const schemaOf = (parameters: unknown, strict?: boolean): Record<string, unknown> => {
  const tools = [{ type: 'function', function: { name: 'f', parameters, strict } }];
  const { tools: sent, leftOut } = asked('chat', { tools });
  expect(leftOut).toEqual([]);
  return Object(sent[0]?.input_schema);
};

describe('a schema with a choice at its top', () => {
  const a = { type: 'object', properties: { kind: { const: 'a' }, one: string }, required: ['kind', 'one'] };
  const b = { type: 'object', properties: { kind: { const: 'b' }, two: string }, required: ['kind', 'two'] };

  it.each(['anyOf', 'oneOf'])('becomes one schema with the properties of all: %s', (keyword) => {
    expect(schemaOf({ [keyword]: [a, b], description: 'A or b.' })).toEqual({
      type: 'object',
      description: `A or b.\n\n{${keyword}, by what is required: ["one"] or ["two"]}`,
      properties: { kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, one: string, two: string },
      required: ['kind'],
    });
  });

  it('says which properties must be given together', () => {
    const choice = { type: 'object', properties: { a: string, b: string, c: string }, required: ['c'] };
    expect(schemaOf({ ...choice, anyOf: [{ required: ['a'] }, { required: ['b'] }] })).toEqual({
      ...choice,
      description: '{anyOf, by what is required: ["a"] or ["b"]}',
    });
  });

  it('is the sum of its schemas, and of those that they refer to', () => {
    const $defs = { base: { properties: { id: string }, required: ['id'] }, b };
    expect(
      schemaOf({ allOf: [{ $ref: '#/$defs/base' }, { anyOf: [a, { $ref: '#/$defs/b' }] }], $defs }),
    ).toEqual({
      type: 'object',
      $defs,
      description: '{anyOf, by what is required: ["one"] or ["two"]}',
      properties: { id: string, kind: { anyOf: [{ const: 'a' }, { const: 'b' }] }, one: string, two: string },
      required: ['id', 'kind'],
    });
  });

  it.each<[string, object, object]>([
    ['what is no object is no choice', { anyOf: [a, { type: 'null' }] }, { ...a }],
    ['all are closed', { anyOf: [closed({ x: string }), closed({ x: string })] }, closed({ x: string })],
    [
      'one is open',
      { anyOf: [closed({ x: string }), { type: 'object', properties: { y: string }, required: ['x'] }] },
      { type: 'object', properties: { x: string, y: string }, required: ['x'] },
    ],
    [
      'it refers to itself',
      {
        anyOf: [{ $ref: '#/$defs/d' }],
        $defs: { d: { anyOf: [{ $ref: '#/$defs/d' }], properties: { x: string } } },
      },
      { type: 'object', properties: { x: string } },
    ],
    ['it refers to nothing', { anyOf: [{ $ref: '#/$defs/no' }] }, { type: 'object', properties: {} }],
    ['it is empty', { anyOf: [], properties: { x: string } }, { type: 'object', properties: { x: string } }],
    ['it is no list', { oneOf: { x: 1 } }, { type: 'object', properties: {} }],
    [
      'a sum narrows a property',
      { properties: { x: string }, allOf: [{ properties: { x: { maxLength: 3 } } }] },
      { type: 'object', properties: { x: { allOf: [string, { maxLength: 3 }] } } },
    ],
    [
      'a property has the name of a prototype',
      { anyOf: [{ type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"}}') }] },
      { type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"}}') },
    ],
  ])('is sent whole where %s', (_name, parameters, schema) => {
    expect(schemaOf(parameters)).toMatchObject(schema);
    for (const keyword of ['anyOf', 'oneOf', 'allOf'])
      expect(schemaOf(parameters)).not.toHaveProperty(keyword);
  });

  it('may be one that arguments keep to', () => {
    expect(schemaOf({ anyOf: [a, b] }, true)).toMatchObject({
      additionalProperties: false,
      required: ['kind'],
    });
  });

  it('is read in a time that grows only with its length', () => {
    const length = 2_000;
    const chain = Object.fromEntries(
      Array.from({ length }, (_, index) => {
        const next = { $ref: `#/$defs/d${index + 1}` };
        return [`d${index}`, { allOf: [next, next], properties: { [`p${index}`]: string } }];
      }),
    );
    const wide = Object.fromEntries(
      Array.from({ length }, (_, index) => [
        `w${index}`,
        { properties: { x: { const: index } }, required: ['x'] },
      ]),
    );
    const schema = schemaOf({
      allOf: [{ $ref: '#/$defs/d0' }],
      anyOf: Object.keys(wide).map((name) => ({ $ref: `#/$defs/${name}` })),
      $defs: { ...chain, ...wide },
    });
    expect(schema).toMatchObject({ properties: { p0: string }, required: ['x'] });
  });

  it('is left out of a tool, and named, where so many names are to be joined that the call would hold up others', () => {
    const names = Array.from({ length: 30_000 }, (_, index) => `n${index}`);
    const parameters = { properties: { a: string }, allOf: [{ required: names }, { required: names }] };
    const { tools, leftOut } = asked('responses', {
      tools: [{ ...strictTool(0, parameters), strict: false }],
    });
    expect(tools[0]).toMatchObject({ input_schema: { type: 'object', properties: { a: string } } });
    expect(Object.keys(Object(tools[0]?.input_schema))).not.toContain('allOf');
    expect(leftOut).toEqual(['tools[0].parameters.allOf']);
  });
});

describe('a schema of an older draft', () => {
  const schema = (property: unknown) => ({ type: 'object', properties: { p: property } });

  it.each<[string, unknown, unknown]>([
    [
      'a list of items',
      { type: 'array', items: [string, { type: 'int' }], additionalItems: { type: 'bool' } },
      { type: 'array', prefixItems: [string, { type: 'integer' }], items: { type: 'boolean' } },
    ],
    [
      'a closed list of items',
      { items: [string], additionalItems: false },
      { prefixItems: [string], items: false },
    ],
    ['an empty list of items', { type: 'array', items: [] }, { type: 'array' }],
    [
      'a flag at a lower bound',
      { type: 'integer', minimum: 0, exclusiveMinimum: true },
      { type: 'integer', exclusiveMinimum: 0 },
    ],
    ['a flag at an upper bound', { maximum: 9, exclusiveMaximum: true }, { exclusiveMaximum: 9 }],
    ['a flag that says no', { minimum: 0, exclusiveMinimum: false }, { minimum: 0 }],
    ['a type that is no type', { type: 'any', description: 'x' }, { description: 'x' }],
    ['an empty type', { type: '' }, {}],
    ['types by other names', { type: ['str', 'null'] }, { type: ['string', 'null'] }],
    ['a type of several that is none', { type: ['string', 'None'] }, { description: '{type: string}' }],
    ['a type with a meaning', { type: 'file', description: 'x' }, { description: 'x\n\n{type: file}' }],
    [
      'keywords that are null',
      { type: 'string', enum: null, description: null, default: null },
      { type: 'string', default: null },
    ],
    ['an empty list for an object', { type: 'object', properties: [] }, { type: 'object', properties: {} }],
    [
      'a schema deep inside',
      { anyOf: [{ items: { not: { type: 'float' } } }] },
      { anyOf: [{ items: { not: { type: 'number' } } }] },
    ],
  ])('is written as the newer draft has it: %s', (_name, older, newer) => {
    expect(schemaOf(schema(older))).toEqual(schema(newer));
  });

  it('says itself which of its properties are required', () => {
    const parameters = {
      type: 'object',
      properties: { p: { ...string, required: true }, q: { ...string, required: false } },
    };
    expect(schemaOf(parameters)).toEqual({
      type: 'object',
      properties: { p: string, q: string },
      required: ['p'],
    });
  });

  it.each([
    [
      'values that look like keywords',
      { enum: [{ type: 'any', items: [1] }], const: { type: '' }, default: { items: [] } },
    ],
    [
      'what the newer draft has',
      { type: ['string', 'null'], prefixItems: [{}], items: true, exclusiveMinimum: 0.5, $ref: '#/x' },
    ],
  ])('keeps %s', (_name, same) => {
    expect(schemaOf(schema(same))).toEqual(schema(same));
  });

  it.each([
    ['no type', { properties: { p: string } }],
    ['no value', { type: null, properties: { p: string } }],
    ['several types', { type: ['object', 'null'], properties: { p: string } }],
    ['an empty type', { type: '', properties: { p: string } }],
  ])('is one of an object where the tool has %s', (_name, parameters) => {
    expect(schemaOf(parameters)).toEqual(schema(string));
  });
});
