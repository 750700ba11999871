import type { OpenAPIObject } from 'trpc-to-openapi';
import { type AnyErrorCode, errorBody, errorStatus } from '../../api/contract/error-body.ts';
import {
  type ApiError,
  apiError,
  type ErrorRow,
  type ErrorShape,
  errorCodes,
  errorTable,
} from '../../api/contract/errors.ts';
import { type HeaderName, headerDocs, requestHeaderDocs } from '../../api/contract/headers.ts';
import {
  type MarketError,
  type MarketErrorCode,
  marketError,
  marketErrorTable,
} from '../../api/contract/market-errors.ts';
import { errorsOf, type Route, type RouteFacts, shapeOfPath } from '../../api/contract/route.ts';

type PathItem = NonNullable<OpenAPIObject['paths']>[string];
type Operation = NonNullable<PathItem['get']>;
type Components = NonNullable<OpenAPIObject['components']>;

type Described = Pick<Route<never, never>, 'facts' | 'input'>;

/** Adds to every operation what the generator cannot say. Changes `document` in place. */
export function finishOperations(document: OpenAPIObject, routes: readonly Described[]): void {
  const components = document.components ?? {};
  document.components = components;
  const holds = routes.some(({ facts }) => facts.headers?.includes('x-hold-usd'));
  for (const route of routes) {
    const { facts } = route;
    const operation = operationOf(document, facts);
    nameRequestBody(operation, components, route);
    listRequestHeaders(operation, facts);
    describeAnswer(operation, components, facts);
    describeUnchanged(operation, components, facts);
    listErrors(operation, components, facts, holds);
    // Absent would mean the same, but linters take an absent security for a forgotten one.
    if (facts.auth === 'none') operation.security = [];
    if (operation.parameters?.length === 0) delete operation.parameters;
  }
}

function operationOf(document: OpenAPIObject, { method, path, operationId }: RouteFacts): Operation {
  const item = document.paths?.[path];
  const operation = Object.entries(item ?? {}).find(([name]) => name === method.toLowerCase())?.[1];
  if (operation === undefined) throw new Error(`The generator left out ${operationId}.`);
  return operation;
}

/** The generator inlines a body's schema; without a name every SDK would invent one. */
function nameRequestBody(operation: Operation, components: Components, { facts, input }: Described): void {
  const body = operation.requestBody;
  const json = body !== undefined && 'content' in body ? body.content['application/json'] : undefined;
  if (json?.schema === undefined) return;
  const hasPathParameter = facts.path.includes('{');
  const name =
    (hasPathParameter ? undefined : input?.meta()?.id) ?? `${capitalize(facts.operationId)}Request`;
  components.schemas = { ...components.schemas, [name]: json.schema };
  json.schema = schemaRef(name);
  if (facts.examples.request !== undefined) json.examples = { default: { value: facts.examples.request } };
}

function listRequestHeaders(operation: Operation, { requestHeaders = [] }: RouteFacts): void {
  if (requestHeaders.length === 0) return;
  const listed = requestHeaders.map((name) => ({ name, in: 'header' as const, ...requestHeaderDocs[name] }));
  operation.parameters = [...(operation.parameters ?? []), ...listed];
}

function describeAnswer(operation: Operation, components: Components, facts: RouteFacts): void {
  const answer = operation.responses?.['200'];
  if (facts.status !== undefined && operation.responses !== undefined) {
    delete operation.responses['200'];
    operation.responses[facts.status] = answer;
  }
  if (facts.status === 302 && answer !== undefined) delete answer.content;
  if (answer !== undefined) answer.headers = headerRefs(components, facts.headers ?? []);
  const json = answer?.content?.['application/json'];
  if (json === undefined) return;
  json.examples = { default: { value: facts.examples.answer } };
  const eventSchema = facts.event?.meta()?.id;
  if (eventSchema === undefined) return;
  answer.content['text/event-stream'] = {
    schema: streamSchema(eventSchema),
    examples: { default: { value: writeStream(facts) } },
  };
}

/** An answer that has an etag is told from the one that the client has. */
function describeUnchanged(operation: Operation, components: Components, { headers = [] }: RouteFacts): void {
  if (!headers.includes('etag')) return;
  const unchanged = {
    description: 'Nothing has changed since the answer whose `etag` was sent as `If-None-Match`; no body.',
    headers: headerRefs(components, headers),
  };
  operation.responses = { ...operation.responses, 304: unchanged };
}

/** A whole stream is a text to every generator. OpenAPI 3.1 has no place for the schema of one event, so an extension names it. */
const streamSchema = (eventSchema: string) => ({
  type: 'string' as const,
  description: `Server-sent events. The \`data\` of each is JSON of ${eventSchema}, or \`[DONE]\` at the end.`,
  'x-event-schema': schemaRef(eventSchema),
});

/** As the gateway sends it. */
const writeStream = ({ examples: { events = [] }, namesEvents }: RouteFacts): string =>
  events.map((data) => `${namesEvents ? `event: ${JSON.parse(data).type}\n` : ''}data: ${data}\n\n`).join('');

/**
 * One response a status and shape, shared by all operations; which codes an operation answers stands beside.
 */
function listErrors(operation: Operation, components: Components, facts: RouteFacts, holds: boolean): void {
  const shape = shapeOfPath(facts.path);
  const byStatus = groupByStatus(errorsOf(facts), shape);
  for (const status of byStatus.keys()) {
    const name = `${shape === 'chat' ? '' : capitalize(shape)}Error${status}`;
    components.responses = {
      ...components.responses,
      [name]: errorResponse(components, status, shape, holds),
    };
    operation.responses = { ...operation.responses, [status]: { $ref: `#/components/responses/${name}` } };
  }
  operation['x-error-codes'] = Object.fromEntries(byStatus);
  // A client that follows the redirect meets the file's own 200, and would read the file as an error.
  if (facts.status === 302) return;
  const name = `${shape === 'chat' ? '' : capitalize(shape)}ErrorDefault`;
  components.responses = { ...components.responses, [name]: otherError(shape) };
  operation.responses = { ...operation.responses, default: { $ref: `#/components/responses/${name}` } };
}

interface ShownError {
  row: ErrorRow;
  error: ApiError | MarketError;
}

const shownErrors = errorCodes.map((code): ShownError => ({ row: errorTable[code], error: apiError(code) }));
const marketErrorCodes = Object.keys(marketErrorTable) as MarketErrorCode[];
const shownMarketErrors = marketErrorCodes.map(
  (code): ShownError => ({ row: marketErrorTable[code], error: marketError(code) }),
);

function errorResponse(components: Components, status: number, shape: ErrorShape, holds: boolean) {
  const shown = (shape === 'market' ? shownMarketErrors : shownErrors).filter(
    ({ error }) => errorStatus(error.code, shape) === status,
  );
  const rows = shown.map(
    ({ row, error }) => `- \`${error.code}\` (${retryText(row, shape)}): ${error.message}`,
  );
  return {
    description: rows.join('\n'),
    headers: headerRefs(components, errorHeaderNames(status, shape, holds)),
    content: {
      'application/json': {
        schema: schemaRef(errorSchemaName(shape)),
        examples: Object.fromEntries(
          shown.map(({ error }) => [error.code, { value: errorBody(error, shape) }]),
        ),
      },
    },
  };
}

/** A later release may add a code with a status that the operation did not have before. */
const otherError = (shape: ErrorShape) => ({
  description: 'Any other error, with a status that is not listed. Branch on its `code`, then on the status.',
  content: { 'application/json': { schema: schemaRef(errorSchemaName(shape)) } },
});

const errorSchemaName = (shape: ErrorShape): string =>
  `${shape === 'chat' ? '' : capitalize(shape)}ErrorResponse`;

function retryText({ retry, cost }: ErrorRow, shape: ErrorShape): string {
  const what = { fix_first: 'fix first', after_wait: 'retry after the wait', retry: 'retry' }[retry];
  if (shape === 'market') return what;
  return `${what}; ${cost === 'free' ? 'free' : 'charged what the provider recorded, usually nothing'}`;
}

/** A call is refused with these before it holds anything; any other may also come from its provider or end it later. */
const statusesBeforeHold: ReadonlySet<number> = new Set([401, 402, 429]);

const rateHeaders: readonly HeaderName[] = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
];

/** `holds`: the document has calls that hold money. */
function errorHeaderNames(status: number, shape: ErrorShape, holds: boolean): HeaderName[] {
  const names: HeaderName[] = ['x-service-call-id', 'x-request-id'];
  if (shape === 'messages') names.push('request-id');
  if (status === 401) names.push('www-authenticate');
  if (status === 429 || status === 503 || status === 529) names.push('retry-after', 'retry-after-ms');
  if (isFixFirst(status, shape) || status === 429 || (holds && status === 503)) names.push('x-should-retry');
  if (shape === 'market') return [...names, 'x-used-weight-1m'];
  if (status === 429) names.push(...rateHeaders);
  if (holds && !statusesBeforeHold.has(status)) names.push('x-hold-usd');
  if (holds && status !== 401) names.push('x-ignored-fields');
  return names;
}

/** Whether a code of this status is of a request that will be refused again. */
const isFixFirst = (status: number, shape: ErrorShape): boolean =>
  (shape === 'market' ? shownMarketErrors : shownErrors).some(
    ({ row, error }) => row.retry === 'fix_first' && errorStatus(error.code, shape) === status,
  );

function groupByStatus(codes: readonly AnyErrorCode[], shape: ErrorShape): Map<number, AnyErrorCode[]> {
  const byStatus = new Map<number, AnyErrorCode[]>();
  for (const code of codes) {
    const status = errorStatus(code, shape);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}

function headerRefs(components: Components, names: readonly HeaderName[]) {
  const docs = names.map((name) => [name, headerDocs[name]]);
  components.headers = { ...components.headers, ...Object.fromEntries(docs) };
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
