import { afterAll, describe, expect, test } from 'vitest';
import { errorStatus } from '../../api/contract/error-body.ts';
import { type ErrorCode, errorTable } from '../../api/contract/errors.ts';
import { marketErrorTable } from '../../api/contract/market-errors.ts';
import { errorsOf, readRoutes, shapeOfPath } from '../../api/contract/route.ts';
import { readUpstreamError } from '../../api/inference/upstream/upstream-error.ts';

import { v1Router } from '../../api/routers/router.ts';
import { v1Facts } from '../../openapi/generate/document-facts.ts';

import { makeDocument } from '../../openapi/generate/make-document.ts';
import { documentText, startEdge } from '../support/edge-app.ts';

interface Operation {
  operationId: string;
  description: string;
  tags: string[];
  security: object[];
  requestBody?: object;
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
  });

  test('every operation says in which shape an error with any other status comes', () => {
    for (const { path, operation } of operations) {
      // Behind a redirect any other status is the file's.
      if ('302' in operation.responses) {
        expect(operation.responses).not.toHaveProperty('default');
        continue;
      }
      const { $ref } = Object(operation.responses.default);
      const { content } = document.components.responses[$ref.split('/').at(-1)];
      const listed = Object.values<{ $ref?: string }>(Object(operation.responses))
        .flatMap((each) => (each.$ref === undefined ? [] : [each.$ref.split('/').at(-1) ?? '']))
        .map((name) => document.components.responses[name].content['application/json'].schema.$ref);
      expect(new Set(listed), path).toEqual(new Set([content['application/json'].schema.$ref]));
    }
  });
});

describe('a stream', () => {
  interface Stream {
    schema: { type: string; 'x-event-schema': { $ref: string } };
    examples: Record<string, { value: string }>;
  }
  const streams = operations.flatMap(({ operation: { operationId, responses } }): [string, Stream][] => {
    const stream = Object(responses['200']).content?.['text/event-stream'];
    return stream === undefined ? [] : [[operationId, stream]];
  });
  const calls = ['createChatCompletion', 'createResponse', 'createMessage', 'createImage'];

  test('is a text, and says by which schema the data of its events is read, whichever call sends it', () => {
    expect(streams.map(([operationId]) => operationId)).toEqual(calls);
    const names = streams.map(([, { schema }]) => [
      schema.type,
      schema['x-event-schema'].$ref.split('/').at(-1),
    ]);
    expect(names).toEqual([
      ['string', 'ChatCompletionChunk'],
      ['string', 'ResponsesStreamEvent'],
      ['string', 'MessagesStreamEvent'],
      ['string', 'ImageStreamEvent'],
    ]);
    expect(document.components.schemas.ImageStreamEvent.properties).toHaveProperty('b64_json');
  });

  test.each(streams)('of %s is shown whole, as it is sent', (operationId, { schema, examples }) => {
    const { properties } = document.components.schemas[schema['x-event-schema'].$ref.split('/').at(-1) ?? ''];
    const texts = Object.values(examples).map(({ value }) => value);
    expect(texts).toHaveLength(1);
    expect(texts[0]).toMatch(/\n\n$/);
    const events = (texts[0] ?? '').split('\n\n').slice(0, -1);
    expect(events.length).toBeGreaterThan(2);
    for (const event of events) {
      const [, name, data = ''] = /^(?:event: (\S+)\n)?data: (.+)$/.exec(event) ?? [];
      if (data === '[DONE]') continue;
      const { type, ...others } = JSON.parse(data);
      expect(name).toBe(['createResponse', 'createMessage'].includes(operationId) ? type : undefined);
      for (const field of Object.keys(others)) expect(Object.keys(properties), event).toContain(field);
    }
  });
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
