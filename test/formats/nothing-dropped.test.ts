import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { isApiError } from '../../api/contract/errors.ts';
import type { CallFormat } from '../../api/inference/formats/call-format.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { HINTS, OURS, saysNothing } from '../../api/inference/formats/unsupported-fields.ts';
import {
  type TranslationTarget,
  translateRequest,
} from '../../api/inference/translation/translate-request.ts';
import { noLinkRules } from '../inference/support.ts';
import { askedDialect } from './asked-dialect.ts';

const CAP = 4_000;
const SECRET_NUMBER = 424_242;
const ASKED = { upstreamModel: 'm', outputTokensCap: CAP, reasonsByEffort: false, dialect: askedDialect };
const IMAGE = 'https://example.com/a.png';
const schema = { type: 'object', properties: { city: { type: 'string' } } };
const closed = { ...schema, required: ['city'], additionalProperties: false };

const directions = [
  ['chat', 'messages'],
  ['messages', 'chat'],
  ['responses', 'chat'],
  ['responses', 'messages'],
] as const satisfies [FormatName, TranslationTarget][];

/** A conversation with everything in it that any translation has words for. */
const everything: Readonly<Record<FormatName, object>> = {
  chat: {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be short.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Weather?' },
          { type: 'image_url', image_url: { url: IMAGE, detail: 'auto' } },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'refusal', refusal: 'No.' }],
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'get', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: '7' }] },
      { role: 'assistant', content: null, refusal: 'No.' },
      { role: 'user', content: 'Why?' },
    ],
    tools: [
      { type: 'function', function: { name: 'get', description: 'Gets.', parameters: schema, strict: true } },
    ],
    tool_choice: { type: 'function', function: { name: 'get' } },
    reasoning: { effort: 'low', enabled: true, exclude: false },
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'a', description: 'An a.', schema, strict: true },
    },
  },
  messages: {
    system: [{ type: 'text', text: 'Be short.' }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Weather?' },
          { type: 'image', source: { type: 'url', url: IMAGE } },
          {
            type: 'document',
            source: { type: 'text', data: 'x' },
            title: 't',
            context: 'c',
            citations: { enabled: false },
          },
          { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'y' }] } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'c', name: 'get', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: '7' }], is_error: false },
          { type: 'tool_result', tool_use_id: 'c', content: '8' },
        ],
      },
    ],
    tools: [{ name: 'get', description: 'Gets.', input_schema: closed, strict: true }],
    tool_choice: { type: 'tool', name: 'get', disable_parallel_tool_use: false },
    thinking: { type: 'enabled', budget_tokens: 1_024 },
    output_config: { effort: 'low', format: { type: 'json_schema', schema } },
  },
  responses: {
    input: [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Weather?' },
          { type: 'input_image', image_url: IMAGE },
        ],
      },
      { type: 'reasoning', summary: [], encrypted_content: 'x' },
      { role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { type: 'function_call', call_id: 'c', name: 'get', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: '7' }] },
      { type: 'function_call_output', call_id: 'c', output: '8' },
    ],
    tools: [{ type: 'function', name: 'get', description: 'Gets.', parameters: schema, strict: true }],
    tool_choice: { type: 'function', name: 'get' },
    reasoning: { effort: 'low', enabled: true },
    text: { format: { type: 'json_schema', name: 'a', description: 'An a.', schema, strict: true } },
  },
};

/** Of the caller's own, whatever stands in them. */
const FREE = new Set(['parameters', 'input_schema', 'schema', 'input']);

/** The same body once for each object in it, which then has one member more. */
function withNews(value: unknown, path: string): { path: string; body: unknown }[] {
  if (Array.isArray(value)) {
    return value.flatMap((each, index) =>
      withNews(each, `${path}[${index}]`).map(({ path: at, body }) => ({
        path: at,
        body: value.toSpliced(index, 1, body),
      })),
    );
  }
  if (!isRecord(value)) return [];
  const inside = Object.entries(value).flatMap(([name, member]) => {
    // The turns of one format, the arguments of a call in another.
    if (FREE.has(name) && !Array.isArray(member)) return [];
    return withNews(member, path === '' ? name : `${path}.${name}`).map(({ path: at, body }) => ({
      path: at,
      body: { ...value, [name]: body },
    }));
  });
  const at = path === '' ? 'tomorrow' : `${path}.tomorrow`;
  return [{ path: at, body: { ...value, tomorrow: 'x' } }, ...inside];
}

const OTHER_KINDS = [SECRET_NUMBER, 'SECRET', { SECRET: 1 }, ['SECRET'], [{ type: 'text', SECRET: 1 }]];
const kindOf = (value: unknown): string => (Array.isArray(value) ? 'list' : typeof value);

/** The same body once for each member in it, which then holds something of another kind. */
function withOtherKinds(value: unknown, path: string): { path: string; body: unknown }[] {
  const others = OTHER_KINDS.filter((other) => kindOf(other) !== kindOf(value)).map((body) => ({
    path: `${path}: ${JSON.stringify(body)}`,
    body,
  }));
  if (Array.isArray(value)) {
    const inside = value.flatMap((each, index) =>
      withOtherKinds(each, `${path}[${index}]`).map(({ path: at, body }) => ({
        path: at,
        body: value.toSpliced(index, 1, body),
      })),
    );
    return [...others, ...inside];
  }
  if (!isRecord(value)) return others;
  const inside = Object.entries(value).flatMap(([name, member]) =>
    withOtherKinds(member, path === '' ? name : `${path}.${name}`).map(({ path: at, body }) => ({
      path: at,
      body: { ...value, [name]: body },
    })),
  );
  return path === '' ? inside : [...others, ...inside];
}

/** Fields that the formats have, and some that servers have besides. */
const KNOWN = {
  chat:
    'messages tools tool_choice parallel_tool_calls temperature top_p top_k top_a min_p stop seed n logprobs top_logprobs ' +
    'logit_bias frequency_penalty presence_penalty repetition_penalty response_format reasoning reasoning_effort ' +
    'verbosity prediction modalities audio web_search_options functions function_call cache_control prompt_cache_key ' +
    'user metadata session_id store service_tier plugins provider transforms usage trace route debug preset ' +
    'max_output_tokens max_tool_calls stop_server_tools_when structured_outputs guided_json min_tokens stop_token_ids include_reasoning',
  messages:
    'messages system tools tool_choice temperature top_p top_k stop_sequences thinking output_config metadata ' +
    'service_tier speed inference_geo container cache_control context_management mcp_servers fallbacks provider plugins ' +
    'session_id trace user stop_server_tools_when output_format max_tool_calls max_completion_tokens',
  responses:
    'input instructions tools tool_choice parallel_tool_calls temperature top_p top_k top_logprobs frequency_penalty ' +
    'presence_penalty reasoning text max_tool_calls stop_server_tools_when include truncation service_tier modalities ' +
    'image_config plugins provider route metadata user safety_identifier session_id prompt_cache_key cache_control trace ' +
    'max_tokens debug background store prompt previous_response_id conversation verbosity stream_options',
} as const satisfies Record<FormatName, string>;

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

/** Whichever provider would be asked. */
const isRefused = (format: CallFormat, body: Record<string, unknown>): boolean =>
  !format.readRequest(body).ok ||
  format.refuseFields(body) !== null ||
  format.refuseTools(body) !== null ||
  isApiError(format.countMedia(body, noLinkRules));

const anyValue = fc.oneof(
  fc.constantFrom<unknown>('x', 'high', 'required', 0.5, 2, true, false, { x: 1 }, ['x'], [{ x: 1 }], [1]),
  fc.constantFrom<unknown>({ type: 'x' }, { effort: 'high' }, { effort: 1 }, [[]]),
  fc.jsonValue({ maxDepth: 2 }),
);

/** The parts of `everything` that earlier answers are. */
const HISTORY: Readonly<Record<FormatName, RegExp>> = {
  chat: /^messages\[[24]\]/,
  messages: /^messages\[1\]/,
  responses: /^input\[[1-4]\]/,
};
const isHistory = (format: FormatName, path: string): boolean => HISTORY[format].test(path);

describe.each(directions)('of %s asked in %s', (from, to) => {
  const body = { model: 'm', ...everything[from] };
  const ask = (value: object) => translateRequest({ ...value }, from, to, ASKED);
  const plain = ask(body);
  const plainText = isApiError(plain) ? plain.message : plain.object.bytes.toString();
  /** The body that the provider is sent, and the names of what it is not sent. */
  const sentAndNamed = (asked: unknown): unknown => {
    const result = isRecord(asked) ? ask(asked) : null;
    if (result === null || isApiError(result)) return result;
    return [result.object.bytes.toString(), result.leftOut];
  };

  it('everything that has words is sent, and nothing of it is named as left out', () => {
    expect(isApiError(plain) ? plain.param : plain.leftOut).toEqual([]);
  });

  it.each(withNews(body, '').filter(({ path }) => !isHistory(from, path)))(
    'what nobody knows is left out and named by its place: $path',
    ({ path, body: asked }) => {
      expect(sentAndNamed(asked)).toEqual([plainText, [path]]);
    },
  );

  it.each(withNews(body, '').filter(({ path }) => isHistory(from, path)))(
    'what nobody knows of an earlier answer is left out without a word: $path',
    ({ body: asked }) => {
      expect(sentAndNamed(asked)).toEqual([plainText, []]);
    },
  );

  it.each<[string, object]>([
    ['plugins[0]', { plugins: [{ id: 'response-healing' }] }],
    ['plugins[1]', { plugins: [{ id: 'web' }, { id: 'context-compression' }] }],
    ['plugins[0]', { plugins: [{ id: 'file-parser', enabled: true }] }],
    ['transforms', { transforms: ['middle-out'] }],
  ])(
    'what only a router does around an answer is left out and named by its place: %s of %j',
    (param, more) => {
      expect(sentAndNamed({ ...body, ...more })).toEqual([plainText, [param]]);
    },
  );

  it.each<[object]>([
    [{ plugins: [{ id: 'web' }, { id: 'web-fetch' }] }],
    [{ plugins: [{ id: 'response-healing', enabled: false }] }],
    [{ plugins: [] }],
    [{ plugins: null, transforms: [] }],
  ])('what it does not do, or what is written in other words, is not in the way: %j', (more) => {
    expect(sentAndNamed({ ...body, ...more })).toEqual([plainText, []]);
  });

  it('nothing of another kind than its place takes is read as if nothing had been said', () => {
    const unsaid = withOtherKinds(body, '').flatMap(({ path, body: asked }) => {
      if (!isRecord(asked) || OURS.has(path.split(':', 1)[0] ?? '') || isHistory(from, path)) return [];
      if (isRefused(callFormats[from], asked)) return [];
      const result = ask(asked);
      if (isApiError(result) || result.leftOut.length > 0) return [];
      const sent = result.object.bytes.toString();
      return sent.includes('SECRET') || sent.includes(String(SECRET_NUMBER)) ? [] : [path];
    });
    expect(unsaid).toEqual([]);
  });

  it('no field is left out without a word, whatever it says', () => {
    const unsaid: string[] = [];
    fc.assert(
      fc.property(fc.constantFrom(...KNOWN[from].split(' ')), anyValue, (field, value) => {
        if (HINTS.has(field) || OURS.has(field) || saysNothing(field, value) || isEmpty(value)) return;
        const asked = { ...body, [field]: value };
        if (isRefused(callFormats[from], asked)) return;
        const result = ask(asked);
        if (isApiError(result)) {
          // Without tools it is the choice of one that nobody can be sent.
          const named = field === 'tools' ? ['tools', 'tool_choice'] : [field];
          expect(named.some((name) => result.param?.startsWith(name))).toBe(true);
          return;
        }
        if (result.leftOut.some((name) => name.startsWith(field))) return;
        if (result.object.bytes.toString() === plainText) unsaid.push(`${field}: ${JSON.stringify(value)}`);
      }),
      { numRuns: 2_000 },
    );
    expect([...new Set(unsaid)]).toEqual([]);
  });
});
