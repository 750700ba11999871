import type { QuirkName } from '../../api/simulator/quirks.ts';

/** An error as a server of this name sends it: its status, headers and whole body. */
export interface QuirkError {
  status: number;
  headers?: Record<string, string>;
  body: unknown;
}

interface QuirkErrors {
  /** A prompt that is longer than the context. */
  tooLong: QuirkError;
  /** Missing: the server has no policy of its own. */
  policy?: QuirkError;
  /** With the seconds that it names; missing: the server names none. */
  wait?: QuirkError & { seconds: number };
}

const openai = (message: string, more: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...more },
});
const flat = (message: string) => ({
  object: 'error',
  message,
  type: 'BadRequestError',
  param: null,
  code: 400,
});

/** The shapes are those of the servers' documentation and sources, and of reports of their users; the counts are our own. */
export const quirkErrors: Readonly<Record<QuirkName, QuirkErrors>> = {
  ollama: { tooLong: { status: 400, body: openai('input length exceeds maximum context length') } },
  vllm: {
    tooLong: {
      status: 400,
      body: flat("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens."),
    },
  },
  sglang: {
    tooLong: {
      status: 400,
      body: flat("The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
    },
  },
  'llama.cpp': {
    tooLong: {
      status: 400,
      body: {
        error: {
          code: 400,
          message:
            'request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it',
          type: 'exceed_context_size_error',
          n_prompt_tokens: 5_000,
          n_ctx: 4_096,
        },
      },
    },
  },
  tgi: {
    tooLong: {
      status: 422,
      body: {
        error:
          'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 16 `max_new_tokens`',
        error_type: 'validation',
      },
    },
  },
  deepseek: {
    tooLong: {
      status: 400,
      body: openai(
        "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens.",
      ),
    },
    policy: { status: 400, body: openai('Content Exists Risk') },
  },
  moonshot: {
    tooLong: {
      status: 400,
      body: openai('Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)'),
    },
    policy: {
      status: 400,
      body: openai('The request was rejected because it was considered high risk', {
        type: 'content_filter',
      }),
    },
    wait: {
      status: 429,
      body: openai('Your account request reached max request: 3, please try again after 7 seconds', {
        type: 'rate_limit_reached_error',
      }),
      seconds: 7,
    },
  },
  glm: {
    tooLong: { status: 400, body: { error: { code: '1261', message: 'Prompt exceeds max length' } } },
    policy: {
      status: 400,
      body: {
        contentFilter: [{ level: 1, role: 'user' }],
        error: { code: '1301', message: '系统检测到输入或生成内容可能包含不安全或敏感内容。' },
      },
    },
  },
  qwen: {
    tooLong: { status: 400, body: openai('Range of input length should be [1, 30720]') },
    policy: {
      status: 400,
      body: {
        ...openai('Input data may contain inappropriate content.', { code: 'data_inspection_failed' }),
        request_id: 'r',
      },
    },
  },
  mistral: {
    tooLong: {
      status: 400,
      body: flat(
        'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      ),
    },
    wait: {
      status: 429,
      headers: { 'ratelimitbysize-remaining': '0', 'ratelimitbysize-reset': '12' },
      body: { message: 'Requests rate limit exceeded' },
      seconds: 12,
    },
  },
  xai: {
    tooLong: {
      status: 400,
      body: {
        code: 'Client specified an invalid argument',
        error: "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
      },
    },
    policy: {
      status: 403,
      body: {
        code: 'The caller does not have permission to execute the specified operation',
        error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE',
      },
    },
  },
  groq: {
    tooLong: { status: 400, body: openai('Please reduce the length of the messages or completion.') },
    wait: {
      status: 429,
      headers: { 'retry-after': '8' },
      body: openai('Rate limit reached. Please try again in 7.66s.', {
        type: 'tokens',
        code: 'rate_limit_exceeded',
      }),
      seconds: 8,
    },
  },
  gemini: {
    tooLong: {
      status: 400,
      body: [
        {
          error: {
            code: 400,
            message: 'The input token count (40000) exceeds the maximum number of tokens allowed (32768).',
            status: 'INVALID_ARGUMENT',
          },
        },
      ],
    },
    policy: {
      status: 400,
      body: [
        {
          error: {
            code: 400,
            message: 'The prompt was blocked.',
            status: 'INVALID_ARGUMENT',
            metadata: { block_reason: 'PROHIBITED_CONTENT' },
          },
        },
      ],
    },
    wait: {
      status: 429,
      body: [
        {
          error: {
            code: 429,
            message: 'You exceeded your current quota.',
            status: 'RESOURCE_EXHAUSTED',
            details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' }],
          },
        },
      ],
      seconds: 34,
    },
  },
  azure: {
    tooLong: {
      status: 400,
      body: openai("This model's maximum context length is 8192 tokens.", {
        code: 'context_length_exceeded',
      }),
    },
    policy: {
      status: 400,
      body: openai('The response was filtered.', {
        code: 'content_filter',
        innererror: { code: 'ResponsibleAIPolicyViolation' },
      }),
    },
    wait: {
      status: 429,
      headers: { 'x-ms-retry-after-ms': '9000' },
      body: { error: { code: '429', message: 'Please retry after 9 seconds.' } },
      seconds: 9,
    },
  },
  bedrock: {
    tooLong: { status: 400, body: { message: 'Input is too long for requested model.' } },
    policy: { status: 400, body: { message: 'The request was blocked by guardrail configuration.' } },
  },
  litellm: {
    tooLong: {
      status: 400,
      body: openai('litellm.ContextWindowExceededError: prompt is too long: 5000 tokens > 4096 maximum'),
    },
    policy: {
      status: 400,
      body: { error: { message: { error: 'Violated guardrail policy' }, code: '400' } },
    },
    wait: {
      status: 429,
      body: openai('No deployments available for selected model, Try again in 5 seconds.'),
      seconds: 5,
    },
  },
};
