import { isRecord } from '#core/is-record.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import { ROUTER_TOOLS } from '../../providers/router-tools.ts';

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
  /** Refused with a code that the vendor's own client acts on, unless the value asks for nothing that matters. It is never sent. */
  | { rule: 'leave_out'; because: string; unless: (value: unknown) => boolean; errorCode: string }
  /** Bounded and written by the gateway: `server-tools/`. */
  | { rule: 'bound' };

const refuseWith =
  (code: ErrorCode) =>
  (because: string, unless?: (value: unknown) => boolean): FieldRule => ({
    rule: 'refuse',
    code,
    because,
    ...(unless && { unless }),
  });

const refuse = refuseWith('invalid_request');
const refuseTool = refuseWith('tool_not_served');
/** Gives many fields the one rule. */
const each = (rule: FieldRule, ...fields: string[]) => fields.map((field) => [field, rule] as const);

const drop: FieldRule = { rule: 'drop' };
/** The vendor's SDK begins a thread by itself, and sends the whole conversation again when it hears that its thread is gone. */
const noThreads: FieldRule = {
  rule: 'leave_out',
  because: 'no conversation is stored. Send the whole conversation in `messages`',
  unless: (value) => isRecord(value) && value.type === 'create' && Object.keys(value).length === 1,
  errorCode: 'thread_not_found',
};
const bound: FieldRule = { rule: 'bound' };
const isFalse = (value: unknown) => value === false;
const oneOf =
  (...allowed: string[]) =>
  (value: unknown) =>
    typeof value === 'string' && allowed.includes(value);

const shared = 'it reads or writes state that is shared by all callers';
const stored = 'nothing is stored between calls. Send `store: false` and the whole conversation';
const whileRunning =
  'calls are answered while they run. Send `false`, or leave it out, and read a long answer as a stream';
const selfHosted = 'it steers the server that runs the model';
const otherSearch = `search with a tool of the type \`${ROUTER_TOOLS.search}\``;
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
const billsUs = (value: unknown) => isRecord(value) && value.bill_to === 'self';
/** A template may loop for ever; `tokenize` makes the server read its own numbers as text. */
const isHarmlessTemplateInput = (value: unknown) =>
  isRecord(value) && !Object.hasOwn(value, 'chat_template') && !Object.hasOwn(value, 'tokenize');

export const fieldRules: ReadonlyMap<string, FieldRule> = new Map<string, FieldRule>([
  ...each(refuse(`${stored} in \`input\``), 'previous_response_id', 'conversation'),
  ['store', refuse(stored, isFalse)],
  ['background', refuse(`${whileRunning}; its \`store\` must be \`false\`, too`, isFalse)],
  ['deferred', refuse(whileRunning, isFalse)],
  ['prompt', refuse('prompts are not stored. Send the text of the prompt itself')],
  ['preset', refuse('presets are not stored. Send the settings themselves')],
  ...each(refuse(shared), 'container', 'user_profile_id', 'vector_store_ids'),
  ['thread', noThreads],
  ...each(refuse(shared), 'cached_content', 'cachedContent'),
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
  ['compaction', refuse(otherPrice)],
  ['billing_policy', refuse('it names somebody else who pays', billsUs)],
  ...each(refuse(otherCap), 'n_predict', 'num_predict', 'max_new_tokens', 'max_length'),
  ['max_tokens_to_sample', refuse(otherCap)],

  ['mcp_servers', refuseTool('a tool server would run calls of its own')],
  ['web_search_options', bound],
  ...each(refuseTool(otherSearch), 'x_search_filter', 'search_parameters', 'data_sources'),
  ['enable_search', refuseTool(otherSearch, isFalse)],
  ['stop_server_tools_when', bound],
  ['max_tool_calls', bound],

  ['best_of', refuse(otherPrice, (value) => value === 1)],
  ['use_beam_search', refuse(otherPrice, isFalse)],
  ['prompt_logprobs', refuse(otherPrice)],
  ['chat_template_kwargs', refuse(selfHosted, isHarmlessTemplateInput)],
  ...each(refuse(selfHosted), 'priority', 'cache_salt', 'extra_key', 'chat_template', 'kv_transfer_params'),
  ...each(refuse(selfHosted), 'request_id', 'logits_processors', 'vllm_xargs', 'mm_processor_kwargs'),
  ...each(refuse(selfHosted), 'media_io_kwargs', 'rid', 'lora_path', 'session_params', 'custom_params'),
  ...each(refuse(selfHosted), 'custom_logit_processor', 'bootstrap_host', 'bootstrap_port', 'bootstrap_room'),
  ['return_hidden_states', refuse(selfHosted)],

  // Of no effect upstream, or written by the gateway in the caller's stead.
  ...each(drop, 'usage', 'trace', 'route', 'client_metadata'),
]);
