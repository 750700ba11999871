import { isRecord } from '#core/is-record.ts';

export type Json = Record<string, unknown>;
type Change = (document: Json) => unknown;

/** What is done to the document, the check that has to find it, and where. */
export const breakingChanges: [string, string, string, Change][] = [
  [
    'a field of an answer goes',
    'response-required-property-removed',
    'GET /balance',
    (document) => {
      delete properties(document, 'Balance').running_calls;
      schema(document, 'Balance').required = required(document, 'Balance').filter(
        (name) => name !== 'running_calls',
      );
    },
  ],
  [
    'a field that an answer need not have goes',
    'response-optional-property-removed',
    'POST /responses',
    (document) => delete properties(document, 'ResponsesAnswer').output_text,
  ],
  [
    'a field of a stream’s event goes',
    'response-optional-property-removed',
    'POST /chat/completions',
    (document) => delete properties(document, 'ChatCompletionChunk').usage,
  ],
  [
    'a field of an answer may be null',
    'response-property-became-nullable',
    'GET /balance',
    (document) => {
      at(properties(document, 'BalanceAgent'), 'name').type = ['string', 'null'];
    },
  ],
  [
    'a field of an answer may be left out',
    'response-property-became-optional',
    'GET /balance',
    (document) => required(document, 'Balance').splice(0, 1),
  ],
  [
    'a field of an answer is of another type',
    'response-property-type-changed',
    'GET /balance',
    (document) => {
      properties(document, 'Balance').balance_usd = { type: 'number' };
    },
  ],
  [
    'a field of an error goes',
    'response-required-property-removed',
    'POST /videos',
    (document) => {
      delete properties(document, 'ErrorDetail').code;
      schema(document, 'ErrorDetail').required = required(document, 'ErrorDetail').filter(
        (name) => name !== 'code',
      );
    },
  ],
  [
    'a path goes',
    'api-path-removed-without-deprecation',
    'GET /balance',
    (document) => delete at(document, 'paths')['/balance'],
  ],
  [
    'a request needs another field',
    'new-required-request-property',
    'POST /videos',
    (document) => {
      properties(document, 'VideoRequest').account = { type: 'string' };
      required(document, 'VideoRequest').push('account');
    },
  ],
  [
    'a field that could be left out is needed',
    'request-property-became-required',
    'POST /chat/completions',
    (document) => required(document, 'ChatCompletionRequest').push('max_tokens'),
  ],
  [
    'a value of a request is no longer taken',
    'request-parameter-enum-value-removed',
    'GET /dex/markets/{id}/candles',
    (document) => {
      at(parameterNamed(document, '/dex/markets/{id}/candles', 'interval'), 'schema').enum = ['1m', '5m'];
    },
  ],
  [
    'a parameter goes',
    'request-parameter-removed',
    'GET /dex/markets/{id}/book',
    (document) => {
      const parameters = [parameterNamed(document, '/dex/markets/{id}/book', 'id')];
      operation(document, '/dex/markets/{id}/book').parameters = parameters;
    },
  ],
  [
    'a text of a request has to be shorter',
    'request-property-max-length-decreased',
    'POST /videos',
    (document) => {
      at(properties(document, 'VideoRequest'), 'prompt').maxLength = 100;
    },
  ],
  [
    'an answer to success goes',
    'response-success-status-removed',
    'POST /videos',
    (document) => {
      responses(document, '/videos', 'post')['200'] = responses(document, '/videos', 'post')['202'];
      delete responses(document, '/videos', 'post')['202'];
    },
  ],
  [
    'an error that was described goes',
    'response-non-success-status-removed',
    'POST /messages',
    (document) => delete responses(document, '/messages', 'post')['529'],
  ],
  [
    'an operation has another id',
    'api-operation-id-removed',
    'GET /balance',
    (document) => {
      operation(document, '/balance').operationId = 'readBalance';
    },
  ],
  [
    'an operation has another tag, which is the class of some clients',
    'api-tag-removed',
    'GET /balance',
    (document) => {
      operation(document, '/balance').tags = ['Money'];
    },
  ],
  [
    'a schema has another name, which is a type of clients',
    'api-schema-removed',
    'components',
    (document) => {
      const schemas = at(document, 'components', 'schemas');
      schemas.BalanceOwner = schemas.BalanceAgent;
      delete schemas.BalanceAgent;
      properties(document, 'Balance').agent = { $ref: '#/components/schemas/BalanceOwner' };
    },
  ],
  [
    'what was public needs a key',
    'api-security-added',
    'GET /videos/models',
    (document) => {
      operation(document, '/videos/models').security = [{ bearer: [] }];
    },
  ],
  [
    'a way to send the key goes',
    'api-security-removed',
    'GET /balance',
    (document) => {
      operation(document, '/balance').security = [{ bearer: [] }];
    },
  ],
  [
    'a media type goes',
    'response-media-type-removed',
    'POST /chat/completions',
    (document) =>
      delete at(responses(document, '/chat/completions', 'post'), '200', 'content')['text/event-stream'],
  ],
  [
    'the header that has the key is another',
    'security-scheme-changed',
    'components',
    (document) => {
      at(document, 'components', 'securitySchemes', 'apiKey').name = 'api-key';
    },
  ],
  [
    'its address is another',
    'server-removed',
    'components',
    (document) => {
      document.servers = [{ url: '/v2' }];
    },
  ],
  [
    'a parameter of a path has another name, which is an argument of clients',
    'path-parameter-renamed',
    'GET /videos/{id}',
    (document) => {
      const paths = at(document, 'paths');
      const renamed = JSON.stringify(paths['/videos/{id}']).replaceAll('"name":"id"', '"name":"video_id"');
      paths['/videos/{video_id}'] = JSON.parse(renamed);
      delete paths['/videos/{id}'];
    },
  ],
  [
    'a code of an error goes',
    'error-code-removed',
    'GET /videos/{id}/content',
    (document) => {
      at(operation(document, '/videos/{id}/content'), 'x-error-codes')['404'] = ['not_found'];
    },
  ],
  [
    'a request takes no fields any more that nobody named',
    'request-additional-properties-forbidden',
    'POST /chat/completions',
    (document) => {
      schema(document, 'ChatMessage').additionalProperties = false;
    },
  ],
  [
    'a header of an answer goes',
    'optional-response-header-removed',
    'POST /chat/completions',
    (document) => delete at(responses(document, '/chat/completions', 'post'), '200', 'headers')['x-hold-usd'],
  ],
];

/** What any client has to bear. */
export const harmlessChanges: [string, Change][] = [
  [
    'a field is added to an answer',
    (document) => {
      properties(document, 'Balance').earned_usd = { type: 'string' };
      required(document, 'Balance').push('earned_usd');
    },
  ],
  [
    'a field is added to a stream’s event',
    (document) => {
      properties(document, 'ChatCompletionChunk').note = { type: 'string' };
    },
  ],
  [
    'a request takes another field',
    (document) => {
      properties(document, 'VideoRequest').style = { type: 'string' };
    },
  ],
  [
    'a path is deprecated',
    (document) => {
      operation(document, '/balance').deprecated = true;
    },
  ],
  [
    'a path is added',
    (document) => {
      at(document, 'paths')['/account'] = {
        get: { ...operation(document, '/balance'), operationId: 'getAccount' },
      };
    },
  ],
  [
    'another way to send the key, another address and another code of an error are described',
    (document) => {
      at(document, 'components', 'securitySchemes').cookie = { type: 'apiKey', in: 'cookie', name: 'key' };
      document.servers = [{ url: '/v1' }, { url: '/api/v1' }];
      at(operation(document, '/balance'), 'x-error-codes')['500'] = ['gateway_error', 'other_error'];
    },
  ],
  [
    'a description is other',
    (document) => {
      operation(document, '/balance').description = 'What the agent has.';
    },
  ],
  [
    'an answer has a new value, where enums are open',
    (document) => {
      const status = at(properties(document, 'Video'), 'status');
      status['x-extensible-enum'] = ['pending', 'in_progress', 'completed', 'failed', 'expired', 'paused'];
    },
  ],
  [
    'a parameter takes another value',
    (document) => {
      const values = ['1m', '5m', '15m', '1h', '4h', '1d', '1w'];
      at(parameterNamed(document, '/dex/markets/{id}/candles', 'interval'), 'schema').enum = values;
    },
  ],
  [
    'a field need not be sent any more',
    (document) => {
      schema(document, 'VideoRequest').required = required(document, 'VideoRequest').filter(
        (name) => name !== 'duration',
      );
    },
  ],
  [
    'another error is described',
    (document) => {
      responses(document, '/balance')['429'] = { $ref: '#/components/responses/Error429' };
    },
  ],
  [
    'another header is in an answer',
    (document) => {
      at(responses(document, '/balance'), '200', 'headers')['x-new'] = { schema: { type: 'string' } };
    },
  ],
];

/** What stands at that place. A document that has moved on has to move these tests, too. */
export function at(document: Json, ...path: readonly string[]): Json {
  let found: unknown = document;
  for (const step of path) found = isRecord(found) ? found[step] : undefined;
  if (!isRecord(found)) throw new Error(`The document has no ${path.join(' > ')}.`);
  return found;
}

const schema = (document: Json, name: string): Json => at(document, 'components', 'schemas', name);
const properties = (document: Json, name: string): Json => at(schema(document, name), 'properties');
export const operation = (document: Json, path: string, method = 'get'): Json =>
  at(document, 'paths', path, method);
const responses = (document: Json, path: string, method = 'get'): Json =>
  at(operation(document, path, method), 'responses');
const required = (document: Json, name: string): string[] => {
  const names = schema(document, name).required;
  if (!Array.isArray(names)) throw new Error(`${name} requires nothing.`);
  return names;
};
const parameterNamed = (document: Json, path: string, name: string): Json => {
  const { parameters } = operation(document, path);
  const found = Array.isArray(parameters) ? parameters.find((each) => each.name === name) : undefined;
  if (!isRecord(found)) throw new Error(`${path} has no parameter ${name}.`);
  return found;
};
