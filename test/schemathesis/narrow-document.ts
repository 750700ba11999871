import { documentText } from '../support/edge-app.ts';

/** Every call of this document names a model that is served and says who speaks, so that it comes as far as the provider. */
export function narrowToCalls(model: string, stream: boolean): object {
  const document = wholeDocument();
  const { schemas } = document.components;
  for (const name of ['ChatCompletionRequest', 'ResponsesRequest', 'MessagesRequest']) {
    const { properties, required } = schemas[name];
    required.push('stream');
    properties.model = { const: model };
    properties.stream = { const: stream };
    properties.tools = { const: [] };
    properties.models = { const: [] };
  }
  for (const name of ['ChatMessage', 'Message', 'InputItem']) {
    schemas[name] = {
      type: 'object',
      required: ['role', 'content'],
      properties: { role: { const: 'user' }, content: { type: 'string', minLength: 1 } },
      additionalProperties: false,
    };
  }
  return document;
}

/** Every order names a model that is served, and no field of its own that this model may not list. */
export function narrowToMedia(): object {
  const document = wholeDocument();
  const orders = {
    ImageRequest: { model: 'faregate-sim/paint' },
    VideoRequest: { model: 'faregate-sim/clip', duration: 1, resolution: '480p', aspect_ratio: '16:9' },
  };
  for (const [name, order] of Object.entries(orders)) {
    const fixed = Object.entries(order).map(([field, value]) => [field, { const: value }]);
    document.components.schemas[name] = {
      type: 'object',
      required: ['prompt', ...Object.keys(order)],
      properties: {
        prompt: { type: 'string', minLength: 1, maxLength: 100 },
        ...Object.fromEntries(fixed),
      },
      additionalProperties: false,
    };
  }
  return document;
}

/** Every read is of that market, so that its parameters decide. */
export function narrowToMarket(market: string): object {
  const document = wholeDocument();
  for (const read of ['book', 'candles']) {
    const { parameters } = document.paths[`/dex/markets/{id}/${read}`].get;
    parameters.find(({ name }: { name: string }) => name === 'id').schema = { const: market };
  }
  return document;
}

/** What needs a key answers 401 and nothing else, before it has read what was sent. */
export function narrowToStrangers(): object {
  const document = wholeDocument();
  for (const item of Object.values<Record<string, DescribedOperation>>(document.paths)) {
    for (const operation of Object.values(item)) {
      if (operation.security.length === 0) continue;
      operation.responses = { 401: operation.responses['401'] };
      delete operation.requestBody;
    }
  }
  return document;
}

interface DescribedOperation {
  security: object[];
  requestBody?: object;
  responses: Record<string, unknown>;
}

/** Schemathesis checks a stream event by event, each as an object, where the document describes the whole as a text. */
export function wholeDocument() {
  const document = JSON.parse(documentText);
  for (const item of Object.values<Record<string, DescribedOperation>>(document.paths)) {
    for (const { responses } of Object.values(item)) {
      const stream = Object(responses['200']).content?.['text/event-stream'];
      if (stream === undefined) continue;
      delete stream.examples;
      stream.schema = {
        type: 'object',
        properties: { event: { type: 'string' }, data: { type: 'string' } },
        required: ['data'],
      };
    }
  }
  return document;
}
