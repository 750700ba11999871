import type { CallIdRule, Dialect, TurnRules } from '#core/catalog/dialect.ts';
import { isPrivateHost } from '#core/catalog/private-host.ts';
import { FOREIGN_FIELDS, GOOGLE_FIELDS, SELF_HOSTED_FIELDS } from './dialect-fields.ts';

export type DialectName = keyof typeof dialects;

const NONE: ReadonlySet<string> = new Set();
/** Every server with efforts takes these. */
const THREE_EFFORTS = ['low', 'medium', 'high'];
/** Every server takes these in an answer of a conversation. */
const ANSWER = ['role', 'content', 'name', 'tool_calls', 'function_call'];

/** The lengths are those that OpenAI's refusals name (`string_above_max_length`). */
const atMost = (charsMax: number): CallIdRule => ({ charsMin: 0, charsMax, isAlphanumeric: false });

/** The order of messages of a server of which nothing is known. */
const anyTurns: TurnRules = {
  hasDeveloper: true,
  systemFirst: null,
  userAfterResult: true,
  mayLackReasoning: true,
  prefill: null,
};
/** The order of messages that the templates of all open models take. */
const templateTurns: TurnRules = { ...anyTurns, hasDeveloper: false, systemFirst: true };

/** A server of which nothing is known: it is sent what the oldest compatible server understands. */
export const plainDialect: Dialect = {
  formats: ['chat'],
  hosts: [],
  capField: 'max_tokens',
  images: 'url',
  fields: null,
  knownAnswerFormatsOnly: false,
  refusedFields: NONE,
  refusedChatFields: NONE,
  turns: anyTurns,
  takesSchemas: true,
  takesSchemaChoices: true,
  takesCustomTools: true,
  restsByThinking: false,
  chatTags: [],
  reasoningMember: 'reasoning_content',
  takesThinkingParts: false,
  takesReasoningDetails: false,
  answerMembers: null,
  answerParts: NONE,
  efforts: null,
  callIds: {},
  signsCalls: false,
  vendorFields: [],
  saltedFormats: [],
};

/** A vendor's server, or one whose source everybody can read. */
const knownDialect: Dialect = {
  ...plainDialect,
  answerMembers: new Set(ANSWER),
  efforts: ['none', ...THREE_EFFORTS],
  turns: templateTurns,
  takesCustomTools: false,
};

/** A server that the operator runs. Images of earlier answers are checked like all others, and sent along. */
const selfHostedDialect: Dialect = {
  ...knownDialect,
  answerMembers: new Set([...ANSWER, 'refusal', 'images']),
  answerParts: new Set(['refusal']),
  images: 'inline',
  fields: SELF_HOSTED_FIELDS,
  knownAnswerFormatsOnly: true,
};

export const dialects = {
  // It may be a router, which passes on the signatures of the vendors behind it.
  other: { ...plainDialect, takesReasoningDetails: true },
  // Its responses refer to reasoning that it keeps, or has not kept: a caller that sends it back would be told that it is gone.
  openai: {
    ...knownDialect,
    // Its reasoning models call functions over responses alone.
    formats: ['chat', 'responses'],
    hosts: ['api.openai.com'],
    capField: 'max_completion_tokens',
    refusedFields: new Set([...FOREIGN_FIELDS, 'include_reasoning', 'safe_prompt', 'random_seed']),
    // It takes them with `store` alone, which no call may ask for (community.openai.com/t/1109098).
    refusedChatFields: new Set(['metadata']),
    turns: { ...anyTurns, systemFirst: false },
    takesSchemaChoices: false,
    takesCustomTools: true,
    chatTags: ['user', 'prompt_cache_key', 'safety_identifier'],
    reasoningMember: null,
    answerMembers: new Set([...ANSWER, 'refusal', 'audio']),
    answerParts: new Set(['refusal']),
    efforts: ['none', 'minimal', ...THREE_EFFORTS, 'xhigh', 'max'],
    callIds: { chat: atMost(40), responses: atMost(64) },
  },
  vllm: { ...selfHostedDialect, saltedFormats: ['chat', 'responses'] },
  sglang: { ...selfHostedDialect, saltedFormats: ['chat'], efforts: THREE_EFFORTS },
  ollama: { ...selfHostedDialect, reasoningMember: 'reasoning' },
  // Any server in the operator's own network of which nothing else is known: the same care as for those that are known.
  'self-hosted': selfHostedDialect,
  groq: {
    ...knownDialect,
    hosts: ['api.groq.com'],
    refusedFields: new Set([
      ...FOREIGN_FIELDS,
      ...['logprobs', 'top_logprobs', 'logit_bias', 'n', 'messages[].name', 'safe_prompt', 'random_seed'],
    ]),
    reasoningMember: 'reasoning',
    vendorFields: ['x_groq'],
  },
  together: {
    ...knownDialect,
    hosts: ['api.together.ai', 'api.together.xyz'],
    reasoningMember: 'reasoning',
  },
  fireworks: {
    ...knownDialect,
    formats: ['chat', 'messages'],
    hosts: ['api.fireworks.ai'],
    efforts: ['none', ...THREE_EFFORTS, 'xhigh'],
  },
  // In its thinking mode, which is its default, it refuses an earlier answer without reasoning (NousResearch/hermes-agent#15228), and a
  // tool that must be called (deepseek-ai/DeepSeek-V3#1376). It knows no schemas of answers (UKGovernmentBEIS/inspect_ai#4916).
  deepseek: {
    ...knownDialect,
    hosts: ['api.deepseek.com'],
    // Its model that reasons wants the user to speak last (api-docs.deepseek.com/guides/chat_prefix_completion).
    turns: { ...templateTurns, systemFirst: false, mayLackReasoning: false, prefill: 'asked' },
    takesSchemas: false,
    restsByThinking: true,
    answerMembers: new Set([...ANSWER, 'prefix']),
    efforts: [...THREE_EFFORTS, 'max'],
  },
  // Kimi refuses an earlier call without its reasoning, and a tool that must be called while it reasons (continuedev/continue#11600,
  // can1357/oh-my-pi#1077). It takes images as data alone (platform.kimi.ai/docs/api/chat), and goes on with an answer
  // that is `partial` (platform.kimi.ai/docs/api/partial).
  moonshot: {
    ...knownDialect,
    hosts: ['api.moonshot.ai', 'api.moonshot.cn'],
    images: 'inline',
    turns: { ...templateTurns, systemFirst: false, mayLackReasoning: false, prefill: 'partial' },
    restsByThinking: true,
    answerMembers: new Set([...ANSWER, 'partial']),
  },
  // It answers any name that its schema lacks with 422. Its own reasoning stands among the parts of the content.
  mistral: {
    ...knownDialect,
    hosts: ['api.mistral.ai'],
    refusedFields: new Set([
      ...FOREIGN_FIELDS,
      ...['messages[].name', 'seed', 'logprobs', 'top_logprobs', 'logit_bias', 'include_reasoning', 'user'],
      ...[
        'verbosity',
        'safety_identifier',
        'prompt_cache_key',
        'prompt_cache_retention',
        'web_search_options',
      ],
    ]),
    // Its source of the order of messages is mistralai/mistral-common, `protocol/instruct/validator.py`.
    turns: { ...templateTurns, userAfterResult: false, prefill: 'prefix' },
    efforts: ['none', 'high'],
    reasoningMember: null,
    // docs.mistral.ai: reasoning, as the AI SDK's provider sends it.
    takesThinkingParts: true,
    answerMembers: new Set(['role', 'content', 'tool_calls', 'prefix']),
    answerParts: new Set(['thinking', 'reference', 'tool_reference']),
    callIds: { chat: { charsMin: 9, charsMax: 9, isAlphanumeric: true } },
  },
  google: {
    ...knownDialect,
    hosts: ['generativelanguage.googleapis.com'],
    fields: GOOGLE_FIELDS,
    turns: { ...templateTurns, systemFirst: false },
    reasoningMember: null,
    efforts: ['none', 'minimal', ...THREE_EFFORTS],
    signsCalls: true,
  },
} as const satisfies Record<string, Dialect>;

export const DIALECT_NAMES = Object.keys(dialects) as [DialectName, ...DialectName[]];

/**
 * The dialect of a server whose dialect nobody has written down: a vendor's at its own address, the careful one at an address
 * that is private, else `other`, of which only a name server can tell whether it should have been the careful one.
 */
export function dialectAt(baseUrl: string): DialectName {
  const host = URL.parse(baseUrl)?.hostname ?? '';
  const vendors = DIALECT_NAMES.find((name) => dialects[name].hosts.some((each) => each === host));
  return vendors ?? (isPrivateHost(host) ? 'self-hosted' : 'other');
}
