import type { FormatName } from '#core/catalog/catalog.ts';

/* The rows of the tables of fields, each with a request in which it stands. */

/** A field of a format, or a thing in it, with a value that asks for something. */
export interface KnownField {
  name: string;
  sample: object;
  /** Its place in a request; missing: its name. */
  path?: string;
  /** The same members without it; missing: a request without the field. */
  plain?: object;
}

const field = (name: string, value: unknown): KnownField => ({
  name,
  sample: nested(name.split('.'), value),
});

/** Each part in a message of the user, beside a text. */
const part = (list: string, text: string, name: string, value: object): KnownField => ({
  name,
  sample: { [list]: [{ role: 'user', content: [{ type: text, text: 'x' }, value] }] },
  path: `${list}[0].content[1]`,
  plain: { [list]: [{ role: 'user', content: [{ type: text, text: 'x' }] }] },
});

/** A mark for a cache on the text of a message. */
const mark = (list: string, type: string): KnownField => ({
  name: `${list}[].content[].cache_control`,
  sample: {
    [list]: [{ role: 'user', content: [{ type, text: 'x', cache_control: { type: 'ephemeral' } }] }],
  },
  path: `${list}[0].content[0].cache_control`,
  plain: { [list]: [{ role: 'user', content: [{ type, text: 'x' }] }] },
});

const withTool = (name: string, value: object): KnownField => ({
  name,
  sample: { tools: [value] },
  path: 'tools[0]',
  plain: { tools: undefined },
});

const waiting = (value: object): KnownField => ({
  name: 'tools[].defer_loading',
  sample: { tools: [{ ...value, defer_loading: true }] },
  path: 'tools[0].defer_loading',
  plain: { tools: [value] },
});

const LINK = 'https://example.com/a.png';
const PNG = 'iVBORw0KGgo=';
const PDF = 'JVBERi0xLjQ=';
/** A call of a tool, whose result may refer to other tools. */
const called = { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'get', input: {} }] };
const resultOf = (content: unknown): object => ({
  messages: [
    { role: 'user', content: 'x' },
    called,
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content }] },
  ],
});
const functionTool = { type: 'function', name: 'get', parameters: { type: 'object' } };
const messagesTool = { name: 'get', input_schema: { type: 'object' } };

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
    field('thinking', { type: 'enabled', budget_tokens: 2_000 }),
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
    field('reasoning.effort', 'high'),
    {
      name: 'messages[].name',
      sample: { messages: [{ role: 'user', name: 'ada', content: 'x' }] },
      path: 'messages[0].name',
      plain: { messages: [{ role: 'user', content: 'x' }] },
    },
    {
      name: 'response_format: json_object',
      sample: { response_format: { type: 'json_object' } },
      path: 'response_format',
    },
    withTool('a tool of type custom', { type: 'custom', custom: { name: 'run' } }),
    withTool('an offered search', { type: 'openrouter:web_search' }),
    mark('messages', 'text'),
    part('messages', 'text', 'a link to an image', { type: 'image_url', image_url: { url: LINK } }),
    part('messages', 'text', 'an inline image', {
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${PNG}` },
    }),
    part('messages', 'text', 'an inline file', {
      type: 'file',
      file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` },
    }),
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
    {
      name: 'text.format: json_object',
      sample: { text: { format: { type: 'json_object' } } },
      path: 'text.format',
    },
    withTool('a tool of type custom', { type: 'custom', name: 'run' }),
    withTool('a tool of type namespace', {
      type: 'namespace',
      name: 'files',
      description: 'x',
      tools: [functionTool],
    }),
    waiting(functionTool),
    withTool('a tool of type tool_search that you run', {
      type: 'tool_search',
      execution: 'client',
      description: 'x',
      parameters: { type: 'object' },
    }),
    withTool('a hosted tool of type tool_search', { type: 'tool_search' }),
    withTool('a tool of type shell that you run', { type: 'shell', environment: { type: 'local' } }),
    withTool('a tool of type local_shell', { type: 'local_shell' }),
    withTool('a tool of type apply_patch', { type: 'apply_patch' }),
    withTool('a shell in a container', { type: 'shell', environment: { type: 'container_auto' } }),
    withTool('an offered search', { type: 'web_search' }),
    part('input', 'input_text', 'a link to an image', { type: 'input_image', image_url: LINK }),
    part('input', 'input_text', 'an inline image', {
      type: 'input_image',
      image_url: `data:image/png;base64,${PNG}`,
    }),
    part('input', 'input_text', 'an inline file', {
      type: 'input_file',
      filename: 'a.pdf',
      file_data: `data:application/pdf;base64,${PDF}`,
    }),
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
    waiting(messagesTool),
    {
      name: 'a tool_reference in a result',
      sample: resultOf([{ type: 'tool_reference', tool_name: 'get' }]),
      path: 'messages[2].content[0].content',
      plain: resultOf([]),
    },
    withTool('an offered search', { type: 'web_search_20250305', name: 'web_search' }),
    mark('messages', 'text'),
    part('messages', 'text', 'a link to an image', { type: 'image', source: { type: 'url', url: LINK } }),
    part('messages', 'text', 'an inline image', {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: PNG },
    }),
    part('messages', 'text', 'an inline file', {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: PDF },
    }),
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
