import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { saysOtherReason, saysPolicy, saysTooLong } from '../../api/providers/error-sentences.ts';

const said = (message: string) => ({ message });

/** As vendors and servers write it: learned from their documentation, their sources, and reports of their users. */
const tooLong: readonly (readonly [vendor: string, detail: Readonly<Record<string, unknown>>])[] = [
  [
    'OpenAI',
    { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' },
  ],
  [
    'OpenAI, one message',
    { code: 'string_above_max_length', param: 'messages[0].content', message: 'Expected a shorter string.' },
  ],
  ['Anthropic', said('prompt is too long: 210000 tokens > 200000 maximum')],
  [
    'Anthropic, with its cap',
    said('input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000'),
  ],
  ['Gemini', said('The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).')],
  [
    'llama.cpp',
    said('request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it'),
  ],
  ['llama.cpp, by its type', { type: 'exceed_context_size_error', message: 'no' }],
  ['llama.cpp, by its counts', { message: 'no', n_prompt_tokens: 66_202, n_ctx: 65_536 }],
  [
    'Vertex',
    said(
      'Unable to submit request because the input token count is 1251952 but model only supports up to 1048576.',
    ),
  ],
  ['SiliconFlow', said('length of prompt_tokens (57535) must be less than max_seq_len (32768).')],
  ['Moonshot', said('Total message token length exceed model limit')],
  ['Zhipu', said('Prompt 超长')],
  ['xAI', said("This model's maximum prompt length is 131072 but the request contains 140000 tokens.")],
  ['Groq', said('Please reduce the length of the messages or completion.')],
  ['vLLM', said("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.")],
  ['SGLang', said("The input (5000 tokens) is longer than the model's context length (4096 tokens).")],
  ['TGI', said('`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 16')],
  ['Ollama', said('input length exceeds maximum context length')],
  [
    'Mistral',
    said(
      'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    ),
  ],
  ['Cohere', said('too many tokens: total number of tokens in the prompt cannot exceed 128000')],
  ['Bedrock', said('Input is too long for requested model.')],
  [
    'Bedrock, Titan',
    said(
      'Malformed input request: expected maxLength: 50000, actual: 61000, please reformat your input and try again.',
    ),
  ],
  [
    'TensorRT-LLM',
    said('The sum of prompt length (9000.0), query length (0) should not exceed max_num_tokens (8192)'),
  ],
  ['Baidu', said('the length of messages should be no larger than 516096 in characters')],
  ['Baidu, by its older words', said('the max input characters is 20000')],
  ['Moonshot', said('Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)')],
  ['GLM', said('Prompt exceeds max length, input length too long: 210000 tokens, limit 202752')],
  ['DashScope', said('Range of input length should be [1, 30720]')],
  [
    'Copilot',
    {
      code: 'model_max_prompt_tokens_exceeded',
      message: 'prompt token count of 70000 exceeds the limit of 64000',
    },
  ],
  ['MiniMax', said('invalid params, context window exceeds limit (2013)')],
  [
    'OpenRouter',
    said('This endpoint’s maximum context length is 8192 tokens. However, you requested about 9000 tokens'),
  ],
  [
    'LM Studio',
    said('The number of tokens to keep from the initial prompt is greater than the context length'),
  ],
  ['Together', said('`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens')],
  [
    'Together, of later models',
    said('Input validation error: `inputs` must have less than 4096 tokens. Given: 5000'),
  ],
  ['Anthropic on Vertex', { status: 'INVALID_ARGUMENT', message: 'Prompt is too long' }],
  [
    'Cerebras',
    said(
      'Please reduce the length of the messages or completion. Current length is 9034 while limit is 8192',
    ),
  ],
  ['Fireworks', said('The prompt is too long: 140051, model maximum context length: 131071')],
  [
    'vLLM, of a long input',
    said('The decoder prompt (length 9000) is longer than the maximum model length of 8192.'),
  ],
  [
    'vLLM, whose cap would fit alone',
    said(
      "'max_tokens' is too large: 8192. This model's maximum context length is 32768 tokens and your request has 30000 input tokens (8192 > 32768 - 30000).",
    ),
  ],
  ['Ollama, of its context', said('prompt too long; exceeded max context length by 3 tokens')],
  ['Volcengine', said('Total tokens of image and text exceed max message tokens')],
  ['Baidu', said('prompt tokens too long')],
  ['GLM, by its number', { code: '1261', message: 'Prompt exceeds max length' }],
  [
    'a router, of the vendor behind it',
    {
      message: 'Provider returned error',
      metadata: { raw: '{"error":"prompt is too long: 210000 tokens > 200000 maximum"}' },
    },
  ],
  ['a vendor in Chinese', said('输入内容的长度超过了模型的上下文限制')],
  ['Databricks', said('Input length 40001 exceeds the maximum allowed input token length 32000')],
  [
    'Perplexity',
    said('The input and output tokens of your request exceed the model’s context limit of 127072 tokens'),
  ],
];

const notTooLong: readonly (readonly [what: string, detail: Readonly<Record<string, unknown>>])[] = [
  [
    'a cap above the model’s',
    said('max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens'),
  ],
  ['a rate of tokens', said('Rate limit reached: Limit 30000 tokens per min, Requested 40000.')],
  [
    'a name that is too long',
    said("Invalid 'tools[0].function.name': string too long. Expected maximum length 64."),
  ],
  ['a tag that is too long', { code: 'string_above_max_length', param: 'metadata.a', message: 'x' }],
  ['a temperature', said('temperature must be at most 2')],
  ['a model', said('The model `gpt-1048577` does not exist')],
  [
    'a cap above what the model writes',
    said(
      'max_tokens is too large: 200000. This model supports at most 16384 completion tokens, whereas you provided 200000.',
    ),
  ],
  [
    'a cap above the whole context',
    said(
      "'max_tokens' or 'max_completion_tokens' is too large: 40000. This model's maximum context length is 32768 tokens and your request has 10 input tokens (40000 > 32768 - 10).",
    ),
  ],
  ['a cap of another name', said('max_completion_tokens (40000) exceeds the model’s limit of 8192 tokens')],
  ['a cap in words', said('Requested 5000 output tokens, at most 4096 are allowed')],
  ['a budget', said('thinking.budget_tokens: Input should be greater than or equal to 1024, got 500')],
  [
    'a budget above the cap',
    said('`max_tokens` (8000) must be greater than `thinking.budget_tokens` (16000)'),
  ],
  [
    'a list of tools',
    said(
      "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 200 instead.",
    ),
  ],
  [
    'the id of a call',
    said(
      "Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 154 instead.",
    ),
  ],
  ['the name of a tool', said('tools.0.custom.name: String should have at most 128 characters, got 300')],
  [
    'a key of the cache',
    said(
      "Invalid 'prompt_cache_key': string too long. Expected a string with maximum length 64, but got a string with length 300 instead.",
    ),
  ],
  ['a bias', said('logit_bias: token id 100300 is out of range, the vocabulary has 100256 tokens')],
  [
    'an image of many bytes',
    said('messages.0.content.0.image.source: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes'),
  ],
  [
    'an image of many pixels',
    said('At least one of the image dimensions exceed max allowed size: 8000 pixels, got 9000'),
  ],
  ['many images', said('Too many images in request: 120 > 100')],
  ['many pages', said('A maximum of 100 PDF pages may be provided in the request, got 300')],
  ['many marks for the cache', said('A maximum of 4 blocks with cache_control may be provided. Found 500.')],
  ['a seed', said('seed: 300000000000 exceeds maximum of 2147483647')],
  ['a schema', said('The schema exceeds the limit of 5000 properties: 6000 were counted')],
  ['an empty text', said('messages: text content blocks must be non-empty')],
  [
    'a call without a result',
    said('tool_use ids were found without tool_result blocks immediately after: toolu_10000'),
  ],
  ['a part that no model reads', said('This model does not support image input, see 200 and 100')],
  ['a beta', said('The long context beta is not yet available for this subscription.')],
  ['probabilities', said('top_logprobs: 100 tokens were requested, the limit is 20 tokens')],
  ['nothing', {}],
];

describe('a prompt that is longer than the context', () => {
  it.each(tooLong)('is known by what %s says: %j', (_vendor, detail) => {
    expect(saysTooLong(detail)).toBe(true);
  });

  it.each(notTooLong)('is not taken for %s: %j', (_what, detail) => {
    expect(saysTooLong(detail)).toBe(false);
  });
});

describe('another reason than the length of the prompt', () => {
  it.each(notTooLong.filter(([what]) => what !== 'nothing' && what !== 'a beta'))(
    'is heard where a server names one: %s',
    (_what, detail) => {
      expect(saysOtherReason(detail)).toBe(true);
    },
  );

  it.each([
    {},
    said(''),
    said('Bad Request'),
    said('400'),
    said('HTTP Error 400'),
    said('Invalid request.'),
    said('Request contains an invalid argument.'),
    said('Provider returned error'),
    said('Unprocessable Entity'),
    said('{}'),
    { message: 'Invalid request', param: null },
    { message: 'Bad request', param: 'messages' },
    said('The prompt could not be processed.'),
    said('The request is too large.'),
  ])('is none where a server names none: %j', (detail) => {
    expect(saysOtherReason(detail)).toBe(false);
  });
});

describe('a refusal by a vendor’s policy', () => {
  it.each<[string, Readonly<Record<string, unknown>>]>([
    [
      'OpenAI',
      {
        code: 'invalid_prompt',
        message: 'Your prompt was flagged as potentially violating our usage policy.',
      },
    ],
    ['OpenAI, images', { code: 'content_policy_violation', message: 'Your request was rejected.' }],
    ['OpenAI, images of later models', { code: 'moderation_blocked', message: 'Your request was rejected.' }],
    ['Azure', { code: 'content_filter', message: 'The response was filtered.' }],
    ['Azure, inside', { code: 'bad', innererror: { code: 'ResponsibleAIPolicyViolation' }, message: 'x' }],
    ['Anthropic', said('Output blocked by content filtering policy')],
    ['DeepSeek', said('Content Exists Risk')],
    [
      'DashScope',
      { code: 'data_inspection_failed', message: 'Input data may contain inappropriate content.' },
    ],
    ['GLM', { code: '1301', message: 'x' }],
    ['xAI', said('Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE')],
    ['Gemini', { message: 'x', metadata: { block_reason: 'PROHIBITED_CONTENT' } }],
    ['a vendor with apostrophes', said("The provider's system says it violates OpenAI's usage policies.")],
    [
      'OpenAI, of knowledge that harms',
      {
        code: 'invalid_prompt',
        message: "Invalid prompt: we've limited access to this content for safety reasons.",
      },
    ],
    ['DashScope, by its own name', { code: 'InternalError.Algo.DataInspectionFailed', message: 'x' }],
    ['Volcengine', { code: 'SensitiveContentDetected', message: 'x' }],
    ['Volcengine, of a kind', { code: 'SensitiveContentDetected.SevereViolation', message: 'x' }],
    ['Volcengine, of a text', { code: 'InputTextSensitiveContentDetected', message: 'x' }],
    ['Volcengine, of an answer’s image', { code: 'OutputImageSensitiveContentDetected', message: 'x' }],
    ['Volcengine, by a risk', { code: 'InputTextRiskDetection', message: 'x' }],
    [
      'Volcengine, in words',
      said('The request failed because the input text may contain sensitive information. Request id: 1'),
    ],
    ['MiniMax', said('input new_sensitive (1026)')],
    ['MiniMax, of an answer', said('output new_sensitive (1027)')],
    [
      'GLM, in words',
      said(
        '系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语，感谢您的配合。',
      ),
    ],
    ['a system that intercepts', said('抱歉，您的请求包含不安全内容，已被系统拦截。')],
    ['Spark', said('输入内容审核不通过，涉嫌违规，请重新调整输入内容')],
    ['Hunyuan', { code: 'OperationDenied.TextIllegalDetected', message: 'x' }],
    ['StepFun', { type: 'censorship_blocked', message: 'x' }],
    ['StepFun, in words', said('The content you provided or machine outputted is blocked.')],
    ['Moonshot', said('The request was rejected because it was considered high risk')],
    ['Google', { status: 'INVALID_ARGUMENT', details: [{ reason: 'PUBLIC_ERROR_UNSAFE_GENERATION' }] }],
    ['Gemini, in words', said('The prompt was blocked due to safety.')],
    ['Bedrock', said('The request was blocked by guardrail configuration.')],
    ['Bedrock, by what happened', said('Guardrail intervened: topic policy')],
    ['LiteLLM', said('Violated guardrail policy')],
    ['LiteLLM, in an object', { message: { error: 'Violated guardrail policy' } }],
    ['Databricks', { code: 'input_guardrail_triggered', message: 'x' }],
    [
      'a router, of the vendor behind it',
      {
        message: 'Provider returned error',
        metadata: {
          raw: '{"error":{"message":"The content is not allowed","type":"censorship_blocked"}}',
          provider_name: 'StepFun',
        },
      },
    ],
    [
      'a router, in the vendor’s words',
      { message: 'Provider returned error', metadata: { raw: 'Content Exists Risk' } },
    ],
    ['new-api', said('input contains sensitive words: [test]')],
    ['a server of images', said('NSFW content detected. Try another prompt.')],
    [
      'a server that begins like a fault of the form',
      said('Invalid input value: the text was flagged as harmful content'),
    ],
    ['another one', said('Invalid parameter: input text may contain sensitive information')],
    ['Google, by its reason in the sentence', said('Request blocked: PROHIBITED_CONTENT')],
    ['OpenAI, of attacks', { code: 'cyber_policy_violation', message: 'x' }],
    ['OpenAI, of biology', { code: 'bio_policy', message: "This content can't be shown." }],
    ['Portkey', { type: 'hooks_failed', message: 'x' }],
    ['Portkey, in words', said('The guardrail checks defined in the config failed.')],
    ['a vendor in Chinese', said('内容违规')],
    ['a gateway that repeats JSON', said('400: {"error":{"message":"Content violates our usage policy"}}')],
  ])('is known by what %s says: %j', (_vendor, detail) => {
    expect(saysPolicy(detail)).toBe(true);
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['the type of a part', said('messages.1.content.0.text: cannot contain unsafe content type')],
    [
      'a schema that Bedrock refuses',
      { code: 'invalid_prompt', message: 'tools.0.input_schema: type is missing' },
    ],
    ['an unknown field', said('Extra inputs are not permitted')],
    ['a field of content', said('messages[0].content must be a string')],
    [
      'a tool with a quoted name',
      said("Invalid 'tools[0].name': 'content filter' does not match the pattern ^[a-z]+$"),
    ],
    ['a value with a quoted name', said('response_format: "content moderation" is not one of text, json')],
    ['a word of the request in marks', said('No function `flagged as spam` was declared')],
    ['a parameter', said('Unknown parameter: content filter')],
    [
      'a router whose vendor names another fault',
      {
        message: 'Provider returned error',
        metadata: { raw: '{"error":{"message":"messages.0: content policy field missing"}}' },
      },
    ],
    ['a field that is missing', said('messages.0: content policy field missing')],
    ['a filter’s parameter', said('The content filter parameter is not supported by this model')],
    ['settings of another type', said('safety settings must be a list')],
    [
      'settings of Gemini',
      said('* GenerateContentRequest.safety_settings[4]: element predicate failed: $.category in (x)'),
    ],
    ['a guardrail of another account', said('The guardrail identifier gr-1 does not exist')],
    ['characters', said('The name of the tool contains illegal characters')],
    ['letters in Chinese', said('参数名大小写敏感')],
    ['a field that is too much', said('Extra inputs are not permitted: safety settings')],
  ])('is not taken for %s: %j', (_what, detail) => {
    expect(saysPolicy(detail)).toBe(false);
  });
});

describe('whatever a server says', () => {
  it('is read in a time that grows with its length alone', () => {
    const words = [
      'exceed ',
      'context ',
      'token ',
      '1000 ',
      '_'.repeat(50),
      ' '.repeat(50),
      'limit ',
      'violates our ',
      'blocked by ',
      'contains ',
      'content ',
      '包含',
      'prompt a b ',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words), { maxLength: 2_000 }), (parts) => {
        const detail = said(parts.join(''));
        expect([typeof saysTooLong(detail), typeof saysPolicy(detail)]).toEqual(['boolean', 'boolean']);
        saysOtherReason(detail);
      }),
      { numRuns: 50 },
    );
  });
});
