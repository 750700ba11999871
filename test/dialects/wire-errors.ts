import type { ErrorCode } from '../../api/contract/errors.ts';
import type { DialectName } from '../../api/providers/openai/dialects.ts';

/** A refusal as a server sends it, before it answers. */
export interface WireError {
  dialect: DialectName | 'anthropic';
  what: string;
  status: number;
  body: string;
  code: ErrorCode;
  headers?: Record<string, string>;
  /** What the caller reads of it. */
  told?: string;
  waitMs?: number;
}

const html =
  '<html>\r\n<head><title>502 Bad Gateway</title></head><body><center>cloudflare</center></body></html>';
const openai = (type: string, code: string | null, message: string, param: string | null = null): string =>
  JSON.stringify({ error: { message, type, param, code } }, null, 2);
const google = (code: number, status: string, message: string, details: object[] = []): string =>
  JSON.stringify([{ error: { code, message, status, details } }]);
const flat = (code: number, type: string, message: string): string =>
  JSON.stringify({ object: 'error', message, type, param: null, code });
const anthropic = (type: string, message: string): string =>
  JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy' });

export const wireErrors: readonly WireError[] = [
  {
    dialect: 'openai',
    what: 'a wrong value',
    status: 400,
    body: openai(
      'invalid_request_error',
      'unsupported_value',
      "Unsupported value: 'temperature' does not support 0.5 with this model.",
      'temperature',
    ),
    code: 'invalid_request',
    told: "'temperature' does not support 0.5",
  },
  {
    dialect: 'openai',
    what: 'a wrong key of ours',
    status: 401,
    body: openai(
      'invalid_request_error',
      'invalid_api_key',
      'Incorrect API key provided: sk-proj-****1234. You can find your API key at https://platform.openai.com/account/api-keys.',
    ),
    code: 'gateway_unavailable',
  },
  {
    dialect: 'openai',
    what: 'a country of ours',
    status: 403,
    body: openai('request_forbidden', 'unsupported_country_region_territory', 'Country not supported'),
    code: 'gateway_unavailable',
  },
  {
    dialect: 'openai',
    what: 'a model that our account has not',
    status: 404,
    body: openai(
      'invalid_request_error',
      'model_not_found',
      'The model `gpt-9` does not exist or you do not have access to it.',
    ),
    code: 'no_provider',
    told: 'choose another model',
  },
  {
    dialect: 'openai',
    what: 'a rate',
    status: 429,
    headers: { 'retry-after-ms': '1500', 'retry-after': '2' },
    body: openai(
      'tokens',
      'rate_limit_exceeded',
      'Rate limit reached for gpt-4o in organization org-abc123def456 on tokens per min (TPM): Limit 30000.',
    ),
    code: 'model_busy',
    waitMs: 1_500,
  },
  ...(
    [
      ['insufficient_quota', 'insufficient_quota'],
      ['insufficient_quota', 'credit_balance_exhausted'],
      ['insufficient_quota', 'organization_spend_limit_exceeded'],
      ['insufficient_quota', 'project_spend_limit_exceeded'],
      ['invalid_request_error', 'billing_hard_limit_reached'],
      ['billing_not_active', 'billing_not_active'],
    ] as const
  ).map(
    ([type, code]): WireError => ({
      dialect: 'openai',
      what: `money of ours (${code})`,
      status: code === 'billing_hard_limit_reached' ? 400 : 429,
      body: openai(
        type,
        code,
        'You exceeded your current quota, please check your plan and billing details.',
      ),
      code: 'gateway_capacity',
    }),
  ),
  {
    dialect: 'openai',
    what: 'a prompt that is too long',
    status: 400,
    body: openai(
      'invalid_request_error',
      'context_length_exceeded',
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      'messages',
    ),
    code: 'request_too_large',
    told: '9000 tokens',
  },
  {
    dialect: 'groq',
    what: 'no room on the cheap tier',
    status: 498,
    body: openai('internal_server_error', 'capacity_exceeded', 'Flex tier capacity exceeded'),
    code: 'model_busy',
  },
  {
    dialect: 'groq',
    what: 'tokens of this minute',
    status: 413,
    headers: { 'retry-after': '7' },
    body: openai(
      'tokens',
      'rate_limit_exceeded',
      'Request too large for model `llama-3` in organization `org_01hqd3` service tier `on_demand`',
    ),
    code: 'model_busy',
    waitMs: 7_000,
  },
  {
    dialect: 'groq',
    what: 'a request that it cannot follow',
    status: 422,
    body: openai('invalid_request_error', null, 'Unprocessable entity: tools[0]'),
    code: 'unprocessable',
    told: 'tools[0]',
  },
  {
    dialect: 'anthropic',
    what: 'a wrong request',
    status: 400,
    body: anthropic('invalid_request_error', 'max_tokens: 99999 > 8192'),
    code: 'invalid_request',
    told: 'max_tokens: 99999 > 8192',
  },
  {
    dialect: 'anthropic',
    what: 'an empty account of ours',
    status: 400,
    body: anthropic(
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.',
    ),
    code: 'gateway_capacity',
  },
  {
    dialect: 'anthropic',
    what: 'a wrong key of ours',
    status: 401,
    body: anthropic('authentication_error', 'invalid x-api-key'),
    code: 'gateway_unavailable',
  },
  {
    dialect: 'anthropic',
    what: 'a bill of ours',
    status: 402,
    body: anthropic('billing_error', 'billing'),
    code: 'gateway_capacity',
  },
  {
    dialect: 'anthropic',
    what: 'a permission',
    status: 403,
    body: anthropic('permission_error', 'no'),
    code: 'provider_refused',
  },
  {
    dialect: 'anthropic',
    what: 'an unknown model',
    status: 404,
    body: anthropic('not_found_error', 'model: x'),
    code: 'no_provider',
    told: 'choose another model',
  },
  {
    dialect: 'anthropic',
    what: 'a body that is too large',
    status: 413,
    body: anthropic('request_too_large', 'Request exceeds the maximum size'),
    code: 'request_too_large',
  },
  {
    dialect: 'anthropic',
    what: 'a rate',
    status: 429,
    headers: { 'retry-after': '30' },
    body: anthropic('rate_limit_error', 'org req_1'),
    code: 'model_busy',
    waitMs: 30_000,
  },
  {
    dialect: 'anthropic',
    what: 'a fault',
    status: 500,
    body: anthropic('api_error', 'Internal server error'),
    code: 'upstream_error',
  },
  {
    dialect: 'anthropic',
    what: 'a timeout',
    status: 504,
    body: anthropic('timeout_error', 'Request timed out'),
    code: 'timeout',
  },
  {
    dialect: 'anthropic',
    what: 'a crowd',
    status: 529,
    body: anthropic('overloaded_error', 'Overloaded'),
    code: 'model_busy',
  },
  {
    dialect: 'google',
    what: 'a wrong field, in a list',
    status: 400,
    body: google(
      400,
      'INVALID_ARGUMENT',
      'Invalid JSON payload received. Unknown name "foo": Cannot find field.',
    ),
    code: 'invalid_request',
    told: 'Unknown name "foo"',
  },
  {
    dialect: 'google',
    what: 'a wrong key of ours, said as a wrong request',
    status: 400,
    body: google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'API_KEY_INVALID',
        domain: 'googleapis.com',
      },
    ]),
    code: 'gateway_unavailable',
  },
  {
    dialect: 'google',
    what: 'an account of ours that is not ready',
    status: 400,
    body: google(400, 'FAILED_PRECONDITION', 'Please enable billing on project number 123456789012.'),
    code: 'gateway_unavailable',
  },
  {
    dialect: 'google',
    what: 'a rate, with a wait among its details',
    status: 429,
    body: google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure' },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' },
    ]),
    code: 'model_busy',
    waitMs: 34_070,
  },
  {
    dialect: 'google',
    what: 'a crowd',
    status: 503,
    body: google(503, 'UNAVAILABLE', 'The model is overloaded.'),
    code: 'model_busy',
  },
  {
    dialect: 'vllm',
    what: 'a wrong request',
    status: 400,
    body: JSON.stringify({
      error: { message: 'temperature must be non-negative', type: 'BadRequestError', param: null, code: 400 },
    }),
    code: 'invalid_request',
    told: 'temperature must be non-negative',
  },
  {
    dialect: 'vllm',
    what: 'a body of the wrong shape',
    status: 422,
    body: JSON.stringify({
      detail: [
        {
          type: 'int_parsing',
          loc: ['body', 'seed'],
          msg: 'Input should be an integer',
          input: 'sk-secret-1',
        },
      ],
    }),
    code: 'unprocessable',
    told: 'seed: Input should be an integer',
  },
  {
    dialect: 'sglang',
    what: 'a wrong request, flat',
    status: 400,
    body: flat(400, 'BadRequestError', 'top_p must be in (0, 1]'),
    code: 'invalid_request',
    told: 'top_p must be in (0, 1]',
  },
  {
    dialect: 'sglang',
    what: 'a prompt that is too long, flat',
    status: 400,
    body: flat(
      400,
      'BadRequestError',
      "The input (9000 tokens) is longer than the model's context length (8192).",
    ),
    code: 'request_too_large',
    told: '9000 tokens',
  },
  {
    dialect: 'ollama',
    what: 'a model that is not there',
    status: 404,
    body: openai('not_found_error', null, 'model "small" not found, try pulling it first'),
    code: 'no_provider',
    told: 'choose another model',
  },
  {
    dialect: 'ollama',
    what: 'a fault in one word',
    status: 500,
    body: '{"error":"llama runner process has terminated: exit status 2"}',
    code: 'upstream_error',
  },
  {
    dialect: 'together',
    what: 'a wrong request in one text',
    status: 400,
    body: '{"error":"stop: too many entries","model":"m","job_id":"j-1","request_id":"r-1"}',
    code: 'invalid_request',
    told: 'stop: too many entries',
  },
  {
    dialect: 'together',
    what: 'message and type',
    status: 503,
    body: '{"message":"overloaded","type":"service_unavailable"}',
    code: 'model_busy',
  },
  {
    dialect: 'together',
    what: 'a credit of ours',
    status: 402,
    body: openai(
      'credit_limit',
      null,
      'Credit limit exceeded, please navigate to https://api.together.ai/settings/billing',
    ),
    code: 'gateway_capacity',
  },
  {
    dialect: 'fireworks',
    what: 'a fault of its edge',
    status: 401,
    body: '{"fault":{"faultstring":"Invalid ApiKey","detail":{"errorcode":"oauth.v2.InvalidApiKey"}}}',
    code: 'gateway_unavailable',
  },
  {
    dialect: 'fireworks',
    what: 'a wrong request by its edge',
    status: 400,
    body: '{"fault":{"faultstring":"Bad content length","detail":{"errorcode":"protocol.http"}}}',
    code: 'invalid_request',
    told: 'Bad content length',
  },
  {
    dialect: 'fireworks',
    what: 'a detail',
    status: 422,
    body: '{"detail":"tools is not supported"}',
    code: 'unprocessable',
    told: 'tools is not supported',
  },
  {
    dialect: 'deepseek',
    what: 'our empty balance',
    status: 402,
    body: openai('unknown_error', 'invalid_request_error', 'Insufficient Balance'),
    code: 'gateway_capacity',
  },
  {
    dialect: 'deepseek',
    what: 'its policy',
    status: 400,
    body: openai('invalid_request_error', 'invalid_request_error', 'Content Exists Risk'),
    code: 'provider_refused',
  },
  {
    dialect: 'moonshot',
    what: 'an earlier call without its reasoning',
    status: 400,
    body: openai(
      'invalid_request_error',
      null,
      'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2',
    ),
    code: 'invalid_request',
    told: 'reasoning_content is missing',
  },
  {
    dialect: 'moonshot',
    what: 'its policy',
    status: 400,
    body: openai('content_filter', null, 'The request was rejected because it was considered high risk'),
    code: 'provider_refused',
  },
  {
    dialect: 'deepseek',
    what: 'a wrong value, flat',
    status: 422,
    body: flat(422, 'invalid_request_error', 'Failed to deserialize: missing field `role`'),
    code: 'unprocessable',
    told: 'missing field `role`',
  },
  ...[502, 503, 504, 520, 524].map(
    (status): WireError => ({
      dialect: 'other',
      what: `HTML of a proxy with ${status}`,
      status,
      headers: { 'content-type': 'text/html' },
      body: html,
      code:
        status === 502
          ? 'provider_error'
          : status === 503
            ? 'model_busy'
            : status === 520
              ? 'upstream_error'
              : 'timeout',
    }),
  ),
  { dialect: 'other', what: 'nothing', status: 500, body: '', code: 'upstream_error' },
  { dialect: 'other', what: 'nothing with 200', status: 200, body: '', code: 'provider_error' },
  {
    dialect: 'google',
    what: 'a list with 200',
    status: 200,
    body: google(429, 'RESOURCE_EXHAUSTED', 'quota'),
    code: 'model_busy',
  },
];

/** The last event of a stream that had begun. */
export const streamErrors: readonly Pick<WireError, 'dialect' | 'what' | 'body' | 'code'>[] = [
  {
    dialect: 'openai',
    what: 'a fault',
    body: openai('server_error', null, 'oops').replace(/\s+/g, ' '),
    code: 'upstream_error',
  },
  {
    dialect: 'openai',
    what: 'money of ours',
    body: openai('insufficient_quota', 'insufficient_quota', 'quota').replace(/\s+/g, ' '),
    code: 'gateway_capacity',
  },
  {
    dialect: 'groq',
    what: 'no room',
    body: '{"error":{"message":"x","type":"internal_server_error","code":"capacity_exceeded"}}',
    code: 'model_busy',
  },
  { dialect: 'google', what: 'a list', body: google(503, 'UNAVAILABLE', 'x'), code: 'model_busy' },
  {
    dialect: 'vllm',
    what: 'its number',
    body: '{"error":{"message":"x","type":"InternalServerError","param":null,"code":500}}',
    code: 'upstream_error',
  },
  {
    dialect: 'sglang',
    what: 'a flat record',
    body: flat(503, 'ServiceUnavailable', 'x'),
    code: 'model_busy',
  },
  {
    dialect: 'ollama',
    what: 'one text',
    body: '{"error":"an error was encountered"}',
    code: 'provider_error',
  },
  {
    dialect: 'together',
    what: 'message and type',
    body: '{"message":"Internal server error","type":"server_error"}',
    code: 'upstream_error',
  },
  {
    dialect: 'anthropic',
    what: 'a crowd',
    body: anthropic('overloaded_error', 'Overloaded'),
    code: 'model_busy',
  },
  { dialect: 'anthropic', what: 'a fault', body: anthropic('api_error', 'x'), code: 'upstream_error' },
  { dialect: 'anthropic', what: 'a timeout', body: anthropic('timeout_error', 'x'), code: 'timeout' },
];
