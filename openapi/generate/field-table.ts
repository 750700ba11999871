import type { FormatName } from '#core/catalog/catalog.ts';
import type { Dialect } from '#core/catalog/dialect.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { fitToDialect } from '../../api/inference/formats/fit-to-dialect.ts';
import { readJsonObject } from '../../api/inference/json/json-object.ts';
import { type LinkRules, noMedia } from '../../api/inference/linked-images/linked-media.ts';
import { fieldRules } from '../../api/inference/policy/field-rules.ts';
import { translateRequest } from '../../api/inference/translation/translate-request.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { markdownTable } from './markdown-table.ts';

/*
 * What becomes of each field at each kind of provider, as the code decides it: every cell is a request with the field in it, which
 * is asked of the policy, of the dialect and of the translation.
 */

/** A field of a format, with a value that asks for something. */
export interface KnownField {
  name: string;
  sample: object;
}

const field = (name: string, value: unknown): KnownField => ({ name, sample: nested(name.split('.'), value) });

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
    field('include', ['message.output_text.logprobs']),
    field('truncation', 'auto'),
    field('previous_response_id', 'resp_1'),
    field('background', true),
    field('store', true),
    field('service_tier', 'priority'),
    field('client_metadata', { a: 'b' }),
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
    field('container', 'x'),
    field('mcp_servers', [{ url: 'https://example.com' }]),
    field('service_tier', 'auto'),
    field('metadata', { user_id: 'x' }),
  ],
};

const noLinks: LinkRules = { ownerOf: () => ({ kind: 'foreign' }), linksMax: 0 };

const base: Readonly<Record<FormatName, object>> = {
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

export type Fate = 'passed' | 'translated' | 'left out' | 'left out, not named' | 'refused';

/** A kind of provider, as the table names it. */
interface Target {
  name: string;
  fateOf(format: FormatName, body: Record<string, unknown>, field: KnownField): Fate;
}

const native = (name: string, dialect: Dialect): Target => ({
  name,
  fateOf(format, body, { name: fieldName }) {
    const read = readJsonObject(Buffer.from(JSON.stringify(body)));
    if (typeof read === 'string') throw new Error(`${fieldName}: ${read}`);
    const media = noMedia(noLinks);
    const fit = fitToDialect(dialect, { format, body: read.object, value: body, media, plain: true });
    if (fit.refused !== null) return 'refused';
    const [top = ''] = fieldName.split('.');
    return fit.leftOut.some((each) => each.startsWith(top)) ? 'left out' : 'passed';
  },
});

const translated = (name: string, to: 'chat' | 'messages'): Target => ({
  name,
  fateOf(format, body, { name: fieldName, sample }) {
    if (format === to) return 'passed';
    const ask = (value: object) => {
      const dialect = {
        reasoningMember: null,
        efforts: null,
        signsCalls: false,
        takesVerbosity: true,
        takesReasoningDetails: false,
      } as const;
      const asked = { upstreamModel: 'claude-opus-4-8', outputTokensCap: 4_000, reasonsByEffort: true, dialect };
      return translateRequest({ ...value }, format, to, asked);
    };
    const result = ask(body);
    if (isApiError(result)) return 'refused';
    const [top = ''] = fieldName.split('.');
    if (result.leftOut.some((each) => each.startsWith(top))) return 'left out';
    const without = ask(withoutMember(body, Object.keys(sample)[0] ?? ''));
    if (isApiError(without)) return 'translated';
    return result.object.bytes.equals(without.object.bytes) ? 'left out, not named' : 'translated';
  },
});

const withoutMember = (body: object, name: string): object =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));

/** The kinds of providers, as columns. */
export const targets: readonly Target[] = [
  native('its own format', dialects.other),
  native('its own format, own server', dialects['self-hosted']),
  translated('chat alone', 'chat'),
  translated('messages alone', 'messages'),
];

export function fateOf(format: FormatName, known: KnownField, target: Target): Fate {
  const body = { ...base[format], ...known.sample };
  const { readRequest, refuseFields, refuseTools } = callFormats[format];
  if (!readRequest(body).ok || refuseFields(body) !== null || refuseTools(body) !== null) return 'refused';
  const [top = ''] = known.name.split('.');
  const fate = target.fateOf(format, body, known);
  return fieldRules.get(top)?.rule === 'drop' ? 'left out, not named' : fate;
}

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
