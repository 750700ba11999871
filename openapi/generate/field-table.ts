import type { Catalog, FormatName, Model, Prices, Provider } from '#core/catalog/catalog.ts';
import type { Dialect } from '#core/catalog/dialect.ts';
import { systemClock } from '#core/clock.ts';
import { isRecord } from '#core/is-record.ts';
import { type ApiError, isApiError } from '../../api/contract/errors.ts';
import { admitCall } from '../../api/inference/admit/admit.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { createEndpointHealth } from '../../api/inference/routing/endpoint-health.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { markdownTable } from './markdown-table.ts';

/*
 * The table of what becomes of each field at each kind of provider, as the code decides it: every cell is a request with the field in it, which
 * is admitted, and whose body for the provider is compared with that of the same request without it.
 */

/** A field of a format, with a value that asks for something. */
export interface KnownField {
  name: string;
  sample: object;
}

const field = (name: string, value: unknown): KnownField => ({
  name,
  sample: nested(name.split('.'), value),
});

function nested([name = '', ...rest]: readonly string[], value: unknown): object {
  return { [name]: rest.length === 0 ? value : nested(rest, value) };
}

const tool = { type: 'function', function: { name: 'get', parameters: { type: 'object' } } };
const named = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } };

/** In the order of the table. */
export const knownFields: Readonly<Record<FormatName, readonly KnownField[]>> = {
  chat: [
    field('temperature', 0.5),
    field('top_p', 0.5),
    field('top_k', 5),
    field('min_p', 0.1),
    field('stop', ['x']),
    field('seed', 7),
    field('n', 2),
    field('frequency_penalty', 0.5),
    field('presence_penalty', 0.5),
    field('repetition_penalty', 1.1),
    field('logit_bias', { 1: 1 }),
    field('logprobs', true),
    field('top_logprobs', 2),
    field('tools', [tool]),
    field('tool_choice', 'required'),
    field('functions', [{ name: 'put', parameters: { type: 'object' } }]),
    field('function_call', 'none'),
    field('parallel_tool_calls', false),
    field('response_format', named),
    field('reasoning_effort', 'high'),
    field('reasoning.max_tokens', 2_000),
    field('reasoning.exclude', true),
    field('verbosity', 'low'),
    field('prediction', { type: 'content', content: 'x' }),
    field('modalities', ['text']),
    field('service_tier', 'priority'),
    field('store', true),
    field('user', 'x'),
    field('metadata', { a: 'b' }),
    field('prompt_cache_key', 'x'),
    field('session_id', 'x'),
    field('safety_identifier', 'x'),
    field('cache_control', { type: 'ephemeral' }),
    field('trace', { trace_id: 'x' }),
    field('client_metadata', { a: 'b' }),
    field('transforms', ['middle-out']),
    field('provider.order', ['a']),
  ],
  responses: [
    field('instructions', 'x'),
    field('temperature', 0.5),
    field('top_p', 0.5),
    field('top_logprobs', 2),
    field('tools', [{ type: 'function', name: 'get', parameters: { type: 'object' } }]),
    field('tool_choice', 'required'),
    field('parallel_tool_calls', false),
    field('max_tool_calls', 3),
    field('reasoning.effort', 'high'),
    field('reasoning.summary', 'auto'),
    field('text.format', { type: 'json_schema', name: 'a', schema: { type: 'object' } }),
    field('text.verbosity', 'low'),
    field('include', ['reasoning.encrypted_content']),
    field('truncation', 'auto'),
    field('previous_response_id', 'resp_1'),
    field('background', true),
    field('store', true),
    field('service_tier', 'priority'),
    field('client_metadata', { a: 'b' }),
    field('user', 'x'),
    field('metadata', { a: 'b' }),
    field('prompt_cache_key', 'x'),
    field('safety_identifier', 'x'),
  ],
  messages: [
    field('system', 'x'),
    field('temperature', 0.5),
    field('top_p', 0.5),
    field('top_k', 5),
    field('stop_sequences', ['x']),
    field('tools', [{ name: 'get', input_schema: { type: 'object' } }]),
    field('tool_choice', { type: 'any' }),
    field('thinking', { type: 'enabled', budget_tokens: 1_024 }),
    field('output_config.effort', 'high'),
    field('output_config.format', { type: 'json_schema', schema: { type: 'object' } }),
    field('output_config.task_budget', { type: 'tokens', total: 9 }),
    field('context_management', { edits: [{ type: 'clear_tool_uses_20250919' }] }),
    field('cache_control', { type: 'ephemeral' }),
    field('diagnostics', { previous_message_id: 'x' }),
    field('container', 'x'),
    field('thread', { type: 'create' }),
    field('compaction', { type: 'summarize' }),
    field('mcp_servers', [{ url: 'https://example.com' }]),
    field('service_tier', 'auto'),
    field('metadata', { user_id: 'x' }),
  ],
};

/** The least of a request in each format. */
export const plainRequest: Readonly<Record<FormatName, object>> = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'x' }], tools: [tool] },
  responses: {
    model: 'm',
    input: [{ role: 'user', content: 'x' }],
    tools: [{ type: 'function', name: 'get', parameters: { type: 'object' } }],
  },
  messages: {
    model: 'm',
    max_tokens: 4_000,
    messages: [{ role: 'user', content: 'x' }],
    tools: [{ name: 'get', input_schema: { type: 'object' } }],
  },
};

export type Fate = 'passed' | 'translated' | 'by the gateway' | 'left out' | 'refused';

/** A kind of provider, as the table names it. */
export interface Target {
  name: string;
  kind: keyof typeof providerKinds;
  dialect: Dialect;
  formats: readonly FormatName[];
}

const ALL: readonly FormatName[] = ['chat', 'responses', 'messages'];

/** The kinds of providers, as columns. */
export const targets: readonly Target[] = [
  { name: 'its own format', kind: 'openai', dialect: dialects.other, formats: ALL },
  { name: 'its own format, own server', kind: 'openai', dialect: dialects['self-hosted'], formats: ALL },
  { name: 'chat alone', kind: 'openai', dialect: dialects.other, formats: ['chat'] },
  { name: 'messages alone', kind: 'anthropic', dialect: dialects.other, formats: ['messages'] },
];

const noPrices: Prices = {
  ...{ prompt: 1n, completion: 1n, request: 0n, cacheRead: null, cacheWrite: null, cacheWrite1h: null },
  ...{ internalReasoning: null, image: null, webSearch: null, overrides: [] },
};

/** One model at one provider of this kind. */
function catalogOf({ kind, dialect, formats }: Target): Catalog {
  const provider: Provider = {
    ...{ id: 'p', kind: providerKinds[kind], formats, dialect, cancel: 'stops_billing', apiKey: null },
    ...{ baseUrl: 'http://127.0.0.1:1/v1', settings: {}, priceFactorPpm: 1_000_000n, stopped: false },
  };
  const endpoint = { providerId: 'p', upstreamModel: 'claude-opus-4-8', prices: noPrices };
  const model: Model = {
    ...{ id: 'm', name: 'M', contextLength: 100_000, maxOutputTokens: 4_000, inputModalities: ['text'] },
    ...{ createdAtMs: null, about: null },
    endpoints: [{ ...endpoint, contextLength: null, maxOutputTokens: null }],
  };
  return {
    find: () => ({ status: 'served', model }),
    models: () => [model],
    findVideoModel: () => ({ status: 'unknown', nearest: [] }),
    videoModels: () => [],
    findImageModel: () => ({ status: 'unknown', nearest: [] }),
    imageModels: () => [],
    provider: () => provider,
    providers: () => [provider],
    gatewayStopped: () => false,
  };
}

const health = createEndpointHealth({
  clock: systemClock,
  probe: null,
  log: { info() {}, warn() {}, error() {} },
  current: () => undefined,
});

/** How a request fares at a provider of this kind: what it is sent, and the names of what it is not. */
export function askTarget(
  format: FormatName,
  body: object,
  target: Target,
): { sent: Record<string, unknown>; leftOut: readonly string[]; hints: readonly string[] } | ApiError {
  const links = { ownerOf: () => FOREIGN, linksMax: 0 };
  const routes = { catalog: catalogOf(target), health, links, betas: BETAS };
  const admitted = admitCall(callFormats[format], Buffer.from(JSON.stringify(body)), 'active', routes);
  if (!admitted.ok) return admitted.error;
  const { plan } = admitted;
  const [candidate] = plan.candidates;
  if (candidate === undefined) throw new Error('A plan has no candidate.');
  const asked = { ...plan, body: candidate.translated ?? plan.body };
  const sent = JSON.parse(candidate.format.buildBody(asked, candidate, 1).toString());
  return { sent, leftOut: candidate.leftOut, hints: candidate.hints };
}

const FOREIGN = { kind: 'foreign' } as const;
/** A caller switches on those that a field needs. */
const BETAS = 'context-management-2025-06-27,task-budgets-2026-03-13';

export function fateOf(format: FormatName, { name, sample }: KnownField, target: Target): Fate {
  const asked = askTarget(format, { ...plainRequest[format], ...sample }, target);
  if (isApiError(asked)) return 'refused';
  if ([...asked.leftOut, ...asked.hints].some((each) => isWithin(each, name))) return 'left out';
  const [top = ''] = name.split('.');
  const { [top]: _, ...others }: Record<string, unknown> = { ...plainRequest[format] };
  const without = askTarget(format, others, target);
  if (!isApiError(without) && JSON.stringify(without.sent) === JSON.stringify(asked.sent))
    return 'by the gateway';
  const isSame = JSON.stringify(valueAt(asked.sent, name)) === JSON.stringify(valueAt(sample, name));
  return isSame ? 'passed' : 'translated';
}

/** Whether a name is that of the field, or of a part of it. */
const isWithin = (name: string, field: string): boolean =>
  name === field || name.startsWith(`${field}.`) || name.startsWith(`${field}[`);

const valueAt = (value: unknown, path: string): unknown =>
  path.split('.').reduce((inside, name) => (isRecord(inside) ? inside[name] : undefined), value);

const fieldTable = (format: FormatName): string =>
  markdownTable(
    ['field', ...targets.map(({ name }) => `a provider of ${name}`)],
    knownFields[format].map((known) => [
      `\`${known.name}\``,
      ...targets.map((target) => fateOf(format, known, target)),
    ]),
  );

export const chatFields = (): string => fieldTable('chat');
export const responsesFields = (): string => fieldTable('responses');
export const messagesFields = (): string => fieldTable('messages');
