/**
 * What a number of a usage record counts. `cached` and `cacheWritten` are parts of `prompt`, and stand beside `promptBeside`.
 */
export type UsageRole =
  /** The whole prompt, what came from a cache or went to it included. */
  | 'prompt'
  /** The part of the prompt that neither came from a cache nor went to it. */
  | 'promptBeside'
  | 'cached'
  | 'cacheWritten'
  | 'cacheWritten5m'
  | 'cacheWritten1h'
  | 'completion'
  | 'reasoning'
  | 'total'
  /** Searches that the model ran by itself. */
  | 'webSearches';

/** The names of one format's counters, each with its path in the record: a dot leads into a record inside. */
export type FormatFields = { readonly [role in UsageRole]?: readonly string[] };

export type UsageFormat = 'chat' | 'responses' | 'messages';

/** One vendor or server: where its documentation, its SDK or its source says which numbers its usage records have. */
export interface VendorUsage {
  readonly vendor: string;
  readonly source: string;
  readonly formats: { readonly [format in UsageFormat]?: FormatFields };
  /** Members that say what the vendor charges its own customer. No caller sees them. */
  readonly bill?: readonly string[];
  /** Where a chunk or an answer holds the record, if not in its member `usage`. */
  readonly place?: 'x_groq' | 'choices' | 'amazon-bedrock-invocationMetrics';
}

const CHAT: FormatFields = {
  prompt: ['prompt_tokens'],
  completion: ['completion_tokens'],
  total: ['total_tokens'],
  cached: ['prompt_tokens_details.cached_tokens'],
  reasoning: ['completion_tokens_details.reasoning_tokens'],
};

const RESPONSES: FormatFields = {
  prompt: ['input_tokens'],
  completion: ['output_tokens'],
  total: ['total_tokens'],
  cached: ['input_tokens_details.cached_tokens'],
  reasoning: ['output_tokens_details.reasoning_tokens'],
};

const MESSAGES: FormatFields = {
  promptBeside: ['input_tokens'],
  completion: ['output_tokens'],
  cached: ['cache_read_input_tokens'],
  cacheWritten: ['cache_creation_input_tokens'],
};

/**
 * The usage records of the vendors and servers that the gateway is known to work with, one row each. Readers take all names
 * of a format together (`usage-names.ts`), because one server often stands in for another at the same address.
 */
export const vendorUsages: readonly VendorUsage[] = [
  {
    vendor: 'OpenAI',
    source: 'openai/openai-python: types/completion_usage.py, types/responses/response_usage.py',
    formats: {
      chat: { ...CHAT, cacheWritten: ['prompt_tokens_details.cache_write_tokens'] },
      responses: { ...RESPONSES, cacheWritten: ['input_tokens_details.cache_write_tokens'] },
    },
  },
  {
    vendor: 'Azure OpenAI',
    source: 'learn.microsoft.com: Azure OpenAI REST API reference, completionUsage and responseUsage',
    formats: { chat: CHAT, responses: RESPONSES },
  },
  {
    vendor: 'Anthropic',
    source: 'anthropics/anthropic-sdk-typescript: resources/messages, Usage and MessageDeltaUsage',
    formats: {
      messages: {
        ...MESSAGES,
        cacheWritten5m: ['cache_creation.ephemeral_5m_input_tokens'],
        cacheWritten1h: ['cache_creation.ephemeral_1h_input_tokens'],
        reasoning: ['output_tokens_details.thinking_tokens'],
        webSearches: ['server_tool_use.web_search_requests'],
      },
    },
  },
  {
    vendor: 'Amazon Bedrock (Claude)',
    source:
      'docs.aws.amazon.com: Bedrock, Anthropic Claude Messages; the last event of a stream has invocation metrics',
    formats: {
      messages: {
        promptBeside: ['input_tokens', 'inputTokenCount'],
        completion: ['output_tokens', 'outputTokenCount'],
        cached: ['cache_read_input_tokens', 'cacheReadInputTokenCount'],
        cacheWritten: ['cache_creation_input_tokens', 'cacheWriteInputTokenCount'],
      },
    },
    place: 'amazon-bedrock-invocationMetrics',
  },
  {
    vendor: 'Amazon Bedrock (OpenAI formats)',
    source:
      'docs.aws.amazon.com: Bedrock, InvokeModelWithResponseStream; the last chunk has invocation metrics',
    formats: {
      chat: {
        ...CHAT,
        prompt: ['prompt_tokens', 'inputTokenCount'],
        completion: ['completion_tokens', 'outputTokenCount'],
      },
      responses: {
        ...RESPONSES,
        prompt: ['input_tokens', 'inputTokenCount'],
        completion: ['output_tokens', 'outputTokenCount'],
      },
    },
    place: 'amazon-bedrock-invocationMetrics',
  },
  {
    vendor: 'Google Vertex AI (Claude)',
    source: 'docs.cloud.google.com/vertex-ai: Claude models, the same record as Anthropic',
    formats: { messages: MESSAGES },
  },
  {
    vendor: 'OpenRouter',
    source: 'openrouter.ai/docs: usage accounting; OpenRouterTeam/typescript-sdk: PromptTokensDetails',
    formats: {
      chat: { ...CHAT, cacheWritten: ['prompt_tokens_details.cache_write_tokens'] },
      responses: { ...RESPONSES, cacheWritten: ['input_tokens_details.cache_write_tokens'] },
      messages: MESSAGES,
    },
    bill: ['cost', 'cost_details', 'is_byok'],
  },
  {
    vendor: 'Google Gemini (OpenAI format)',
    source: 'ai.google.dev/gemini-api/docs/openai: thinking counts in the total alone',
    formats: { chat: CHAT },
  },
  {
    vendor: 'DeepSeek',
    source: 'api-docs.deepseek.com/api/create-chat-completion: usage',
    formats: {
      chat: {
        ...CHAT,
        cached: ['prompt_cache_hit_tokens', 'prompt_tokens_details.cached_tokens'],
        promptBeside: ['prompt_cache_miss_tokens'],
      },
      messages: MESSAGES,
    },
  },
  {
    vendor: 'Mistral',
    source: 'docs.mistral.ai: prompt caching; vercel/ai: packages/mistral, MistralUsage',
    formats: {
      chat: {
        ...CHAT,
        cached: [
          'num_cached_tokens',
          'prompt_tokens_details.cached_tokens',
          'prompt_token_details.cached_tokens',
        ],
      },
    },
  },
  {
    vendor: 'Groq',
    source:
      'groq/groq-typescript: resources/completions, CompletionUsage; console.groq.com/docs: x_groq.usage in streams',
    formats: { chat: CHAT, responses: RESPONSES },
    place: 'x_groq',
  },
  {
    vendor: 'xAI',
    source:
      'docs.x.ai: prompt caching, usage and pricing; vercel/ai: packages/xai, reasoning and some caches outside',
    formats: { chat: CHAT, responses: RESPONSES },
    bill: ['cost_in_usd_ticks', 'cost_in_nano_usd'],
  },
  {
    vendor: 'Cohere (OpenAI format)',
    source: 'docs.cohere.com: compatibility API, usage; chat v2 adds cached_tokens',
    formats: { chat: { ...CHAT, cached: ['cached_tokens', 'prompt_tokens_details.cached_tokens'] } },
  },
  {
    vendor: 'Fireworks',
    source: 'docs.fireworks.ai: chat completions, UsageInfo',
    formats: { chat: CHAT, messages: MESSAGES },
  },
  {
    vendor: 'Together',
    source: 'docs.together.ai: chat completions, usage with cached_tokens beside the details',
    formats: {
      chat: {
        ...CHAT,
        cached: ['cached_tokens', 'prompt_tokens_details.cached_tokens'],
        reasoning: ['reasoning_tokens', 'completion_tokens_details.reasoning_tokens'],
      },
    },
  },
  {
    vendor: 'Moonshot (Kimi)',
    source: 'platform.kimi.ai/docs/api: usage.cached_tokens; choices[0].usage in the last chunk of a stream',
    formats: {
      chat: { ...CHAT, cached: ['cached_tokens', 'prompt_tokens_details.cached_tokens'] },
      messages: MESSAGES,
    },
    place: 'choices',
  },
  {
    vendor: 'Alibaba Model Studio (Qwen, DashScope)',
    source: 'alibabacloud.com/help/en/model-studio/context-cache and /explicit-cache-qwen4: usage',
    formats: {
      chat: {
        ...CHAT,
        cacheWritten: ['prompt_tokens_details.cache_creation_input_tokens'],
        cacheWritten5m: [
          'prompt_tokens_details.cache_creation.ephemeral_5m_input_tokens',
          'cache_creation.ephemeral_5m_input_tokens',
        ],
        cacheWritten1h: [
          'prompt_tokens_details.cache_creation.ephemeral_1h_input_tokens',
          'cache_creation.ephemeral_1h_input_tokens',
        ],
      },
      responses: { ...RESPONSES, cacheWritten: ['input_tokens_details.cache_creation_input_tokens'] },
      messages: MESSAGES,
    },
  },
  {
    vendor: 'Z.ai (Zhipu GLM)',
    source:
      'docs.z.ai/api-reference/llm/chat-completion: usage; docs.litellm.ai/docs/providers/zai: the OpenAI record',
    formats: { chat: CHAT, messages: MESSAGES },
  },
  {
    vendor: 'MiniMax',
    source:
      'platform.minimax.io/docs: chat completion, usage with total_characters; earendil-works/pi#6567: a message_delta without usage',
    formats: { chat: CHAT, messages: MESSAGES },
  },
  {
    vendor: 'Perplexity',
    // Citation tokens are billed for deep research alone, which is not served (docs/decisions/money.md).
    source: 'docs.perplexity.ai: UsageInfo and Agent API; vercel/ai: packages/perplexity',
    formats: {
      chat: { ...CHAT, reasoning: ['reasoning_tokens', 'completion_tokens_details.reasoning_tokens'] },
      responses: {
        ...RESPONSES,
        cached: ['input_tokens_details.cached_tokens', 'input_tokens_details.cache_read_input_tokens'],
        cacheWritten: ['input_tokens_details.cache_creation_input_tokens'],
      },
    },
    bill: ['cost'],
  },
  {
    vendor: 'Cerebras',
    source: 'inference-docs.cerebras.ai: chat completions, usage',
    formats: { chat: CHAT },
  },
  {
    vendor: 'SambaNova',
    source:
      'docs.sambanova.ai: prompt caching, /docs/api-reference/messages and /docs/en/features/responses; Portkey-AI/gateway#548: recorded chunks',
    formats: { chat: CHAT, responses: RESPONSES, messages: MESSAGES },
  },
  {
    vendor: 'DeepInfra',
    source: 'deepinfra.com/docs/advanced/openai_api: the OpenAI record; usage.estimated_cost in answers',
    formats: { chat: CHAT, messages: MESSAGES },
    bill: ['estimated_cost'],
  },
  {
    vendor: 'vLLM',
    source:
      'vllm-project/vllm: entrypoints/openai/engine/protocol.py, UsageInfo; entrypoints/anthropic/protocol.py',
    formats: { chat: CHAT, responses: RESPONSES, messages: MESSAGES },
  },
  {
    vendor: 'SGLang',
    source:
      'sgl-project/sglang: entrypoints/openai/protocol.py, UsageInfo with reasoning_tokens beside; serving_responses.py, the same in a response',
    formats: {
      chat: { ...CHAT, reasoning: ['reasoning_tokens', 'completion_tokens_details.reasoning_tokens'] },
      responses: { ...CHAT, reasoning: ['reasoning_tokens', 'completion_tokens_details.reasoning_tokens'] },
      messages: {
        ...MESSAGES,
        prompt: ['prompt_tokens'],
        completion: ['completion_tokens', 'output_tokens'],
      },
    },
  },
  {
    vendor: 'llama.cpp',
    source:
      'ggml-org/llama.cpp: tools/server, usage with prompt_tokens_details; its timings say the same again',
    formats: { chat: CHAT, messages: MESSAGES },
  },
  {
    vendor: 'Ollama',
    source: 'ollama/ollama: openai/openai.go, Usage',
    formats: { chat: CHAT, responses: RESPONSES, messages: MESSAGES },
  },
  {
    vendor: 'LM Studio',
    source: 'lmstudio.ai/docs: OpenAI compatibility endpoints, usage',
    formats: { chat: CHAT, responses: RESPONSES, messages: MESSAGES },
  },
  {
    vendor: 'TGI and Hugging Face',
    source: 'huggingface/text-generation-inference: router, Usage; vercel/ai: packages/huggingface',
    formats: { chat: CHAT, responses: RESPONSES },
  },
  {
    vendor: 'LiteLLM',
    source:
      'docs.litellm.ai: prompt caching; the caches of Claude models stand inside prompt_tokens and are named beside it',
    formats: {
      chat: {
        ...CHAT,
        cached: ['cache_read_input_tokens', 'prompt_tokens_details.cached_tokens'],
        cacheWritten: ['cache_creation_input_tokens', 'prompt_tokens_details.cache_creation_tokens'],
      },
      responses: RESPONSES,
      messages: MESSAGES,
    },
  },
  {
    vendor: 'Requesty',
    source: 'RooCodeInc/Roo-Code: src/api/providers/requesty.ts, RequestyUsage',
    formats: { chat: { ...CHAT, cacheWritten: ['prompt_tokens_details.caching_tokens'] } },
  },
  {
    vendor: 'Inception',
    source: 'Kilo-Org/kilocode: Mercury edit completions, usage with cached_input_tokens',
    formats: {
      chat: {
        ...CHAT,
        cached: ['cached_input_tokens', 'prompt_tokens_details.cached_tokens'],
        reasoning: ['reasoning_tokens', 'completion_tokens_details.reasoning_tokens'],
      },
    },
  },
  {
    vendor: 'Bifrost',
    source: 'maximhq/bifrost: core/schemas, ChatPromptTokensDetails and ResponsesResponseInputTokens',
    formats: {
      chat: {
        ...CHAT,
        cached: ['prompt_tokens_details.cached_read_tokens', 'prompt_tokens_details.cached_tokens'],
        cacheWritten: ['prompt_tokens_details.cached_write_tokens'],
      },
      responses: {
        ...RESPONSES,
        cached: ['input_tokens_details.cached_read_tokens', 'input_tokens_details.cached_tokens'],
        cacheWritten: ['input_tokens_details.cached_write_tokens'],
      },
    },
  },
  {
    vendor: 'new-api',
    source:
      'QuantumNous/new-api: dto/openai_response.go, Usage with the names of chat and of responses in one record',
    formats: {
      chat: {
        ...CHAT,
        prompt: ['prompt_tokens', 'input_tokens'],
        completion: ['completion_tokens', 'output_tokens'],
        cached: [
          'prompt_tokens_details.cached_tokens',
          'prompt_cache_hit_tokens',
          'input_tokens_details.cached_tokens',
        ],
        cacheWritten: ['prompt_tokens_details.cached_creation_tokens'],
      },
      responses: RESPONSES,
      messages: MESSAGES,
    },
  },
];
