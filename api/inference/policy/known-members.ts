import type { FormatName } from '#core/catalog/catalog.ts';
import { fieldRules } from './field-rules.ts';

/**
 * A name as servers read it that do not tell large letters from small ones. Upper case comes first, because it also folds the
 * long s (U+017F), and lower case then the Kelvin sign (U+212A), as Go's encoding/json does.
 */
export const foldName = (name: string): string => name.toUpperCase().toLowerCase();

/*
 * The members of every object in a body that the gateway reads, or that decides what a provider does. What stands in no
 * kind of object is the caller's own data: JSON schemas, the arguments of tools, metadata.
 */

/** Each member with the kind of the object, or of the objects in the list, that it may hold; `null`: it is not looked into. */
export type ObjectKind = Readonly<Record<string, string | null>>;

export const bodyKinds: Readonly<Record<FormatName, string>> = {
  chat: 'chat body',
  responses: 'responses body',
  messages: 'messages body',
};

/** Members that hold the same kind of object wherever they stand. */
const KINDS_BY_MEMBER: ReadonlyMap<string, string> = new Map([
  ['cache_control', 'cache mark'],
  ['operation', 'patch'],
  ['action', 'action'],
  ['actions', 'action'],
  ['outcome', 'outcome'],
]);

const members = (...names: string[]): ObjectKind =>
  Object.fromEntries(names.map((name) => [name, KINDS_BY_MEMBER.get(name) ?? null]));

/** Settings of searches and fetches that a provider runs, in whichever object they stand. */
const serverToolSettings: ObjectKind = {
  ...members('engine', 'mode', 'max_uses', 'max_results', 'max_total_results', 'max_characters'),
  ...members('search_context_size', 'search_prompt', 'max_content_tokens', 'timezone', 'external_web_access'),
  ...members('allowed_domains', 'excluded_domains', 'blocked_domains', 'include_domains', 'exclude_domains'),
  filters: 'search filters',
  user_location: 'location',
};

const commonBody: ObjectKind = {
  ...members(...fieldRules.keys()),
  ...members('max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n'),
  ...members('model', 'models', 'stream', 'temperature', 'top_p', 'top_k', 'parallel_tool_calls'),
  ...members('user', 'session_id', 'prompt_cache_key', 'safety_identifier', 'transforms', 'max_tool_calls'),
  ...members('metadata', 'messages', 'input', 'cache_control'),
  usage: 'usage options',
  tools: 'tool',
  tool_choice: 'tool choice',
  plugins: 'plugin',
  provider: 'provider preferences',
  reasoning: 'reasoning',
  thinking: 'thinking',
  context_management: 'context management',
  chat_template_kwargs: 'template input',
  stop_server_tools_when: 'stop condition',
  web_search_options: 'search options',
};

const kindTable: Readonly<Record<string, ObjectKind>> = {
  'chat body': {
    ...commonBody,
    ...members('stop', 'reasoning_effort', 'verbosity'),
    messages: 'chat message',
    stream_options: 'stream options',
    prediction: 'prediction',
    response_format: 'response format',
    functions: 'called function',
    function_call: 'called function',
  },
  'responses body': {
    ...commonBody,
    ...members('instructions', 'include'),
    input: 'responses item',
    text: 'responses text',
  },
  'messages body': {
    ...commonBody,
    ...members('stop_sequences'),
    output_format: 'text format',
    system: 'block',
    messages: 'message',
    output_config: 'output config',
  },

  'chat message': {
    ...members('role', 'name', 'tool_call_id', 'refusal', 'reasoning', 'reasoning_content', 'parsed'),
    ...members('audio', 'cache_control', 'reasoning_text', 'reasoning_opaque', 'thinking', 'cot_summary'),
    ...members('thinking_blocks', 'provider_specific_fields'),
    content: 'chat part',
    tool_calls: 'tool call',
    function_call: 'called function',
    reasoning_details: 'reasoning detail',
    annotations: 'annotation',
    images: 'image of an answer',
  },
  'chat part': {
    ...members('type', 'text', 'refusal', 'input_audio', 'uuid', 'cache_control', 'thinking', 'summary'),
    image_url: 'link',
    video_url: 'link',
    input_video: 'link',
    file: 'file',
  },
  link: members('url', 'detail'),
  file: members('file_id', 'file_data', 'file_url', 'filename'),
  'image of an answer': { ...members('type', 'index'), image_url: 'link' },
  annotation: members('type', 'url_citation', 'file_citation', 'file'),
  'tool call': {
    ...members('id', 'type', 'index', 'cache_control', 'provider_specific_fields', 'thought_signature'),
    function: 'called function',
    custom: 'called function',
    extra_content: 'extra content',
  },
  'extra content': { google: 'google content' },
  'google content': members('thought_signature'),
  'called function': {
    ...members('name', 'arguments', 'parsed_arguments', 'description', 'parameters', 'strict'),
    ...members('cache_control', 'input', 'provider_specific_fields'),
    format: 'tool format',
  },
  'tool format': { ...members('type', 'syntax', 'definition'), grammar: 'grammar' },
  grammar: members('syntax', 'definition'),
  'cache mark': members('type', 'ttl', 'scope'),
  'reasoning detail': members('type', 'format', 'id', 'index', 'text', 'summary', 'data', 'signature'),
  'stream options': members('include_usage'),
  'usage options': members('include'),
  prediction: { type: null, content: 'chat part' },
  'response format': { type: null, json_schema: 'named schema' },
  'named schema': members('name', 'description', 'schema', 'strict'),

  'responses item': {
    ...members('type', 'id', 'role', 'call_id', 'name', 'arguments', 'parsed_arguments', 'status', 'phase'),
    ...members('encrypted_content', 'format', 'signature', 'cache_control', 'namespace', 'input'),
    ...members('operation', 'action', 'actions', 'execution', 'max_output_length'),
    environment: 'tool environment',
    content: 'responses part',
    output: 'responses part',
    summary: 'responses part',
    tools: 'tool',
  },
  patch: members('type', 'path', 'diff'),
  /** An action of a shell, a browser or a search. The variables of a shell are the caller's own. */
  action: {
    ...members('type', 'command', 'commands', 'env', 'user', 'working_directory'),
    ...members('timeout_ms', 'max_output_length'),
    ...members('x', 'y', 'button', 'keys', 'text', 'scroll_x', 'scroll_y'),
    ...members('query', 'queries', 'pattern', 'url'),
    path: 'point',
    sources: 'search source',
  },
  point: members('x', 'y'),
  'search source': members('type', 'url'),
  outcome: members('type', 'exit_code'),
  'responses part': {
    ...members('type', 'text', 'refusal', 'file_id', 'file_data', 'file_url', 'filename', 'detail'),
    ...members('annotations', 'logprobs', 'parsed', 'input_audio', 'cache_control'),
    ...members('stdout', 'stderr', 'outcome'),
    image_url: 'link',
    video_url: 'link',
  },
  'tool environment': {
    ...members('type', 'container_id', 'file_ids', 'memory_limit'),
    network_policy: 'network policy',
    skills: 'skill',
  },
  'network policy': { ...members('type', 'allowed_domains'), domain_secrets: 'domain secret' },
  'domain secret': members('domain', 'name', 'value'),
  skill: members('type', 'name', 'description', 'path', 'skill_id', 'version', 'source'),
  'responses text': { format: 'text format', verbosity: null },
  'text format': members('type', 'name', 'description', 'schema', 'strict'),

  message: {
    ...members('role', 'cache_control', 'clear_at'),
    content: 'block',
    output_config: 'output config',
  },
  block: {
    ...members('type', 'text', 'id', 'name', 'input', 'tool_use_id', 'is_error', 'thinking', 'signature'),
    ...members('data', 'title', 'context', 'caller', 'parsed', 'parsed_output', 'cache_control', 'url'),
    ...members('tool_name', 'encrypted_content'),
    content: 'block',
    source: 'source',
    citations: 'citations',
    tool: 'changed tool',
    tool_changes: 'tool change',
  },
  'tool change': { type: null, tool: 'changed tool' },
  'changed tool': { ...members('type', 'name', 'tool_name', 'server_name'), definition: 'tool' },
  source: { ...members('type', 'url', 'media_type', 'data'), content: 'block' },
  citations: members('enabled'),
  'output config': { effort: null, format: 'text format' },

  tool: {
    ...serverToolSettings,
    ...members('type', 'name', 'description', 'parameters', 'input_schema', 'strict', 'cache_control'),
    ...members(
      'allowed_callers',
      'defer_loading',
      'eager_input_streaming',
      'response_inclusion',
      'use_cache',
    ),
    function: 'called function',
    custom: 'called function',
    ...members('input_examples', 'execution'),
    format: 'tool format',
    environment: 'tool environment',
    citations: 'citations',
    tools: 'tool',
  },
  'tool choice': {
    ...members('type', 'name', 'namespace', 'mode', 'disable_parallel_tool_use'),
    function: 'called function',
    custom: 'called function',
    allowed_tools: 'tool choice',
    tools: 'tool',
  },
  plugin: { ...serverToolSettings, ...members('id', 'enabled') },
  'search options': serverToolSettings,
  'search filters': members('allowed_domains', 'excluded_domains', 'blocked_domains'),
  location: { ...members('type', 'city', 'region', 'country', 'timezone'), approximate: 'location' },
  'stop condition': members('type', 'step_count'),
  'provider preferences': {
    ...members('order', 'only', 'ignore', 'allow_fallbacks', 'require_parameters', 'data_collection', 'zdr'),
    ...members('enforce_distillable_text', 'quantizations', 'options'),
    sort: 'sort preference',
    max_price: 'price ceilings',
  },
  'sort preference': members('by'),
  'price ceilings': members('prompt', 'completion', 'request', 'image'),
  reasoning: members(
    'effort',
    'max_tokens',
    'enabled',
    'exclude',
    'summary',
    'generate_summary',
    'mode',
    'context',
  ),
  thinking: members('type', 'budget_tokens', 'display'),
  'context management': { edits: 'context edit' },
  'context edit': members('type'),
  'template input': members('chat_template', 'tokenize'),
};

export const objectKinds: ReadonlyMap<string, ReadonlyMap<string, string | null>> = new Map(
  Object.entries(kindTable).map(([kind, known]) => [kind, new Map(Object.entries(known))]),
);

/** Of each kind, its names by what servers read that do not tell large letters from small ones. */
export const foldedNames: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Object.entries(kindTable).map(([kind, known]) => [
    kind,
    new Map(Object.keys(known).map((name) => [foldName(name), name])),
  ]),
);

/** The kinds of objects in which a server looks for images and files. */
export const contentKinds: ReadonlySet<string> = new Set([
  ...['chat message', 'chat part', 'link', 'file', 'image of an answer'],
  ...['responses item', 'responses part'],
  ...['message', 'block', 'source'],
]);

/** No longer name is a known one in other letters. */
export const KNOWN_NAME_CHARS_MAX = Math.max(
  ...Object.values(kindTable).flatMap((known) => Object.keys(known).map((name) => name.length)),
);

/**
 * A member that leads a server to an image or a file, by the types of the parts in which it is read, checked and counted.
 * In a part of any other type some servers follow it all the same.
 */
export const typesOfLinks: ReadonlyMap<string, ReadonlySet<unknown>> = new Map([
  ['image_url', new Set(['image_url', 'input_image', 'computer_screenshot'])],
  ['video_url', new Set(['video_url', 'input_video'])],
  ['input_video', new Set(['video_url', 'input_video'])],
  ['input_audio', new Set(['input_audio'])],
  ['file', new Set(['file'])],
  ['file_url', new Set(['input_file'])],
  ['file_data', new Set(['input_file'])],
  ['source', new Set(['image', 'document', 'search_result'])],
  ['url', new Set(['url', 'web_search_result', 'web_fetch_result'])],
]);
