import type { FormatName } from '#core/catalog/catalog.ts';

type Fields = Readonly<Record<FormatName, ReadonlySet<string>>>;

/*
 * Fields of a body that some servers may be sent and no others. Those that the gateway writes itself, and hints that may be
 * left out, stand in no list.
 */

const CHAT = [
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'temperature',
  'top_p',
  'n',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'response_format',
  'reasoning',
  'reasoning_effort',
  'stream_options',
];

const RESPONSES = [
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_tool_calls',
  'temperature',
  'top_p',
  'top_logprobs',
  'reasoning',
  'text',
];

const MESSAGES = [
  'messages',
  'system',
  'tools',
  'tool_choice',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'thinking',
  'output_config',
];

/** How the next token is chosen, as open servers have it. */
const SAMPLING = [
  'top_k',
  'min_p',
  'repetition_penalty',
  'length_penalty',
  'min_tokens',
  'stop_token_ids',
  'include_stop_str_in_output',
  'skip_special_tokens',
  'ignore_eos',
  'bad_words',
  'include_reasoning',
  'add_generation_prompt',
  'continue_final_message',
  'chat_template_kwargs',
];

/**
 * Servers that operators run themselves take powerful fields from anybody: other adapters, other hosts, code. New ones
 * appear with each version, so what is not known to be harmless is not sent.
 */
export const SELF_HOSTED_FIELDS: Fields = {
  chat: new Set([...CHAT, ...SAMPLING]),
  responses: new Set(RESPONSES),
  messages: new Set(MESSAGES),
};

/**
 * Fields of other vendors and of open servers, which some refuse a whole request for. New fields of a vendor's own appear each month, so
 * what is in no list is sent.
 */
export const FOREIGN_FIELDS: readonly string[] = [
  ...SAMPLING.filter((name) => name !== 'include_reasoning'),
  ...['top_a', 'typical_p', 'tfs_z', 'mirostat', 'best_of', 'use_beam_search', 'sampling_seed'],
  ...['guided_json', 'guided_regex', 'guided_choice', 'guided_grammar', 'structured_outputs', 'grammar'],
  ...['enable_thinking', 'thinking', 'thinking_budget', 'preserve_thinking', 'reasoning_split'],
  ...['mm_processor_kwargs', 'priority', 'repetition_context_size', 'separate_reasoning', 'echo', 'raw_mode'],
  ...['enable_search', 'search_options', 'search_parameters', 'return_images', 'return_related_questions'],
  ...['do_sample', 'tool_stream', 'keep_alive', 'options', 'think', 'context_length_exceeded_behavior'],
];

/** In its own format the vendor has these, and in a chat it knows no such name. */
const UNKNOWN_TO_GOOGLE: ReadonlySet<string> = new Set(['frequency_penalty', 'presence_penalty', 'seed']);

/** Refuses a whole request for one field that it does not know. */
export const GOOGLE_FIELDS: Fields = {
  chat: new Set(CHAT.filter((name) => !UNKNOWN_TO_GOOGLE.has(name))),
  responses: new Set(RESPONSES),
  messages: new Set(MESSAGES),
};
