import { isRecord } from '#core/is-record.ts';
import type { ErrorCode } from '../../contract/errors.ts';

/**
 * What happens to a field of a body, in whichever format, besides those that the gateway writes itself. A field that
 * stands in no row passes as sent.
 *
 * Refused fields would reach state that all agents of the operator share (stored prompts, presets, sandboxes),
 * change the price in a way that no hold can bound, or steer a self-hosted server from outside.
 */
export type FieldRule =
  | { rule: 'refuse'; code: ErrorCode; because: string; unless?: (value: unknown) => boolean }
  | { rule: 'drop' }
  /** Bounded and written by the gateway: `server-tools/`. */
  | { rule: 'bound' };

const refuse = (because: string, unless?: (value: unknown) => boolean): FieldRule =>
  unless
    ? { rule: 'refuse', code: 'invalid_request', because, unless }
    : { rule: 'refuse', code: 'invalid_request', because };

const refuseTool = (because: string, unless?: (value: unknown) => boolean): FieldRule =>
  unless
    ? { rule: 'refuse', code: 'tool_not_served', because, unless }
    : { rule: 'refuse', code: 'tool_not_served', because };

const drop: FieldRule = { rule: 'drop' };
const bound: FieldRule = { rule: 'bound' };
const isFalse = (value: unknown) => value === false;
const oneOf =
  (...allowed: string[]) =>
  (value: unknown) =>
    typeof value === 'string' && allowed.includes(value);

const shared = 'it reads or writes state that is shared by all callers';
const selfHosted = 'it steers the server that runs the model';
const otherSearch = 'search with a tool of the type `openrouter:web_search`';
const otherCap = "a server that knows it would not keep to the format's own cap";
const otherPrice = 'it changes the price in a way that cannot be reserved';
/** To summarise what was said the model reads it once more, and writes; to clear it costs nothing. */
const onlyClears = (value: unknown) => {
  if (!isRecord(value)) return false;
  const { edits, ...others } = value;
  const list = edits ?? [];
  return (
    Object.keys(others).length === 0 &&
    Array.isArray(list) &&
    list.every((edit) => isRecord(edit) && /^clear_\w+$/.test(String(edit.type)))
  );
};
/** A template may loop for ever; `tokenize` makes the server read its own numbers as text. */
const isHarmlessTemplateInput = (value: unknown) =>
  isRecord(value) && !Object.hasOwn(value, 'chat_template') && !Object.hasOwn(value, 'tokenize');

export const fieldRules: ReadonlyMap<string, FieldRule> = new Map<string, FieldRule>([
  ['previous_response_id', refuse(shared)],
  ['conversation', refuse(shared)],
  ['prompt', refuse(shared)],
  ['preset', refuse(shared)],
  ['container', refuse(shared)],
  ['user_profile_id', refuse(shared)],
  ['vector_store_ids', refuse(shared)],
  ['background', refuse('calls are answered while they run', isFalse)],
  ['deferred', refuse('calls are answered while they run', isFalse)],
  ['store', refuse('nothing is stored', isFalse)],
  ['cached_content', refuse(shared)],
  ['cachedContent', refuse(shared)],
  ['extra_body', refuse('it hands settings to one vendor that nobody has priced')],
  ['fallbacks', refuse('name other models in `models`')],
  ['debug', refuse('it shows what the gateway sends to the provider')],

  ['service_tier', refuse(otherPrice, oneOf('auto', 'default', 'flex', 'standard', 'standard_only'))],
  ['speed', refuse(otherPrice, oneOf('standard'))],
  ['inference_geo', refuse(otherPrice, oneOf('global'))],
  [
    'modalities',
    refuse('only text is answered here', (value) => Array.isArray(value) && value.every((m) => m === 'text')),
  ],
  ['audio', refuse('only text is answered here')],
  ['image_config', refuse('only text is answered here')],

  ['context_management', refuse(otherPrice, onlyClears)],
  ['n_predict', refuse(otherCap)],
  ['num_predict', refuse(otherCap)],
  ['max_new_tokens', refuse(otherCap)],
  ['max_length', refuse(otherCap)],
  ['max_tokens_to_sample', refuse(otherCap)],

  ['mcp_servers', refuseTool('a tool server would run calls of its own')],
  ['web_search_options', bound],
  ['x_search_filter', refuseTool(otherSearch)],
  ['search_parameters', refuseTool(otherSearch)],
  ['enable_search', refuseTool(otherSearch, isFalse)],
  ['data_sources', refuseTool(otherSearch)],
  ['stop_server_tools_when', bound],
  ['max_tool_calls', bound],

  ['best_of', refuse(otherPrice, (value) => value === 1)],
  ['use_beam_search', refuse(otherPrice, isFalse)],
  ['prompt_logprobs', refuse(otherPrice)],
  ['priority', refuse(selfHosted)],
  ['cache_salt', refuse(selfHosted)],
  ['extra_key', refuse(selfHosted)],
  ['chat_template', refuse(selfHosted)],
  ['chat_template_kwargs', refuse(selfHosted, isHarmlessTemplateInput)],
  ['kv_transfer_params', refuse(selfHosted)],
  ['request_id', refuse(selfHosted)],
  ['logits_processors', refuse(selfHosted)],
  ['vllm_xargs', refuse(selfHosted)],
  ['mm_processor_kwargs', refuse(selfHosted)],
  ['media_io_kwargs', refuse(selfHosted)],
  ['rid', refuse(selfHosted)],
  ['lora_path', refuse(selfHosted)],
  ['session_params', refuse(selfHosted)],
  ['custom_logit_processor', refuse(selfHosted)],
  ['custom_params', refuse(selfHosted)],
  ['bootstrap_host', refuse(selfHosted)],
  ['bootstrap_port', refuse(selfHosted)],
  ['bootstrap_room', refuse(selfHosted)],
  ['return_hidden_states', refuse(selfHosted)],

  // Of no effect upstream, or written by the gateway in the caller's stead.
  ['usage', drop],
  ['trace', drop],
  ['route', drop],
]);
