import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ErrorCode, errorTable } from '../../api/contract/errors.ts';
import { readUpstreamError } from '../../api/inference/upstream/upstream-error.ts';
import { cpuMsOf } from '../support/cpu-time.ts';

const ASKED = {
  provider: { id: 'acme-cluster', apiKey: 'token-q7w8e9', baseUrl: 'http://vllm-0.acme.internal:8000/v1' },
  upstreamModel: 'acme-internal/large-v2',
  publicModel: 'acme/large',
  contextTokens: 8_192,
};

const codeOf = (status: number, body: unknown) => readUpstreamError(status, body, ASKED).error.code;
const router = (status: number, errorType: string, message = 'x') => ({
  error: { code: status, message, metadata: { error_type: errorType } },
});

describe('a router’s error, by the name that it has in all formats', () => {
  const byName: [string, number, ErrorCode][] = [
    ['context_length_exceeded', 400, 'request_too_large'],
    ['token_limit_exceeded', 400, 'request_too_large'],
    ['string_too_long', 400, 'request_too_large'],
    ['max_tokens_exceeded', 400, 'invalid_request'],
    ['authentication', 401, 'gateway_unavailable'],
    ['payment_required', 402, 'gateway_capacity'],
    ['permission_denied', 403, 'provider_refused'],
    ['rate_limit_exceeded', 429, 'model_busy'],
    ['provider_overloaded', 503, 'model_busy'],
    ['provider_overloaded', 529, 'model_busy'],
    ['provider_unavailable', 502, 'provider_error'],
    ['invalid_request', 400, 'invalid_request'],
    ['invalid_prompt', 400, 'invalid_request'],
    ['not_found', 404, 'no_provider'],
    ['precondition_failed', 412, 'invalid_request'],
    ['payload_too_large', 413, 'request_too_large'],
    ['unprocessable', 422, 'unprocessable'],
    ['content_policy_violation', 400, 'provider_refused'],
    ['refusal', 400, 'provider_refused'],
    ['invalid_image', 400, 'invalid_request'],
    ['image_too_large', 400, 'invalid_request'],
    ['image_too_small', 400, 'invalid_request'],
    ['unsupported_image_format', 400, 'invalid_request'],
    ['image_not_found', 404, 'invalid_request'],
    ['image_download_failed', 400, 'invalid_request'],
    ['timeout', 504, 'timeout'],
    ['timeout', 408, 'timeout'],
    ['server', 500, 'upstream_error'],
    ['unmapped', 500, 'upstream_error'],
  ];
  it.each(byName)('%s with %i is %s', (name, status, code) => {
    expect(codeOf(status, router(status, name))).toBe(code);
    // In a stream, where only the name tells.
    expect(codeOf(200, { error: { code: 'server_error', metadata: { error_type: name } } })).toBe(code);
    expect(codeOf(200, { error: { error_type: name } })).toBe(code);
  });

  it('is read from the choice that failed, too', () => {
    const body = { choices: [{ index: 0 }, { error: { code: 429, message: 'x' }, finish_reason: 'error' }] };
    expect(codeOf(200, body)).toBe('model_busy');
    expect(codeOf(200, { choices: [{ finish_reason: 'error' }] })).toBe('provider_error');
  });
});

describe('any other server’s error, by its status', () => {
  it.each<[number, ErrorCode]>([
    [400, 'invalid_request'],
    [401, 'gateway_unavailable'],
    [402, 'gateway_capacity'],
    [403, 'provider_refused'],
    [404, 'no_provider'],
    [405, 'upstream_error'],
    [408, 'timeout'],
    [409, 'upstream_error'],
    [412, 'invalid_request'],
    [413, 'request_too_large'],
    [415, 'invalid_request'],
    [422, 'unprocessable'],
    [429, 'model_busy'],
    [498, 'model_busy'],
    [500, 'upstream_error'],
    [501, 'upstream_error'],
    [502, 'provider_error'],
    [503, 'model_busy'],
    [504, 'timeout'],
    [521, 'upstream_error'],
    [524, 'timeout'],
    [529, 'model_busy'],
    [301, 'upstream_error'],
    [307, 'upstream_error'],
    [204, 'provider_error'],
    [200, 'provider_error'],
  ])('%i is %s, whatever stands in the body', (status, code) => {
    for (const body of [
      undefined,
      null,
      5,
      'x',
      [],
      {},
      '<html>',
      { error: null },
      { error: [] },
      [[]],
      [null],
    ]) {
      expect(codeOf(status, body)).toBe(code);
    }
  });

  it.each<[string, number, unknown, ErrorCode]>([
    [
      'money of our account, said as a rate',
      429,
      { error: { type: 'insufficient_quota', code: 'insufficient_quota' } },
      'gateway_capacity',
    ],
    [
      'money by its code',
      429,
      { error: { type: 'x', code: 'credit_balance_exhausted' } },
      'gateway_capacity',
    ],
    [
      'money of the organization',
      429,
      { error: { code: 'organization_spend_limit_exceeded' } },
      'gateway_capacity',
    ],
    ['money of the project', 429, { error: { code: 'project_spend_limit_exceeded' } }, 'gateway_capacity'],
    ['a plain rate', 429, { error: { type: 'tokens', code: 'rate_limit_exceeded' } }, 'model_busy'],
    [
      'a limit of our key, said as a refusal',
      403,
      { error: { code: 403, message: 'Key limit exceeded (total limit).' } },
      'gateway_capacity',
    ],
    ...[
      'You have reached your specified API usage limits. You will regain access on 2026-12-01.',
      'Your credit balance is too low to access the API.',
    ].map((message): [string, number, unknown, ErrorCode] => [
      `our account’s money, said as a bad request: ${message}`,
      400,
      { error: { type: 'invalid_request_error', message } },
      'gateway_capacity',
    ]),
    [
      'an account that was suspended for its bill',
      412,
      {
        error: {
          message: 'Account acme-1 is suspended, possibly due to reaching the monthly spending limit',
        },
      },
      'gateway_capacity',
    ],
    [
      'a team without credit',
      403,
      { code: 'x', error: "Your newly created team doesn't have any credits or licenses yet." },
      'gateway_capacity',
    ],
    ['no money, by a number', 429, { error: { code: '1113', message: 'x' } }, 'gateway_capacity'],
    [
      'our key, said as a bad request',
      400,
      { error: 'Incorrect API key provided: xa***' },
      'gateway_unavailable',
    ],
    [
      'our project, said as a refusal',
      403,
      { error: { code: 403, message: 'Your project has been denied access.', status: 'PERMISSION_DENIED' } },
      'gateway_unavailable',
    ],
    [
      'a caller’s words about a key',
      400,
      { error: { message: "messages.0: 'Incorrect API key' is no text" } },
      'invalid_request',
    ],
    ['a rate, said as a bad request', 400, { error: { code: 'Throttling', message: 'x' } }, 'model_busy'],
    ['a rate by the type of AWS', 400, { __type: 'ThrottlingException', message: 'x' }, 'model_busy'],
    [
      'errors in a list',
      400,
      {
        success: false,
        errors: [{ code: 5_021, message: 'exceeded this model context window limit (32000)' }],
      },
      'request_too_large',
    ],
    [
      'a number with its words',
      400,
      { error_code: 336_007, error_msg: 'prompt tokens too long' },
      'request_too_large',
    ],
    [
      'an answer that the vendor keeps back, said as a failure',
      500,
      { error: { code: 'data_inspection_failed', message: 'x' } },
      'provider_refused',
    ],
    [
      'too many tokens a minute, said as too large',
      413,
      { error: { type: 'tokens', code: 'rate_limit_exceeded' } },
      'model_busy',
    ],
    [
      'the messages format',
      529,
      { type: 'error', error: { type: 'overloaded_error', message: 'x' } },
      'model_busy',
    ],
    [
      'the messages format in a stream',
      200,
      { type: 'error', error: { type: 'overloaded_error' } },
      'model_busy',
    ],
    [
      'a list',
      429,
      [{ error: { code: 429, message: 'x', status: 'RESOURCE_EXHAUSTED', details: [] } }],
      'model_busy',
    ],
    ['a list with an answer', 200, [{ error: { code: 503 } }], 'model_busy'],
    [
      'a flat record',
      400,
      { object: 'error', message: 'x', type: 'BadRequestError', param: null, code: 400 },
      'invalid_request',
    ],
    ['a flat record in a stream', 200, { object: 'error', message: 'x', code: 400 }, 'invalid_request'],
    ['a text', 500, { error: 'model is loading' }, 'upstream_error'],
    ['a text with its job', 429, { error: 'x', model: 'm', job_id: 'j', request_id: 'r' }, 'model_busy'],
    ['message and type', 503, { message: 'x', type: 'overloaded' }, 'model_busy'],
    ['a fault', 429, { fault: { faultstring: 'x', detail: { errorcode: 'policies' } } }, 'model_busy'],
    ['a detail', 404, { detail: 'Not Found' }, 'no_provider'],
    ['an object as a detail', 400, { detail: { error: 'Violated guardrail policy' } }, 'provider_refused'],
    ['a list of details', 422, { detail: [{ loc: ['body', 'n'], msg: 'x', type: 'int' }] }, 'unprocessable'],
    [
      'a status inside',
      200,
      { error: { http_status: 404, availability: { code: 'no_endpoints' } } },
      'no_provider',
    ],
    ['a status as text inside', 200, { error: { code: '429' } }, 'model_busy'],
    ['a status inside that is none', 200, { error: { code: 7 } }, 'provider_error'],
    ['the HTTP status before the one inside', 500, { error: { code: 400 } }, 'upstream_error'],
    [
      'too long, said in words only',
      400,
      { error: { message: "This model's maximum context length is 8 tokens." } },
      'request_too_large',
    ],
    [
      'names that are no names',
      500,
      { error: { code: { a: 1 }, type: ['timeout'], metadata: 'x', message: 5 } },
      'upstream_error',
    ],
  ])('%s', (_what, status, body, code) => {
    expect(codeOf(status, body)).toBe(code);
  });

  it.each<[number, ErrorCode]>([
    [1000, 'upstream_error'],
    [1001, 'timeout'],
    [1002, 'model_busy'],
    [1004, 'gateway_unavailable'],
    [1008, 'gateway_capacity'],
    [1026, 'provider_refused'],
    [1033, 'upstream_error'],
    [1039, 'request_too_large'],
    [2013, 'invalid_request'],
    [2049, 'gateway_unavailable'],
    [9999, 'upstream_error'],
  ])('by the number beside an answer of nothing: %i is %s', (number, code) => {
    for (const choices of [null, []])
      expect(codeOf(200, { choices, base_resp: { status_code: number, status_msg: 'x' } })).toBe(code);
  });

  it('no body makes it throw, and our own 401 and 402 never come out', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 599 }), fc.jsonValue(), (status, body) => {
        const { error, mayFallBack } = readUpstreamError(status, body, ASKED);
        expect([401, 402]).not.toContain(errorTable[error.code].status);
        expect(typeof mayFallBack).toBe('boolean');
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('another endpoint may answer', () => {
  it.each([401, 402, 404, 408, 429, 498, 500, 502, 503, 504, 524, 529])('after %i', (status) => {
    expect(readUpstreamError(status, {}, ASKED).mayFallBack).toBe(true);
  });
  it.each([400, 403, 412, 413, 415, 422])('but not after %i: it would refuse the same', (status) => {
    expect(readUpstreamError(status, {}, ASKED).mayFallBack).toBe(false);
  });
});

describe('the wait that a provider asks for', () => {
  const waitOf = (status: number, waitMs: number | null) =>
    readUpstreamError(status, {}, ASKED, { waitMs }).error.retryAfterMs;
  it.each<[number | null, number]>([
    [7_000, 7_000],
    [1_500, 1_500],
    [0, 1_000],
    [60_000, 60_000],
    [3_600_000, 60_000],
    [null, 2_000],
  ])('of %j ms is passed on as %i ms, or our own is', (waitMs, ms) => {
    expect(waitOf(503, waitMs)).toBe(ms);
  });

  it('is not passed on with an error that no waiting heals', () => {
    expect(waitOf(400, 7_000)).toBeUndefined();
    expect(waitOf(502, 7_000)).toBeUndefined();
  });
});

describe('what a caller reads of it', () => {
  const messageOf = (message: unknown, status = 400) =>
    readUpstreamError(status, { error: { message } }, ASKED).error.message;

  it.each([
    'The model `x` does not exist or you do not have access to it.',
    'The model `image-tools` does not exist.',
    'Not Found',
    'model: claude-9',
    'model "small" not found, try pulling it first',
    'No endpoints found for acme-internal/large-v2.',
    '',
    undefined,
  ])('a 404 that says %j asks for another model', (message) => {
    const { error } = readUpstreamError(404, { error: { message, param: null } }, ASKED);
    expect(error.code).toBe('no_provider');
    expect(error.message).toBe('The provider does not serve this model; choose another model.');
  });

  it.each([
    'No endpoints found that support tool use.',
    'No endpoints found that support image input',
    'No endpoints found that can handle the requested parameters.',
    'No endpoints found matching your data policy.',
    'No allowed providers are available for the selected model.',
    'All providers have been ignored.',
  ])('a 404 that says %j asks to leave an option out', (message) => {
    expect(messageOf(message, 404)).toBe(errorTable.no_provider.message);
  });

  it('a 404 about a parameter asks to leave it out, and one about the model for another', () => {
    const of = (param: string) => readUpstreamError(404, { error: { message: 'x', param } }, ASKED).error;
    expect(of('logit_bias').message).toBe(errorTable.no_provider.message);
    expect(of('model').message).toContain('choose another model');
  });

  it('is what is wrong with the request, in the provider’s words', () => {
    expect(messageOf('messages: at least one message is required')).toBe(
      'The provider refused the request: messages: at least one message is required',
    );
    expect(messageOf("Unsupported value: 'temperature' does not support 0.5", 422)).toContain(
      "'temperature'",
    );
  });

  it.each([401, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504, 529])(
    'but nothing of the kind with %i',
    (status) => {
      const { error } = readUpstreamError(status, { error: { message: 'inside story' } }, ASKED);
      expect(error.message).not.toContain('inside');
      if (status !== 404) expect(error.message).toBe(errorTable[error.code].message);
    },
  );

  it.each(['', '  ', 5, null, { a: 1 }, undefined])('where there are words: %j is none', (message) => {
    expect(messageOf(message)).toBe(errorTable.invalid_request.message);
  });

  const planted = [
    ...[
      'OpenRouter',
      'openrouter.ai',
      'OpenAI',
      'Open AI',
      'api.openai.com',
      'Anthropic',
      'Azure',
      'Amazon Bedrock',
    ],
    ...[
      'Google',
      'Vertex AI',
      'Together',
      'Fireworks',
      'Groq',
      'DeepInfra',
      'DeepSeek',
      'Mistral',
      'Cohere',
      'vLLM',
    ],
    ...[
      'SGLang',
      'Ollama',
      'Perplexity',
      'xAI',
      'Cerebras',
      'Cloudflare',
      'Hugging Face',
      'MiniMax',
      'Moonshot',
    ],
    ...['sk-proj-abcdefghijk', 'sk-or-v1-0123456789abcdef', 'gsk_abcdefghij', 'AIzaSyA0123456789abcdefghij'],
    ...[
      'org-abc123def',
      'proj_abc123def',
      'user_2abcDEF123',
      'req_0123456789',
      'chatcmpl-9abcdef01',
      'acct_1234567',
    ],
    ...[
      '550e8400-e29b-41d4-a716-446655440000',
      'Bearer abcdef',
      'https://platform.example/keys?x=1',
      'http://vllm:8000',
    ],
    ...[
      '10.0.0.17:8000',
      '192.168.1.1',
      'node-3.cluster.local',
      'ops@example.com',
      'ghp_16C7e42F292c6912E7710c838347Ae17',
    ],
  ];
  it.each(planted)('never who answers, as whom, or by which key: %s', (secret) => {
    for (const text of [
      secret,
      `Bad model (${secret}).`,
      `${secret}: no`,
      `a "${secret}" b`,
      `see\n${secret}\n`,
    ]) {
      const message = messageOf(`Wrong parameter. ${text}`);
      expect(message).toContain('Wrong parameter.');
      expect(message.toLowerCase()).not.toContain(secret.toLowerCase());
    }
  });

  it('is short, one line, and half a key at its end is none either', () => {
    const key = 'sk-or-v1-0123456789abcdef0123456789abcdef';
    for (let before = 250; before < 310; before++) {
      const message = messageOf(`${'x '.repeat(before / 2)}${key}`);
      expect(message.length).toBeLessThan(400);
      expect(message).not.toContain('sk-');
    }
    expect(messageOf('a\n\n\tb\u0000\u001b[31mc\r\nd')).toMatch(/: a b \[31mc d$/);
    expect(messageOf('x'.repeat(1_000_000)).length).toBeLessThan(400);
  });

  it('takes no time to clean', () => {
    const cpuMs = cpuMsOf(() => {
      for (const nasty of [
        '@'.repeat(60_000),
        'a.'.repeat(30_000),
        'a-1'.repeat(20_000),
        '1.'.repeat(30_000),
        ' '.repeat(60_000),
      ]) {
        messageOf(nasty);
      }
    });
    expect(cpuMs).toBeLessThan(500);
  });
});

describe('a prompt longer than the model’s context', () => {
  const said = 'maximum context length is 8192 tokens. However, you requested 9000 tokens.';
  const messageOf = (body: unknown, contextTokens: number) => {
    const { error } = readUpstreamError(400, body, { ...ASKED, contextTokens });
    expect(error.code).toBe('request_too_large');
    return error.message;
  };

  it('is told how long the context is, and what the provider counted', () => {
    const message = messageOf({ error: { message: `This model's ${said}` } }, 32_768);
    expect(message).toContain('32768 tokens');
    expect(message).toContain('you requested 9000 tokens');
  });

  it('is told the length also where the provider says nothing', () => {
    expect(messageOf({ error: { code: 'context_length_exceeded' } }, 32_768)).toBe(
      "The prompt does not fit the model's context of 32768 tokens; shorten it.",
    );
  });

  it('learns what the provider says, and not who it is', () => {
    const message = messageOf(router(400, 'token_limit_exceeded', `OpenAI's ${said}`), 32_768);
    expect(message).toContain('8192 tokens');
    expect(message).not.toContain('OpenAI');
  });

  it('is one that the gateway has counted, where the provider says no reason', () => {
    const asked = { ...ASKED, promptTokens: ASKED.contextTokens + 1 };
    const codeOfWords = (message: string, promptTokens = asked.promptTokens) =>
      readUpstreamError(400, { error: { message } }, { ...ASKED, promptTokens }).error.code;
    expect(codeOfWords('Bad Request')).toBe('request_too_large');
    expect(readUpstreamError(400, undefined, asked).error.code).toBe('request_too_large');
    expect(codeOfWords('Bad Request', ASKED.contextTokens)).toBe('invalid_request');
    for (const other of [
      'temperature: 300 is above the maximum of 200',
      'tools.0.input_schema: type is missing',
      'max_tokens: 9000 > 4096, which is the maximum allowed number of output tokens',
    ])
      expect(codeOfWords(other)).toBe('invalid_request');
  });

  it('is no other request that is too large', () => {
    const { error } = readUpstreamError(413, {}, ASKED);
    expect(error).toMatchObject({ code: 'request_too_large', message: errorTable.request_too_large.message });
  });
});
