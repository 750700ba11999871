import { afterAll, describe, expect, test } from 'vitest';
import { isRecord } from '#core/is-record.ts';
import { errorStatus } from '../../api/contract/error-body.ts';
import { type ErrorCode, errorTable } from '../../api/contract/errors.ts';
import { marketErrorTable } from '../../api/contract/market-errors.ts';
import { errorsOf, readRoutes, shapeOfPath } from '../../api/contract/route.ts';
import { readUpstreamError } from '../../api/inference/upstream/upstream-error.ts';
import { v1Router } from '../../api/routers/router.ts';
import { v1Facts } from '../../openapi/generate/document-facts.ts';
import { finishSchemas } from '../../openapi/generate/finish-schemas.ts';
import { makeDocument } from '../../openapi/generate/make-document.ts';
import { documentText, startEdge } from '../support/edge-app.ts';

interface Operation {
  operationId: string;
  description: string;
  tags: string[];
  security: object[];
  responses: Record<string, object>;
  'x-error-codes': Record<string, string[]>;
}

const text = makeDocument(v1Router, v1Facts);
const document = JSON.parse(text);
const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ method, path, operation })),
);
const routes = readRoutes(v1Router);
/** Spec: Authentication 2. */
const PUBLIC: ReadonlySet<string> = new Set([
  'listVideoModels',
  'listImageModels',
  'listMarkets',
  'getOrderBook',
  'listCandles',
]);

test('the committed document is the one that the router makes, byte for byte (else: make openapi)', () => {
  expect(documentText).toBe(text);
  expect(makeDocument(v1Router, v1Facts)).toBe(text);
});

describe('served and described are the same', async () => {
  const edge = await startEdge();
  afterAll(() => edge.stop());

  test('every operation of the document is mounted: without a key it answers 401, or 200 where it needs none, not 404', async () => {
    for (const { method, path, operation } of operations) {
      const answer = await fetch(`${edge.url}/v1${path}`, { method: method.toUpperCase() });
      expect(answer.status, path).toBe(PUBLIC.has(operation.operationId) ? 200 : 401);
    }
  });

  test('nothing else is mounted below /v1 but what a browser asks before it reads what is public', () => {
    const mounted = edge.app.router.stack.flatMap(({ route }) =>
      route === undefined
        ? []
        : route.stack.map((layer) => `${layer.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`),
    );
    const described = operations.flatMap(({ method, path, operation: { operationId } }) =>
      [method, ...(PUBLIC.has(operationId) ? ['options'] : [])].map((each) => `${each} /v1${path}`),
    );
    expect(mounted.filter((each) => each.includes('/v1')).sort()).toEqual(described.sort());
  });
});

describe('every answer is described', () => {
  test.each(routes.map((route) => route.facts))(
    '$operationId: each code it can answer has its status',
    (facts) => {
      const operation = operations.find(
        ({ operation: { operationId } }) => operationId === facts.operationId,
      );
      const codesByStatus = new Map<string, string[]>();
      for (const code of errorsOf(facts)) {
        const status = String(errorStatus(code, shapeOfPath(facts.path)));
        codesByStatus.set(status, [...(codesByStatus.get(status) ?? []), code]);
        expect(operation?.operation.responses[status], code).toBeDefined();
      }
      expect(operation?.operation['x-error-codes']).toEqual(Object.fromEntries(codesByStatus));
    },
  );

  test('every code of the table has an example in the response of its status', () => {
    for (const [code, { status }] of Object.entries(errorTable)) {
      const content = document.components.responses[`Error${status}`].content['application/json'];
      expect(content.examples[code].value.error.code).toBe(code);
    }
  });

  test('the codes of markets have responses of their own, in their own shape', () => {
    for (const [code, { status, message }] of Object.entries(marketErrorTable)) {
      const { content, headers } = document.components.responses[`MarketError${status}`];
      expect(content['application/json'].examples[code].value).toEqual({ error: { code, message } });
      expect(Object.keys(headers)).toContain('x-used-weight-1m');
    }
    const { schemas, responses } = document.components;
    const others = JSON.stringify([schemas.ErrorDetail, schemas.MessagesErrorDetail, responses.Error400]);
    expect(others).not.toContain('invalid_depth');
    expect(schemas.MarketErrorDetail.properties.code['x-extensible-enum']).toEqual(
      Object.keys(marketErrorTable),
    );
  });

  test('refusals that name a wait document its headers', () => {
    for (const status of [429, 503]) {
      expect(Object.keys(document.components.responses[`Error${status}`].headers)).toEqual(
        expect.arrayContaining(['retry-after', 'retry-after-ms', 'x-should-retry', 'x-service-call-id']),
      );
    }
    expect(document.components.responses.Error401.headers).toHaveProperty('www-authenticate');
  });

  const ASKED = {
    provider: { id: 'any', apiKey: null, baseUrl: 'https://provider.example/v1' },
    upstreamModel: 'any/model',
    publicModel: 'any/model',
    contextTokens: 1,
  };

  test('an error that may come after the hold documents what was held, and no other does', () => {
    const statuses = Array.from({ length: 200 }, (_, index) => 400 + index);
    const fromProvider = statuses.map((status) => readUpstreamError(status, {}, ASKED).error.code);
    const afterHold = [...fromProvider, 'gateway_error', 'upstream_timeout', 'service_unavailable'] as const;
    const beforeHold = ['invalid_api_key', 'insufficient_balance', 'rate_limited'] as const;
    const headersOf = (code: ErrorCode): string[] =>
      Object.keys(document.components.responses[`Error${errorStatus(code, 'chat')}`].headers);
    for (const code of afterHold) expect(headersOf(code), code).toContain('x-hold-usd');
    for (const code of beforeHold) expect(headersOf(code), code).not.toContain('x-hold-usd');
  });

  test('a chat completion answers as JSON or as events, with the headers of a call', () => {
    const answer = document.paths['/chat/completions'].post.responses['200'];
    expect(Object.keys(answer.content)).toEqual(['application/json', 'text/event-stream']);
    expect(Object.keys(answer.headers)).toEqual([
      'x-service-call-id',
      'x-request-id',
      'x-generation-id',
      'x-hold-usd',
      'x-ignored-fields',
    ]);
    expect(document.components.schemas.ChatCompletionEvent.properties.data['x-event-schema']).toEqual({
      $ref: '#/components/schemas/ChatCompletionChunk',
    });
  });
});

test('every event of a stream says what its data is, whichever call sends it', () => {
  const streams = operations.flatMap(({ operation: { responses } }) => {
    const ref = Object(responses['200']).content?.['text/event-stream']?.schema.$ref;
    return ref === undefined ? [] : [ref.split('/').at(-1)];
  });
  expect(streams).toEqual(expect.arrayContaining(['ChatCompletionEvent', 'ImageEvent']));
  for (const name of streams) {
    const { data } = document.components.schemas[name].properties;
    const payload = data['x-event-schema'].$ref.split('/').at(-1);
    expect(payload, name).not.toBe(name);
    expect(Object.keys(document.components.schemas[payload].properties), name).not.toContain('data');
  }
  expect(document.components.schemas.ImageStreamEvent.properties).toHaveProperty('b64_json');
});

test('the lists that a client may keep say so in the headers that they have', () => {
  const lists = ['/models', '/videos/models', '/images/models'];
  for (const path of [...lists, ...Object.keys(document.paths).filter((each) => each.startsWith('/dex'))]) {
    const { headers } = document.paths[path].get.responses['200'];
    expect(Object.keys(headers), path).toEqual(expect.arrayContaining(['etag', 'cache-control']));
    const unchanged = document.paths[path].get.responses['304'];
    expect(unchanged, path).toMatchObject({ headers });
    expect(unchanged, path).not.toHaveProperty('content');
  }
});

test('a parameter of markets documents which values it takes, and which it has by itself', () => {
  const parametersOf = (path: string) =>
    document.paths[path].get.parameters
      .filter((each: { in: string }) => each.in === 'query')
      .map(({ name, required, schema }: { name: string; required?: boolean; schema: object }) => [
        name,
        required,
        schema,
      ]);
  expect(parametersOf('/dex/markets/{id}/book')).toMatchObject([
    ['depth', undefined, { type: 'integer', minimum: 1, maximum: 100, default: 20 }],
  ]);
  expect(parametersOf('/dex/markets/{id}/candles')).toMatchObject([
    ['interval', undefined, { enum: ['1m', '5m', '15m', '1h', '4h', '1d'], default: '1h' }],
    ['limit', undefined, { type: 'integer', minimum: 1, maximum: 1_000, default: 200 }],
  ]);
});

test('an order of a video documents its key and where it is read; its file, a redirection without a body', () => {
  const { parameters, responses, description } = document.paths['/videos'].post;
  expect(description).toContain('in the making (20, unless');
  expect(parameters).toMatchObject([
    { name: 'Idempotency-Key', in: 'header', schema: { pattern: '^[A-Za-z0-9_-]{8,64}$' } },
  ]);
  expect(Object.keys(responses)).toContain('202');
  expect(Object.keys(responses)).not.toContain('200');
  expect(responses['202'].headers).toHaveProperty('location');
  const redirected = document.paths['/videos/{id}/content'].get.responses['302'];
  expect(redirected.headers).toHaveProperty('location');
  expect(redirected).not.toHaveProperty('content');
});

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

  test('every object of the document takes fields that it does not name', () => {
    for (const [name, schema] of schemas) {
      if (schema.type !== 'object') continue;
      expect(schema.additionalProperties, name).toBe(!strictRequests.has(name));
    }
  });

  test('no enum is closed, no number is read in 32 bits, no bound is a float artefact', () => {
    const walk = (node: unknown, path: string): void => {
      if (Array.isArray(node)) for (const [index, each] of node.entries()) walk(each, `${path}[${index}]`);
      if (!isRecord(node)) return;
      const { type, format, maximum } = node;
      if (type === 'string') expect(Array.isArray(node.enum), path).toBe(false);
      if (type === 'integer' && typeof maximum !== 'number') expect(format, path).toBe('int64');
      if (type === 'number') expect(format, path).toBe('double');
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
    for (const [name] of schemas) expect(name).not.toMatch(/(Output|Input|Inner|Response200)$/);
    expect(document.paths['/chat/completions'].post.requestBody.content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/ChatCompletionRequest',
    });
  });

  test('operations are named, tagged, described, and say how to authenticate', () => {
    expect(operations.map(({ operation }) => operation.operationId)).toEqual([
      'createChatCompletion',
      'createResponse',
      'createMessage',
      'listModels',
      'listVideoModels',
      'listImageModels',
      'createVideo',
      'getVideo',
      'getVideoContent',
      'createImage',
      'createUpload',
      'getBalance',
      'listMarkets',
      'getOrderBook',
      'listCandles',
    ]);
    const tags = document.tags.map((tag: { name: string }) => tag.name);
    for (const { operation } of operations) {
      expect(tags).toEqual(expect.arrayContaining(operation.tags));
      const isPublic = PUBLIC.has(operation.operationId);
      expect(operation.security).toEqual(isPublic ? [] : [{ bearer: [] }, { apiKey: [] }]);
      expect(operation.description).toMatch(/\.$/);
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
    expect(finish(schemas, ['A']).A.additionalProperties).toBe(true);
    expect(finish(schemas, ['A'], true).A.additionalProperties).toBe(false);
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
    expect(A.properties.two).toEqual({ oneOf: [{ type: 'string' }, { type: 'number' }] });
    expect(A.properties.nested).toEqual({ oneOf: [{ type: 'string' }, { type: 'array' }, { type: 'null' }] });
    expect(A.properties.maybe).toEqual({
      type: ['string', 'null'],
      description: 'Text. One of: a, b. New values may be added.',
      'x-extensible-enum': ['a', 'b'],
    });
  });
});
