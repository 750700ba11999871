import { describe, expect, it } from 'vitest';
import type { Catalog, FormatName } from '#core/catalog/catalog.ts';
import type { Dialect } from '#core/catalog/dialect.ts';
import { type DialectName, dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { admitted, at, leftOut, refusal, sent } from './at-dialect.ts';
import { endpoint, model, provider, testCatalog } from './support.ts';

const CHAT = 'chat';
const image = 'https://example.com/cat.png';
const imageIn = (format: FormatName): object => {
  switch (format) {
    case 'chat':
      return {
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: image } }] }],
      };
    case 'responses':
      return { input: [{ role: 'user', content: [{ type: 'input_image', image_url: image }] }] };
    case 'messages':
      return {
        messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: image } }] }],
      };
  }
};

const fileIn = (format: FormatName): object => {
  switch (format) {
    case 'chat':
      return {
        messages: [{ role: 'user', content: [{ type: 'video_url', video_url: { url: image } }] }],
      };
    case 'responses':
      return { input: [{ role: 'user', content: [{ type: 'input_file', file_url: image }] }] };
    case 'messages':
      return {
        messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'url', url: image } }] }],
      };
  }
};

/**
 * Fields that servers which operators run themselves, and gateways in front of them, take from the body of anybody. Learned from
 * the request schemas of vLLM (`entrypoints/openai/protocol.py`), SGLang (`entrypoints/openai/protocol.py`), llama.cpp
 * (`tools/server/README.md`), TGI (`router/src/lib.rs`), Ollama (`openai/openai.go`), LocalAI, TabbyAPI, Aphrodite, and from
 * LiteLLM's documentation of credentials, fallbacks and mock answers of a client.
 */
const powerfulFields: [string, string][] = [
  ...[
    'api_base',
    'base_url',
    'api_key',
    'api_version',
    'user_config',
    'mock_response',
    'mock_testing_fallbacks',
  ],
  ...[
    'fallbacks',
    'context_window_fallbacks',
    'num_retries',
    'max_retries',
    'timeout',
    'extra_body',
    'extra_headers',
  ],
  ...[
    'headers',
    'model_info',
    'litellm_params',
    'litellm_metadata',
    'custom_llm_provider',
    'model_list',
    'organization',
  ],
  ...[
    'aws_access_key_id',
    'aws_region_name',
    'vertex_project',
    'vertex_credentials',
    'azure_ad_token',
    'proxy',
    'cache',
  ],
  ...[
    'guardrails',
    'tags',
    'callbacks',
    'success_callback',
    'input_cost_per_token',
    'caching',
    'no-log',
    'prompt_id',
  ],
]
  .map((field): [string, string] => [field, 'LiteLLM'])
  .concat(
    [
      ...['guided_regex', 'guided_json', 'guided_choice', 'guided_grammar', 'guided_decoding_backend'],
      ...[
        'guided_whitespace_pattern',
        'structural_tag',
        'structured_outputs',
        'chat_template',
        'kv_transfer_params',
      ],
      ...[
        'cache_salt',
        'mm_processor_kwargs',
        'media_io_kwargs',
        'documents',
        'return_tokens_as_token_ids',
        'vllm_xargs',
      ],
      ...['logits_processors', 'prompt_logprobs', 'truncate_prompt_tokens', 'request_id', 'priority', 'echo'],
      ...['return_token_ids', 'allowed_token_ids', 'use_beam_search', 'best_of', 'prompt_embeds'],
    ].map((field): [string, string] => [field, 'vLLM']),
    [
      ...[
        'lora_path',
        'regex',
        'ebnf',
        'custom_logit_processor',
        'custom_params',
        'session_params',
        'bootstrap_host',
      ],
      ...[
        'bootstrap_port',
        'bootstrap_room',
        'return_hidden_states',
        'rid',
        'separate_reasoning',
        'data_parallel_rank',
      ],
      ...['stop_regex', 'no_stop_trim', 'input_embeds', 'image_data'],
    ].map((field): [string, string] => [field, 'SGLang']),
    [
      ...[
        'id_slot',
        'lora',
        'grammar',
        'json_schema',
        'cache_prompt',
        'samplers',
        'n_probs',
        'n_keep',
        'n_indent',
      ],
      ...[
        't_max_predict_ms',
        'response_fields',
        'multimodal_data',
        'post_sampling_probs',
        'return_progress',
        'slot_id',
      ],
    ].map((field): [string, string] => [field, 'llama.cpp']),
    [
      ...[
        'options',
        'keep_alive',
        'format',
        'template',
        'raw',
        'adapter_id',
        'safety_model',
        'grammar_trigger',
      ],
      ...[
        'backend',
        'model_base_name',
        'negative_prompt',
        'banned_strings',
        'speculative_ngram',
        'draft_model',
      ],
      ...[
        'prompt_template',
        'template_vars',
        'file',
        'repo_id',
        'adapter',
        'webhook',
        'callback_url',
        'image_url',
      ],
    ].map((field): [string, string] => [field, 'Ollama, TGI, LocalAI, TabbyAPI or Aphrodite']),
  );

describe('a server that an operator runs itself', () => {
  const selfHosted = ['vllm', 'sglang', 'ollama', 'self-hosted'] as const satisfies readonly DialectName[];

  it.each(selfHosted)('%s is sent what is known to be harmless, as it came', (name) => {
    const harmless = { seed: 7, top_k: 3, min_p: 0.1, logit_bias: { '5': 1 }, n: 2, stop: ['x'] };
    expect(sent(CHAT, harmless, at(dialects[name]))).toMatchObject(harmless);
  });

  it.each(['guided_grammar', 'structured_outputs', 'thing_of_next_year', 'verbosity'])(
    'is not sent anything else, and the caller hears what it is: %s',
    (field) => {
      for (const name of selfHosted) {
        expect(sent(CHAT, { [field]: 'x' }, at(dialects[name]))).not.toHaveProperty(field);
        expect(leftOut(CHAT, { [field]: 'x' }, at(dialects[name]))).toEqual([field]);
        expect(leftOut(CHAT, { [field]: null }, at(dialects[name]))).toEqual([]);
      }
    },
  );

  it.each(powerfulFields)('is never sent %s, which %s heeds', (field, _server) => {
    for (const name of selfHosted) {
      for (const value of ['x', { a: 'b' }, ['x'], true, 7]) {
        const catalog = at(dialects[name]);
        if (refusal(CHAT, { [field]: value }, catalog).startsWith('invalid_request')) continue;
        expect(sent(CHAT, { [field]: value }, catalog)).not.toHaveProperty(field);
        expect(leftOut(CHAT, { [field]: value }, catalog)).toEqual([field]);
      }
    }
    expect(refusal(CHAT, { [field]: 'x' }, at(dialects.other))).not.toContain('no_provider');
  });

  it.each([
    [{ response_format: { type: 'regex', value: '(a+)+$' } }],
    [{ response_format: { type: 'structural_tag' } }],
    [{ response_format: { type: 'grammar' } }],
  ])('is not sent %j, a pattern or a grammar of the caller', (extra) => {
    for (const name of selfHosted) {
      expect(sent(CHAT, extra, at(dialects[name]))).not.toHaveProperty('response_format');
      expect(leftOut(CHAT, extra, at(dialects[name]))).toEqual(['response_format']);
    }
    expect(sent(CHAT, extra, at(dialects.other))).toMatchObject(extra);
    expect(leftOut(CHAT, extra, at(dialects.other))).toEqual([]);
  });

  it('is sent the usual arguments of a template and formats of an answer', () => {
    const usual = {
      chat_template_kwargs: { enable_thinking: false },
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } },
    };
    for (const name of selfHosted) expect(sent(CHAT, usual, at(dialects[name]))).toMatchObject(usual);
  });

  it('is not sent hints, nor the caller’s names for itself, which it has no use for', () => {
    const hints = {
      user: 'me',
      metadata: { a: 'b' },
      store: false,
      prompt_cache_key: 'k',
      service_tier: 'auto',
    };
    const body = sent(CHAT, hints, at(dialects.vllm));
    for (const hint of Object.keys(hints)) expect(body).not.toHaveProperty(hint);
  });

  it('is asked for usage of its streams like any other', () => {
    expect(sent(CHAT, { stream: true }, at(dialects.vllm)).stream_options).toEqual({ include_usage: true });
  });

  it.each(['responses', 'messages'] as const)('is as careful in the format %s', (format) => {
    const native = at(dialects.vllm, [CHAT, 'responses', 'messages']);
    expect(sent(format, { kv_transfer_paramz: {} }, native)).not.toHaveProperty('kv_transfer_paramz');
    expect(leftOut(format, { kv_transfer_paramz: {} }, native)).toEqual(['kv_transfer_paramz']);
    expect(leftOut(format, { temperature: 0.5 }, native)).toEqual([]);
  });

  it('keeps the caches of prompts of two agents apart', () => {
    for (const name of ['vllm', 'sglang'] as const) {
      const salt = (agentId: number) => sent(CHAT, {}, at(dialects[name]), agentId).cache_salt;
      expect(salt(7)).toMatch(/^[0-9a-f]{16}$/);
      expect(salt(7)).toBe(salt(7));
      expect(salt(8)).not.toBe(salt(7));
    }
    expect(sent('messages', {}, at(dialects.vllm))).toHaveProperty('cache_salt');
    expect(sent(CHAT, {}, at(dialects.ollama))).not.toHaveProperty('cache_salt');
    expect(sent(CHAT, {}, at(dialects.other))).not.toHaveProperty('cache_salt');
  });

  it.each(['chat', 'responses', 'messages'] as const)(
    'is sent images by a call in %s, but no link to a file, unless the operator says that it may',
    (format) => {
      const native = (dialect: Dialect) => at(dialect, [CHAT, 'responses', 'messages']);
      for (const name of selfHosted) {
        expect(refusal(format, imageIn(format), at(dialects[name]))).toBe('admitted');
        expect(refusal(format, fileIn(format), native(dialects[name]))).toBe(
          `invalid_request ${format === 'responses' ? 'input' : 'messages'}[0].content[0]`,
        );
        expect(refusal(format, fileIn(format), native({ ...dialects[name], images: 'url' }))).toBe(
          'admitted',
        );
      }
      expect(refusal(format, fileIn(format), native(dialects.other))).toBe('admitted');
    },
  );

  it.each([
    ['text', { type: 'text', media_type: 'text/plain', data: 'Once upon a time.' }],
    ['content', { type: 'content', content: [{ type: 'text', text: 'Once upon a time.' }] }],
  ])('is sent a document that is %s as text, for it has no link', (_what, source) => {
    const body = {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'document', source },
            { type: 'text', text: 'Sum up.' },
          ],
        },
      ],
    };
    for (const name of selfHosted) {
      expect(refusal('messages', body, at(dialects[name]))).toBe('admitted');
      expect(refusal('messages', body, at(dialects[name], [CHAT, 'responses', 'messages']))).toBe('admitted');
      expect(JSON.stringify(sent('messages', body, at(dialects[name])))).toContain(
        '{"type":"text","text":"Once upon a time."}',
      );
    }
  });

  it('is sent no link in the content of a document', () => {
    const source = { type: 'content', content: [{ type: 'document', source: { type: 'url', url: image } }] };
    const body = { messages: [{ role: 'user', content: [{ type: 'document', source }] }] };
    expect(refusal('messages', body, at(dialects.vllm))).toBe(
      'invalid_request messages[0].content[0].source.content[0]',
    );
  });
});

describe('a plain server of the chat format', () => {
  const plain = at(dialects.other);
  const router = testCatalog();

  it.each<[object, string]>([
    [{ reasoning: { enabled: false } }, 'reasoning.enabled'],
    [{ reasoning: { enabled: false, effort: 'high' } }, 'reasoning.enabled'],
    [{ reasoning: { enabled: 'no' } }, 'reasoning.enabled'],
    [{ reasoning: { exclude: true, effort: 'low' } }, 'reasoning.exclude'],
    [{ reasoning: { exclude: 'yes' } }, 'reasoning.exclude'],
    [{ reasoning: { of_next_year: 1 } }, 'reasoning.of_next_year'],
  ])('is not asked about reasoning what it has no field for, and the caller hears it: %j', (extra, param) => {
    expect(sent(CHAT, extra, plain)).not.toHaveProperty('reasoning');
    expect(leftOut(CHAT, extra, plain)).toEqual([param]);
    expect(leftOut(CHAT, extra, router)).toEqual([]);
  });

  it.each<[object]>([
    [{ reasoning: { enabled: true, exclude: false } }],
    [{ reasoning: { enabled: null, exclude: null, effort: 'low', max_tokens: 50 } }],
    [{ reasoning: { enabled: false, effort: 'none' } }],
    [{ reasoning: { enabled: false }, reasoning_effort: 'none' }],
    [{ reasoning: null }],
  ])('is asked for what it does anyway, and for what an effort says: %j', (extra) => {
    expect(leftOut(CHAT, extra, plain)).toEqual([]);
  });

  it.each<[object, string[]]>([
    [{ plugins: [{ id: 'context-compression' }, { id: 'response-healing' }] }, ['plugins[0]', 'plugins[1]']],
    [{ plugins: [{ id: 'response-healing' }] }, ['plugins[0]']],
    [{ transforms: ['middle-out'] }, ['transforms']],
    [{ plugins: [{ id: 'response-healing', enabled: false }], transforms: [] }, []],
  ])(
    'is not asked for what only a router does around an answer, and the caller hears it: %j',
    (extra, told) => {
      expect(leftOut(CHAT, extra, plain)).toEqual(told);
      expect(sent(CHAT, extra, plain)).not.toHaveProperty('plugins');
      expect(sent(CHAT, extra, plain)).not.toHaveProperty('transforms');
    },
  );

  it('is sent what is said of thought in the words of another format', () => {
    const native = at(dialects.other, [CHAT, 'responses']);
    const reasoning = { enabled: false };
    expect(sent('responses', { reasoning }, native).reasoning).toEqual(reasoning);
  });
});

describe('a server that speaks messages alone', () => {
  const asked = (upstreamModel: string) => {
    const catalog = testCatalog({
      models: [model({ endpoints: [endpoint({ providerId: 'plain', upstreamModel })] })],
      providers: [
        provider({
          id: 'plain',
          kind: providerKinds.anthropic,
          dialect: dialects.other,
          formats: ['messages'],
        }),
      ],
    });
    const body = sent(CHAT, { reasoning: { effort: 'high' } }, catalog);
    return [body.thinking, body.output_config];
  };

  it('is told how hard to think in the words that the model of its own name takes', () => {
    expect(asked('claude-opus-4-8')).toEqual([
      { type: 'adaptive', display: 'summarized' },
      { effort: 'high' },
    ]);
    expect(asked('claude-haiku-4-5')).toEqual([
      { type: 'enabled', budget_tokens: expect.any(Number) },
      undefined,
    ]);
  });
});

describe('a server that refuses fields', () => {
  const groq = at(dialects.groq);
  const google = at(dialects.google);
  const named = {
    messages: [
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b', name: 'Bo' },
    ],
  };

  it.each<[object, string]>([
    [{ logprobs: true }, 'logprobs'],
    [{ top_logprobs: 2 }, 'top_logprobs'],
    [{ logit_bias: { '1': 1 } }, 'logit_bias'],
    [named, 'messages[1].name'],
  ])('is not sent them, and the caller hears which it was: %j', (extra, param) => {
    expect(leftOut(CHAT, extra, groq)).toEqual([param]);
    expect(JSON.stringify(sent(CHAT, extra, groq))).not.toContain(`"${param.replace(/^.*\./, '')}"`);
    expect(leftOut(CHAT, extra, at(dialects.other))).toEqual([]);
  });

  const foreign = ['top_k', 'min_p', 'repetition_penalty', 'enable_thinking', 'thinking'];
  it.each(
    (['openai', 'groq', 'mistral'] as const).flatMap((name) =>
      foreign.map((field) => [name, field] as const),
    ),
  )('%s is not sent %s of another vendor, for which it would refuse the call', (name, field) => {
    const value = field.endsWith('ing') ? { type: 'enabled' } : 2;
    expect(sent(CHAT, { [field]: value }, at(dialects[name]))).not.toHaveProperty(field);
    expect(leftOut(CHAT, { [field]: value }, at(dialects[name]))).toEqual([field]);
  });

  it.each([
    ['openai', 'field_of_next_year'],
    ['openai', 'verbosity'],
    ['openai', 'prediction'],
    ['groq', 'include_reasoning'],
    ['groq', 'search_settings'],
    ['mistral', 'safe_prompt'],
    ['mistral', 'random_seed'],
    ['mistral', 'prompt_mode'],
    ['deepseek', 'thinking'],
  ] as const)('%s is sent %s as it came, which is its own or new', (name, field) => {
    const value = field === 'prediction' ? { type: 'content', content: 'x' } : 'low';
    expect(sent(CHAT, { [field]: value }, at(dialects[name]))).toMatchObject({ [field]: value });
    expect(leftOut(CHAT, { [field]: value }, at(dialects[name]))).toEqual([]);
  });

  it('is not asked for several answers, of which it gives one', () => {
    expect(refusal(CHAT, { n: 2 }, groq)).toBe('invalid_request n');
    expect(refusal(CHAT, { n: 2 }, at(dialects.other))).toBe('admitted');
  });

  it('is not asked where the caller wants every field heeded', () => {
    const strict = { logprobs: true, provider: { require_parameters: true } };
    expect(refusal(CHAT, strict, groq)).toBe('no_provider logprobs');
    expect(refusal(CHAT, strict, at(dialects.other))).toBe('admitted');
  });

  it('is asked without those that ask for what happens anyway', () => {
    const silent = { n: 1, logprobs: false, top_logprobs: 0, logit_bias: null };
    const body = sent(CHAT, { ...silent, temperature: 0.5 }, groq);
    for (const field of Object.keys(silent)) expect(body).not.toHaveProperty(field);
    expect(body.temperature).toBe(0.5);
  });

  it('comes behind another endpoint of the model that takes them', () => {
    const both = testCatalog({
      models: [model({ endpoints: [endpoint({ providerId: 'groq' }), endpoint({ providerId: 'plain' })] })],
      providers: [
        provider({ id: 'groq', kind: providerKinds.openai, formats: [CHAT], dialect: dialects.groq }),
        provider({ id: 'plain', kind: providerKinds.openai, formats: [CHAT] }),
      ],
    });
    const candidatesOf = (extra: object) => {
      const result = admitted(CHAT, extra, both);
      return result.ok ? result.plan.candidates.map((each) => each.provider.id) : result.error.code;
    };
    expect(candidatesOf({})).toEqual(['groq', 'plain']);
    expect(candidatesOf({ logprobs: true })).toEqual(['plain', 'groq']);
    expect(candidatesOf({ logprobs: true, provider: { require_parameters: true } })).toEqual(['plain']);
  });

  it('for every field that it does not know is sent only those that it does', () => {
    expect(leftOut(CHAT, { top_k: 5 }, google)).toEqual(['top_k']);
    expect(leftOut('messages', { top_k: 5 }, google)).toEqual(['top_k']);
    expect(sent(CHAT, { temperature: 0.5, user: 'me', top_p: 0.5 }, google)).toEqual({
      model: 'small-2026',
      messages: [{ role: 'user', content: 'Hello' }],
      temperature: 0.5,
      top_p: 0.5,
      max_tokens: 4_096,
    });
  });
});

describe('a word for an effort', () => {
  const formats = [CHAT, 'responses'] as const;
  const effortIn = (format: FormatName, effort: string): object =>
    format === CHAT ? { reasoning_effort: effort } : { reasoning: { effort, summary: 'auto' } };
  const effortOf = (format: FormatName, body: Record<string, unknown>): unknown =>
    format === CHAT ? body.reasoning_effort : (body.reasoning as Record<string, unknown> | undefined)?.effort;

  it.each<[DialectName, string, string]>([
    ['other', 'minimal', 'minimal'],
    ['other', 'of_next_year', 'of_next_year'],
    ['sglang', 'minimal', 'low'],
    ['sglang', 'max', 'high'],
    ['deepseek', 'xhigh', 'high'],
    ['openai', 'max', 'max'],
    ['google', 'xhigh', 'high'],
    ['groq', 'of_next_year', 'of_next_year'],
  ])('is one of the scale of %s, in the caller’s own format: %s', (name, effort, expected) => {
    // The schema of responses takes no word that nobody knows.
    for (const format of formats.filter((each) => each === CHAT || effort !== 'of_next_year')) {
      const native = at(dialects[name], [CHAT, 'responses']);
      expect([format, effortOf(format, sent(format, effortIn(format, effort), native))]).toEqual([
        format,
        expected,
      ]);
      expect(leftOut(format, effortIn(format, effort), native)).toEqual([]);
    }
  });

  it('keeps what else is said of reasoning', () => {
    const native = at(dialects.sglang, [CHAT, 'responses']);
    expect(sent('responses', effortIn('responses', 'max'), native).reasoning).toEqual({
      effort: 'high',
      summary: 'auto',
    });
    expect(sent('responses', effortIn('responses', 'none'), native).reasoning).toEqual({ summary: 'auto' });
  });

  it('is named where the server has none for it', () => {
    for (const name of ['sglang'] as const) {
      const native = at(dialects[name], [CHAT, 'responses']);
      expect(leftOut(CHAT, { reasoning_effort: 'none' }, native)).toEqual(['reasoning_effort']);
      expect(leftOut(CHAT, { reasoning: { effort: 'none' } }, native)).toEqual(['reasoning.effort']);
      expect(leftOut('responses', { reasoning: { effort: 'none' } }, native)).toEqual(['reasoning.effort']);
      expect(leftOut('responses', { reasoning: { effort: 'none' } }, at(dialects[name]))).toEqual([
        'reasoning.effort',
      ]);
      expect(leftOut('messages', { thinking: { type: 'disabled' } }, at(dialects[name]))).toEqual([
        'thinking.type',
      ]);
    }
  });

  it('that stands twice counts once, and the other is named', () => {
    const twice = { reasoning_effort: 'low', reasoning: { effort: 'high' } };
    expect(leftOut(CHAT, twice, at(dialects.other))).toEqual(['reasoning.effort']);
    expect(sent(CHAT, twice, at(dialects.other)).reasoning_effort).toBe('low');
  });

  it('of another format is one that every server has, where nothing is known of the server', () => {
    const claude = (effort: string) =>
      sent('messages', { output_config: { effort } }, at(dialects.other)).reasoning_effort;
    expect(['low', 'xhigh', 'max'].map(claude)).toEqual(['low', 'high', 'high']);
  });
});

describe('a caller who wants every field heeded', () => {
  const strict = { provider: { require_parameters: true } };
  const messageOf = (format: FormatName, extra: object, catalog: Catalog): string => {
    const result = admitted(format, { ...extra, ...strict }, catalog);
    return result.ok ? 'admitted' : `${result.error.code} ${result.error.message}`;
  };

  it.each<[FormatName, object, string]>([
    [CHAT, { seed: 7 }, '`seed` (7)'],
    ['responses', { text: { verbosity: 'low' } }, '`text.verbosity` ("low")'],
    [
      CHAT,
      { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {}, tomorrow: true } } },
      '`response_format.json_schema.tomorrow` (true)',
    ],
    ['responses', { truncation: 'x'.repeat(500) }, '`truncation` (a text of 500 characters)'],
    [
      CHAT,
      { logit_bias: Object.fromEntries(Array.from({ length: 50 }, (_, at) => [at, 1])) },
      '`logit_bias` (an object)',
    ],
  ])('hears of %s which it was, by its path, and its value: %j', (format, extra, words) => {
    const claude = testCatalog({
      models: [model({ endpoints: [endpoint({ providerId: 'plain', upstreamModel: 'claude-opus-4-8' })] })],
      providers: [provider({ id: 'plain', kind: providerKinds.anthropic, formats: ['messages'] })],
    });
    expect(messageOf(format, extra, claude)).toMatch(/^no_provider /);
    expect(messageOf(format, extra, claude)).toContain(words);
  });

  it('hears nothing that was said to the model', () => {
    const secret = { messages: [{ role: 'user', content: 'a', tomorrow: 'secret' }] };
    const claude = testCatalog({
      providers: [provider({ id: 'router', kind: providerKinds.anthropic, formats: ['messages'] })],
    });
    expect(messageOf(CHAT, secret, claude)).toContain('`messages[0].tomorrow`');
    expect(messageOf(CHAT, secret, claude)).not.toContain('secret');
  });

  it('is refused for no hint, and hears of it in the header', () => {
    const hints = {
      user: 'me',
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      trace: { a: 1 },
      client_metadata: { a: 'b' },
    };
    const result = admitted(CHAT, { ...hints, ...strict }, at(dialects.vllm));
    expect(result.ok && result.plan.candidates[0]?.leftOut).toEqual([]);
    expect(result.ok && [...(result.plan.candidates[0]?.hints ?? [])].sort()).toEqual(
      Object.keys(hints).sort(),
    );
  });
});

it('a fallback of another version is sent the fields that it takes, and not those of the version before it', () => {
  const versions = ['claude-3-7-sonnet-20250219', 'claude-haiku-4-5', 'claude-opus-4-8'];
  const endpoints = versions.map((upstreamModel) => endpoint({ providerId: 'plain', upstreamModel }));
  const messagesOnly = provider({ id: 'plain', kind: providerKinds.anthropic, formats: ['messages'] });
  const catalog = testCatalog({ models: [model({ endpoints })], providers: [messagesOnly] });
  const result = admitted(CHAT, { temperature: 0.5, top_p: 0.9 }, catalog);
  if (!result.ok) throw new Error(result.error.message);
  const names = result.plan.candidates.map((each) => [each.endpoint.upstreamModel, each.leftOut]);
  expect(Object.fromEntries(names)).toEqual({
    'claude-3-7-sonnet-20250219': [],
    'claude-haiku-4-5': ['top_p'],
    'claude-opus-4-8': ['temperature', 'top_p'],
  });
});
