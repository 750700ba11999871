import { describe, expect, it } from 'vitest';
import { isStrictSchema } from '../../api/inference/translation/strict-schema.ts';
import { leftOutOf, sentTo, user } from './ask.ts';

/* A caller of the messages format may ask for more than servers of the chat format hold a model to strictly; these would refuse the call. */

const text = { type: 'string' };
const closed = (properties: object, more: object = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const within = (schema: unknown) => closed({ a: schema });

const strict: Record<string, unknown> = {
  'an object whose properties are all required': closed({ a: text, b: { type: ['string', 'null'] } }),
  'an object without properties': closed({}),
  'a list of such objects': within({ type: 'array', items: closed({ b: text }), minItems: 1, maxItems: 3 }),
  'a choice of such objects': within({ anyOf: [closed({ b: text }), { type: 'null' }] }),
  'words and numbers within bounds': closed({
    a: { type: 'string', enum: ['x', 'y'], description: 'A letter.', title: 'A' },
    b: { type: 'integer', minimum: 1, maximum: 9, multipleOf: 2 },
    c: { type: 'string', pattern: '^x', format: 'date-time' },
    d: { type: 'string', const: 'x' },
  }),
  'named schemas, and references to them': closed(
    { a: { $ref: '#/$defs/b' }, c: { $ref: '#' } },
    { $defs: { b: closed({ d: text }) }, $schema: 'http://json-schema.org/draft-07/schema#' },
  ),
};

const wide: Record<string, unknown> = {
  'an object of any properties': { type: 'object' },
  'an object without properties that takes any': { type: 'object', properties: {}, required: [] },
  'a closed object that names no properties': { type: 'object', additionalProperties: false },
  'an optional property': closed({ a: text, b: text }, { required: ['a'] }),
  'no list of what is required': closed({ a: text }, { required: undefined }),
  'another required property than its own': closed({ a: text }, { required: ['b'] }),
  'a required property that there is not': closed({ a: text }, { required: ['a', 'b'] }),
  'further properties': closed({ a: text }, { additionalProperties: true }),
  'further properties of a kind': closed({ a: text }, { additionalProperties: text }),
  'an optional property in a property': within(closed({ b: text }, { required: [] })),
  'an optional property in a list': within({
    type: 'array',
    items: { type: 'object', properties: { b: text } },
  }),
  'an optional property in a choice': within({ anyOf: [{ type: 'object', properties: { b: text } }] }),
  'an optional property in a named schema': closed(
    {},
    { $defs: { b: { type: 'object', properties: { c: text } } } },
  ),
  'an optional property in an older named schema': closed(
    {},
    { definitions: { b: { type: 'object', properties: { c: text } } } },
  ),
  'a list of anything': within({ type: 'array' }),
  'a list by places': within({ type: 'array', items: text, prefixItems: [text] }),
  'a schema without a type': within({ description: 'Anything.' }),
  'values without a type': within({ enum: ['x'] }),
  'properties without a type': within({
    properties: { b: text },
    required: ['b'],
    additionalProperties: false,
  }),
  'a schema that is true': within(true),
  'a reference with words beside it': closed(
    { a: { $ref: '#/$defs/b', description: 'B.' } },
    { $defs: { b: text } },
  ),
  'a reference to elsewhere': within({ $ref: 'https://example.com/schema.json' }),
  'an unknown type': within({ type: 'text' }),
  'a default': within({ type: 'string', default: 'x' }),
  'a length': within({ type: 'string', minLength: 1 }),
  'another format': within({ type: 'string', format: 'phone' }),
  'distinct entries': within({ type: 'array', items: text, uniqueItems: true }),
  'all of several': within({ allOf: [closed({ b: text })] }),
  'one of several': within({ oneOf: [closed({ b: text })] }),
  'names by a pattern': closed({ a: text }, { patternProperties: { '^x': text } }),
  'a condition': within({ type: 'string', not: { const: 'x' } }),
  'a choice at the top': { anyOf: [closed({ a: text })] },
  'an object that is also a choice at the top': closed({ a: text }, { anyOf: [closed({ a: text })] }),
  'a list at the top': { type: 'array', items: closed({ a: text }) },
  nothing: {},
  'eleven levels': Array.from({ length: 10 }).reduce<unknown>(
    (inner) => closed({ a: inner }),
    closed({ a: text }),
  ),
  'too many properties': closed(Object.fromEntries(Array.from({ length: 5_001 }, (_, n) => [`p${n}`, text]))),
  'too many values': within({ type: 'string', enum: Array.from({ length: 1_001 }, (_, n) => `v${n}`) }),
};

describe('a wanted structure of the messages format', () => {
  const formatOf = (schema: unknown) =>
    sentTo('messages', 'chat', {
      messages: [user],
      output_config: { format: { type: 'json_schema', schema } },
    }).response_format;

  it.each(Object.entries(strict))(
    'is asked for strictly where servers hold a model to it: %s',
    (_what, schema) => {
      expect(isStrictSchema(schema)).toBe(true);
      expect(formatOf(schema)).toMatchObject({ json_schema: { strict: true, schema } });
    },
  );

  it.each(Object.entries(wide))('is asked for as well as may be where they do not: %s', (_what, schema) => {
    expect(isStrictSchema(schema)).toBe(false);
    expect(formatOf(schema)).not.toHaveProperty('json_schema.strict');
  });
});

describe('a strict tool of the messages format', () => {
  const bodyOf = (input_schema: unknown) => ({
    messages: [user],
    tools: [{ name: 'f', input_schema, strict: true }],
  });

  it.each(Object.entries(strict))(
    'is strict where servers hold a model to its schema: %s',
    (_what, schema) => {
      expect(sentTo('messages', 'chat', bodyOf(schema)).tools).toMatchObject([
        { function: { strict: true } },
      ]);
      expect(leftOutOf('messages', 'chat', bodyOf(schema))).toEqual([]);
    },
  );

  it.each(Object.entries(wide))(
    'is one that is not, and the field is named, where they do not: %s',
    (_what, schema) => {
      expect(JSON.stringify(sentTo('messages', 'chat', bodyOf(schema)).tools)).not.toContain('"strict"');
      expect(leftOutOf('messages', 'chat', bodyOf(schema))).toEqual(['tools[0].strict']);
    },
  );

  it('that is not wanted strictly is not asked for strictly', () => {
    const tools = [{ name: 'f', input_schema: closed({ a: text }) }];
    expect(JSON.stringify(sentTo('messages', 'chat', { messages: [user], tools }).tools)).not.toContain(
      'strict',
    );
  });
});
