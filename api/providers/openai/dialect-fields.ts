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

/** Refuses a whole request for one field that it does not know. */
export const GOOGLE_FIELDS: Fields = {
  chat: new Set(CHAT),
  responses: new Set(RESPONSES),
  messages: new Set(MESSAGES),
};
