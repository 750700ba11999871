import { describe, expect, test } from 'vitest';
import { isRecord } from '#core/is-record.ts';
import { adminRouter } from '../../api/admin/router.ts';
import { v1Router } from '../../api/routers/router.ts';
import { readChoices } from '../../openapi/generate/choice.ts';
import { adminFacts, v1Facts } from '../../openapi/generate/document-facts.ts';
import { finishSchemas } from '../../openapi/generate/finish-schemas.ts';
import { makeDocument } from '../../openapi/generate/make-document.ts';

interface Operation {
  requestBody?: object;
  responses: Record<string, object>;
}

const document = JSON.parse(makeDocument(v1Router, v1Facts));
const adminDocument = JSON.parse(makeDocument(adminRouter, adminFacts));
const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, item]) =>
  Object.values(item).map((operation) => ({ path, operation })),
);

/** The schemas that a part of the document leads to. */
function namesIn(node: unknown, seen = new Set<string>()): Set<string> {
  for (const [, name = ''] of JSON.stringify(node ?? null).matchAll(/schemas\/(\w+)"/g)) {
    if (seen.has(name)) continue;
    seen.add(name);
    namesIn(document.components.schemas[name], seen);
  }
  return seen;
}

describe('generated SDKs survive later releases', () => {
  const schemas: [string, Record<string, unknown>][] = Object.entries(document.components.schemas);

  /** A field that they do not name is refused, so an SDK had better not send one. */
  const strictRequests: ReadonlySet<string> = new Set([
    'UploadRequest',
    'VideoRequest',
    'VideoFrame',
    'VideoReference',
    'VideoImageUrl',
    'ImageReference',
    'ImageReferenceUrl',
  ]);

  /** A map in Kotlin and in some clients for Java, where the fields that have names are lost. */
  const isMap = (name: string): boolean => {
    const schema = document.components.schemas[name];
    return 'properties' in schema && schema.additionalProperties === true;
  };

  test('every object of the document takes fields that it does not name', () => {
    const closed = schemas.filter(([, schema]) => schema.additionalProperties === false);
    expect(closed.map(([name]) => name).sort()).toEqual([...strictRequests].sort());
  });

  test('no object of an answer is a map to a generator', () => {
    const answers = operations.map(({ operation }) => operation.responses);
    const names = [...namesIn([answers, document.components.responses])];
    expect(names).toEqual(expect.arrayContaining(['Balance', 'ToolCallDelta', 'ErrorDetail']));
    expect(names.filter(isMap)).toEqual([]);
  });

  test('no part of a message is a map to a generator, and the fields of a tool turn have names', () => {
    const parts = ['ContentPart', 'InputPart', 'InputItem', 'ContentBlock', 'ToolChoice'];
    for (const name of parts) expect(isMap(name), name).toBe(false);
    const { ChatMessage, InputItem, ContentBlock } = document.components.schemas;
    expect(Object.keys(ChatMessage.properties)).toEqual(
      expect.arrayContaining(['tool_calls', 'tool_call_id']),
    );
    expect(Object.keys(InputItem.properties)).toEqual(expect.arrayContaining(['call_id', 'output']));
    expect(Object.keys(ContentBlock.properties)).toEqual(expect.arrayContaining(['tool_use_id', 'input']));
  });

  test('no enum is closed, no number is read in 32 bits, no bound is a float artefact', () => {
    const walk = (node: unknown, path: string): void => {
      if (Array.isArray(node)) for (const [index, each] of node.entries()) walk(each, `${path}[${index}]`);
      if (!isRecord(node)) return;
      const { type, format, maximum } = node;
      if (type === 'string') expect(Array.isArray(node.enum), path).toBe(false);
      if (type === 'integer' && typeof maximum !== 'number') expect(format, path).toBe('int64');
      if (type === 'number') expect(format, path).toBe('double');
      // ogen takes no number here.
      expect(node.exclusiveMinimum, path).toBeUndefined();
      if (type === 'array') expect(Object.keys(Object(node.items)), path).not.toEqual([]);
      expect(maximum, path).not.toBe(Number.MAX_SAFE_INTEGER);
      // Anything but "this schema or null" is told by `oneOf`.
      if (Array.isArray(node.anyOf))
        expect(node.anyOf, path).toEqual([{ $ref: expect.any(String) }, { type: 'null' }]);
      if (Array.isArray(node.oneOf)) {
        for (const option of node.oneOf) expect(Object.keys(option), path).not.toContain('oneOf');
      }
      expect(node.const, path).not.toBeTypeOf('boolean');
      for (const [key, value] of Object.entries(node)) walk(value, `${path}.${key}`);
    };
    walk(document.components.schemas, 'schemas');
  });

  test('every schema has a name of its own choice', () => {
    for (const [name] of schemas) expect(name).not.toMatch(/(Output|Input|Inner|Response200|\d)$/);
    expect(document.paths['/chat/completions'].post.requestBody.content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/ChatCompletionRequest',
    });
  });

  test('every object has a name, so that no generator must number what it makes', () => {
    for (const { schemas: named, paths } of [
      { schemas: document.components.schemas, paths: document.paths },
      { schemas: adminDocument.components.schemas, paths: adminDocument.paths },
    ]) {
      const walk = (node: unknown, path: string, hasName: boolean): void => {
        if (Array.isArray(node))
          for (const [index, each] of node.entries()) walk(each, `${path}[${index}]`, false);
        if (!isRecord(node)) return;
        if (!hasName) expect(isRecord(node.properties) && 'type' in node, path).toBe(false);
        for (const [key, value] of Object.entries(node))
          if (!key.startsWith('example')) walk(value, `${path}.${key}`, false);
      };
      for (const [name, schema] of Object.entries(named)) walk(schema, name, true);
      walk(paths, 'paths', false);
    }
  });
});

describe('the schema pass', () => {
  const finish = (schemas: object, used: string[], body = false) => {
    const content = { 'application/json': { schema: { anyOf: used.map((name) => ({ $ref: ref(name) })) } } };
    const operation = body ? { requestBody: { content } } : { responses: { 200: { content } } };
    const finished = finishSchemas({ paths: { '/a': { post: operation } }, components: { schemas } });
    return JSON.parse(JSON.stringify(finished)).components.schemas;
  };
  const ref = (name: string) => `#/components/schemas/${name}`;
  const object = (more: object) => ({ type: 'object', properties: {}, ...more });

  test('opens what is answered and leaves a strict request strict', () => {
    const schemas = { A: object({ additionalProperties: false }) };
    expect(finish(schemas, ['A']).A).not.toHaveProperty('additionalProperties');
    expect(finish(schemas, ['A'], true).A.additionalProperties).toBe(false);
  });

  test('leaves a strict object strict that stands beside a text', () => {
    const schemas = {
      A: object({ properties: { b: { anyOf: [{ type: 'string' }, { $ref: ref('B') }] } } }),
      B: object({ additionalProperties: false }),
    };
    expect(finish(schemas, ['A'], true).B.additionalProperties).toBe(false);
  });

  test('says in a request that an object is open, and leaves a map of anything a map', () => {
    const schemas = {
      A: object({ additionalProperties: {} }),
      B: { type: 'object', additionalProperties: {} },
    };
    const finished = finish(schemas, ['A', 'B'], true);
    expect(finished.A.additionalProperties).toBe(true);
    expect(finish(schemas, ['A', 'B']).B.additionalProperties).toBe(true);
  });

  test('starts a whole number from the one above, where it is to be above another', () => {
    const properties = {
      a: { type: 'integer', exclusiveMinimum: 0 },
      b: { type: ['integer', 'null'], exclusiveMinimum: 4 },
    };
    const { A } = finish({ A: object({ properties }) }, ['A']);
    expect(A.properties.a).toEqual({ type: 'integer', minimum: 1, format: 'int64' });
    expect(A.properties.b).toMatchObject({ minimum: 5 });
  });

  test('drops what nothing refers to, keeps what is reached over others, and sorts', () => {
    const schemas = {
      B: object({ properties: { c: { $ref: ref('C') } } }),
      Unused: object({}),
      C: object({}),
    };
    expect(Object.keys(finish(schemas, ['B']))).toEqual(['B', 'C']);
  });

  test('merges the two copies of a schema that is in a request and in an answer', () => {
    const schemas = {
      A: object({ additionalProperties: {} }),
      AOutput: object({ additionalProperties: false }),
    };
    expect(Object.keys(finish(schemas, ['A', 'AOutput']))).toEqual(['A']);
  });

  test('makes no class of a text or an object, and tells generators that can read a union of one', () => {
    const kinds = [{ type: 'string' }, { type: 'number', format: 'double' }, { $ref: ref('B') }];
    const properties = { a: { anyOf: [...kinds, { type: 'null' }] }, b: { anyOf: kinds } };
    const { A } = finish({ A: object({ properties }), B: object({}) }, ['A']);
    const orB = { anyOf: [{ $ref: ref('B') }, { type: 'null' }] };
    expect(A.properties.a).toEqual({ if: kinds[0], else: { if: kinds[1], else: orB } });
    expect(readChoices(A.properties)).toEqual({
      a: { oneOf: [...kinds, { type: 'null' }] },
      b: { oneOf: kinds },
    });
    const list = { if: kinds[0], else: { type: ['array', 'null'], items: kinds[2] } };
    expect(readChoices(list)).toEqual({
      oneOf: [kinds[0], { type: 'array', items: kinds[2] }, { type: 'null' }],
    });
  });

  test('makes no class of a field that is always null', () => {
    const properties = { a: { type: 'null' }, b: { type: ['string', 'null'] } };
    const { A } = finish({ A: object({ properties }) }, ['A']);
    expect(A.properties.a).toEqual({ description: 'Always null.', not: { not: { type: 'null' } } });
    expect(A.properties.b).toEqual(properties.b);
  });

  test('keeps a union of objects a union', () => {
    const properties = { a: { anyOf: [{ $ref: ref('B') }, { $ref: ref('C') }] } };
    const { A } = finish({ A: object({ properties }), B: object({}), C: object({}) }, ['A']);
    expect(A.properties.a).toEqual({ oneOf: [{ $ref: ref('B') }, { $ref: ref('C') }] });
  });

  test('reads a field that is named like a keyword as a field', () => {
    const properties = { type: { type: 'string', enum: ['a', 'b'] }, enum: { type: 'integer' } };
    const { A } = finish({ A: object({ properties }) }, ['A']);
    expect(A.properties.type['x-extensible-enum']).toEqual(['a', 'b']);
    expect(A.properties.enum.format).toBe('int64');
  });

  test('splits and flattens unions that generators cannot read, and folds null into the type', () => {
    const properties = {
      two: { type: ['string', 'number'] },
      nested: { anyOf: [{ anyOf: [{ type: 'string' }, { type: 'array' }] }, { type: 'null' }] },
      maybe: { description: 'Text.', anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] },
    };
    const { A } = finish({ A: object({ properties }) }, ['A']);
    expect(A.properties.two).toEqual({
      if: { type: 'string' },
      else: { type: 'number', format: 'double' },
    });
    expect(A.properties.nested).toEqual({ if: { type: 'string' }, else: { type: ['array', 'null'] } });
    expect(A.properties.maybe).toEqual({
      type: ['string', 'null'],
      description: 'Text. One of: a, b. New values may be added.',
      'x-extensible-enum': ['a', 'b'],
    });
  });
});
