import { describe, expect, it } from 'vitest';
import { NumberMarks } from '../../api/inference/json/number-marks.ts';
import { structuredSchema } from '../../api/inference/translation/structured-schema.ts';

const rewritten = (schema: unknown): unknown => structuredSchema(schema, new NumberMarks());

describe('a schema that a server holds its model to', () => {
  it('closes every object, at every depth', () => {
    const inner = { type: 'object', properties: { a: { type: 'string' } } };
    const closed = { ...inner, additionalProperties: false };
    expect(
      rewritten({
        type: 'object',
        properties: { one: inner, many: { type: 'array', items: inner } },
        $defs: { d: inner },
      }),
    ).toEqual({
      type: 'object',
      properties: { one: closed, many: { type: 'array', items: closed } },
      $defs: { d: closed },
      additionalProperties: false,
    });
    expect(rewritten({ ...inner, additionalProperties: true })).toEqual(closed);
    expect(rewritten({ type: ['object', 'null'], properties: {} })).toHaveProperty(
      'additionalProperties',
      false,
    );
  });

  it.each([
    [
      { type: 'string', minLength: 2 },
      { type: 'string', description: '{minLength: 2}' },
    ],
    [
      { type: 'number', minimum: 1, maximum: 9, description: 'A digit.' },
      { type: 'number', description: 'A digit.\n\n{minimum: 1, maximum: 9}' },
    ],
    [
      { type: 'array', items: {}, minItems: 1 },
      { type: 'array', items: {}, minItems: 1 },
    ],
    [
      { type: 'array', items: {}, minItems: 3 },
      { type: 'array', items: {}, description: '{minItems: 3}' },
    ],
    [
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'date-time' },
    ],
    [
      { type: 'string', format: 'phone' },
      { type: 'string', description: '{format: "phone"}' },
    ],
    [
      { type: 'string', pattern: '^a' },
      { type: 'string', description: '{pattern: "^a"}' },
    ],
    [{ oneOf: [{ type: 'string' }] }, { anyOf: [{ type: 'string' }] }],
    [
      { anyOf: [{ type: 'string' }], oneOf: [{ const: 'a' }] },
      { anyOf: [{ type: 'string' }], description: '{oneOf: [{"const":"a"}]}' },
    ],
    [
      { oneOf: [{ const: 'a' }], anyOf: [{ type: 'string' }] },
      { anyOf: [{ type: 'string' }], description: '{oneOf: [{"const":"a"}]}' },
    ],
    [
      { $schema: 'x', enum: ['a'], default: 'a', title: 'T' },
      { enum: ['a'], default: 'a', title: 'T' },
    ],
    [true, true],
  ])('says what is beyond its subset in its description: %j', (schema, expected) => {
    expect(rewritten(schema)).toEqual(expected);
  });

  it('keeps a property whose name is that of a keyword', () => {
    const schema = {
      type: 'object',
      properties: { minLength: { type: 'integer' }, pattern: { type: 'string' } },
    };
    expect(rewritten(schema)).toEqual({ ...schema, additionalProperties: false });
  });
});
