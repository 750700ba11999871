import { describe, expect, it } from 'vitest';
import type { TokenCounts } from '#core/events/ledger-event.ts';
import { chatCounts, messagesCounts, readUsage, responsesCounts } from '../../api/inference/price/usage.ts';
import { type UsageFormat, type UsageRole, vendorUsages } from '../../api/providers/usage-fields.ts';
import { billMembers } from '../../api/providers/usage-names.ts';

const readings = { chat: chatCounts, responses: responsesCounts, messages: messagesCounts };

const read = (format: UsageFormat, record: object) =>
  readUsage(Buffer.from(JSON.stringify(record)), readings[format])?.usage ?? null;

/** `[prompt, completion, cached, cacheWritten, reasoning]`. */
type Counted = [
  prompt: number,
  completion: number,
  cached: number,
  written: number,
  reasoning: number | null,
];

const countedAs = ([prompt, completion, cached, cacheWritten, reasoning]: Counted): TokenCounts => ({
  prompt,
  completion,
  reasoning,
  cached,
  ...(cacheWritten === 0 ? {} : { cacheWritten }),
});

const openAi = {
  prompt_tokens: 120,
  completion_tokens: 30,
  total_tokens: 150,
  prompt_tokens_details: { cached_tokens: 20, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 10, audio_tokens: 0, rejected_prediction_tokens: 0 },
};
const plain = { prompt_tokens: 120, total_tokens: 150, completion_tokens: 30 };
const cachedIn = { ...plain, prompt_tokens_details: { cached_tokens: 20 } };
const responses = {
  input_tokens: 120,
  input_tokens_details: { cached_tokens: 20 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 10 },
  total_tokens: 150,
};
const messages = {
  input_tokens: 90,
  cache_creation_input_tokens: 10,
  cache_read_input_tokens: 20,
  output_tokens: 30,
};
const WHOLE: Counted = [120, 30, 20, 0, 10];
const MESSAGES: Counted = [120, 30, 20, 10, null];

/** As each vendor sends it, and how many tokens of each kind it bills. */
const records: Record<string, [UsageFormat, object, Counted][]> = {
  OpenAI: [
    [
      'chat',
      { ...openAi, prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 40 } },
      [120, 30, 20, 40, 10],
    ],
    [
      'responses',
      { ...responses, input_tokens_details: { cached_tokens: 20, cache_write_tokens: 40 } },
      [120, 30, 20, 40, 10],
    ],
  ],
  'Azure OpenAI': [
    ['chat', openAi, WHOLE],
    ['responses', responses, WHOLE],
  ],
  Anthropic: [
    [
      'messages',
      {
        ...messages,
        cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 6 },
        output_tokens_details: { thinking_tokens: 12 },
        server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
        service_tier: 'standard',
      },
      [120, 30, 20, 10, 12],
    ],
    // What a compaction read and wrote stands in no counter of the record.
    [
      'messages',
      {
        ...messages,
        iterations: [
          { type: 'compaction', input_tokens: 1_000, output_tokens: 50 },
          { type: 'message', input_tokens: 90, output_tokens: 30 },
        ],
      },
      [1_120, 80, 20, 10, null],
    ],
    // The written tokens by their time alone.
    [
      'messages',
      { input_tokens: 90, output_tokens: 30, cache_creation: { ephemeral_1h_input_tokens: 6 } },
      [96, 30, 0, 6, null],
    ],
  ],
  'Amazon Bedrock (Claude)': [
    ['messages', messages, MESSAGES],
    [
      'messages',
      {
        inputTokenCount: 90,
        outputTokenCount: 30,
        cacheReadInputTokenCount: 20,
        cacheWriteInputTokenCount: 10,
        invocationLatency: 800,
      },
      MESSAGES,
    ],
  ],
  'Amazon Bedrock (OpenAI formats)': [
    ['chat', openAi, WHOLE],
    ['chat', { inputTokenCount: 120, outputTokenCount: 30, invocationLatency: 800 }, [120, 30, 0, 0, null]],
    ['responses', responses, WHOLE],
    ['responses', { inputTokenCount: 120, outputTokenCount: 30 }, [120, 30, 0, 0, null]],
  ],
  'Google Vertex AI (Claude)': [['messages', messages, MESSAGES]],
  OpenRouter: [
    [
      'chat',
      {
        ...openAi,
        prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 40 },
        cost: 0.1,
        is_byok: false,
      },
      [120, 30, 20, 40, 10],
    ],
    ['responses', { ...responses, cost: 0.1, cost_details: { upstream_inference_cost: null } }, WHOLE],
    ['messages', { ...messages, cost: 0.1 }, MESSAGES],
  ],
  'Google Gemini (OpenAI format)': [
    // Thinking stands in the total alone.
    [
      'chat',
      { prompt_tokens: 19_693, completion_tokens: 7, total_tokens: 20_309 },
      [19_693, 616, 0, 0, null],
    ],
    ['chat', cachedIn, [120, 30, 20, 0, null]],
  ],
  DeepSeek: [
    [
      'chat',
      {
        ...openAi,
        prompt_cache_hit_tokens: 20,
        prompt_cache_miss_tokens: 100,
        prompt_tokens_details: { cached_tokens: 20 },
      },
      WHOLE,
    ],
    [
      'chat',
      { completion_tokens: 30, prompt_cache_hit_tokens: 20, prompt_cache_miss_tokens: 100 },
      [120, 30, 20, 0, null],
    ],
    ['messages', messages, MESSAGES],
  ],
  Mistral: [
    ['chat', { ...plain, num_cached_tokens: 20, prompt_audio_seconds: null }, [120, 30, 20, 0, null]],
    ['chat', { ...plain, prompt_token_details: { cached_tokens: 20 } }, [120, 30, 20, 0, null]],
    ['chat', cachedIn, [120, 30, 20, 0, null]],
  ],
  Groq: [
    ['chat', { queue_time: 0.03, ...cachedIn, prompt_time: 0.01, total_time: 0.11 }, [120, 30, 20, 0, null]],
    ['responses', responses, WHOLE],
  ],
  xAI: [
    // Reasoning stands beside the answer, and in the total.
    [
      'chat',
      {
        prompt_tokens: 12,
        completion_tokens: 2,
        total_tokens: 438,
        prompt_tokens_details: { text_tokens: 12, cached_tokens: 3 },
        completion_tokens_details: { reasoning_tokens: 424 },
        num_sources_used: 0,
        cost_in_usd_ticks: 5,
      },
      [12, 426, 3, 0, 424],
    ],
    // So do caches that are greater than the prompt.
    [
      'chat',
      {
        prompt_tokens: 4_142,
        completion_tokens: 254,
        total_tokens: 8_724,
        prompt_tokens_details: { cached_tokens: 4_328 },
      },
      [8_470, 254, 4_328, 0, null],
    ],
    ['responses', { ...responses, num_sources_used: 0, num_server_side_tools_used: 0 }, WHOLE],
  ],
  'Cohere (OpenAI format)': [['chat', { ...plain, cached_tokens: 20 }, [120, 30, 20, 0, null]]],
  Fireworks: [
    ['chat', cachedIn, [120, 30, 20, 0, null]],
    ['messages', messages, MESSAGES],
  ],
  Together: [['chat', { ...plain, cached_tokens: 20, reasoning_tokens: 10 }, WHOLE]],
  'Moonshot (Kimi)': [
    ['chat', { ...plain, cached_tokens: 20, completion_tokens_details: { reasoning_tokens: 10 } }, WHOLE],
    ['messages', messages, MESSAGES],
  ],
  'Alibaba Model Studio (Qwen, DashScope)': [
    [
      'chat',
      {
        ...plain,
        prompt_tokens_details: {
          cached_tokens: 20,
          cache_creation_input_tokens: 40,
          cache_creation: { ephemeral_5m_input_tokens: 40 },
          cache_type: 'ephemeral',
        },
      },
      [120, 30, 20, 40, null],
    ],
    [
      'responses',
      { ...responses, input_tokens_details: { cached_tokens: 20, cache_creation_input_tokens: 40 } },
      [120, 30, 20, 40, 10],
    ],
    ['messages', messages, MESSAGES],
  ],
  'Z.ai (Zhipu GLM)': [
    ['chat', cachedIn, [120, 30, 20, 0, null]],
    ['messages', messages, MESSAGES],
  ],
  MiniMax: [
    ['chat', { ...openAi, total_characters: 0 }, WHOLE],
    ['messages', messages, MESSAGES],
  ],
  Perplexity: [
    [
      'chat',
      {
        ...plain,
        citation_tokens: 500,
        num_search_queries: 1,
        reasoning_tokens: 10,
        cost: { total_cost: 1 },
      },
      [120, 30, 0, 0, 10],
    ],
    [
      'responses',
      {
        ...responses,
        input_tokens_details: { cache_creation_input_tokens: 40, cache_read_input_tokens: 20 },
        cost: { currency: 'USD', total_cost: 1 },
      },
      [120, 30, 20, 40, 10],
    ],
  ],
  Cerebras: [['chat', cachedIn, [120, 30, 20, 0, null]]],
  SambaNova: [
    [
      'chat',
      { ...cachedIn, completion_tokens_per_sec: 135.1, total_latency: 0.2, is_last_response: true },
      [120, 30, 20, 0, null],
    ],
    ['responses', responses, WHOLE],
    ['messages', messages, MESSAGES],
  ],
  DeepInfra: [
    ['chat', { ...cachedIn, estimated_cost: 0.0001 }, [120, 30, 20, 0, null]],
    ['messages', messages, MESSAGES],
  ],
  vLLM: [
    ['chat', { ...plain, prompt_tokens_details: null }, [120, 30, 0, 0, null]],
    ['responses', responses, WHOLE],
    ['messages', { input_tokens: 120, output_tokens: 30 }, [120, 30, 0, 0, null]],
  ],
  SGLang: [
    ['chat', { ...cachedIn, reasoning_tokens: 10 }, WHOLE],
    ['responses', { ...responses, output_tokens_details: undefined, reasoning_tokens: 10 }, WHOLE],
    // Its responses have the record of its chats.
    ['responses', { ...cachedIn, reasoning_tokens: 10 }, WHOLE],
    ['messages', messages, MESSAGES],
    ['messages', plain, [120, 30, 0, 0, null]],
  ],
  'llama.cpp': [
    ['chat', cachedIn, [120, 30, 20, 0, null]],
    ['messages', messages, MESSAGES],
  ],
  Ollama: [
    ['chat', plain, [120, 30, 0, 0, null]],
    ['responses', responses, WHOLE],
    ['messages', { input_tokens: 120, output_tokens: 30 }, [120, 30, 0, 0, null]],
  ],
  'LM Studio': [
    ['chat', openAi, WHOLE],
    ['responses', responses, WHOLE],
    ['messages', messages, MESSAGES],
  ],
  'TGI and Hugging Face': [
    ['chat', plain, [120, 30, 0, 0, null]],
    ['responses', responses, WHOLE],
  ],
  LiteLLM: [
    [
      'chat',
      { ...cachedIn, cache_read_input_tokens: 20, cache_creation_input_tokens: 40 },
      [120, 30, 20, 40, null],
    ],
    ['responses', responses, WHOLE],
    ['messages', messages, MESSAGES],
  ],
  Requesty: [
    [
      'chat',
      { ...plain, prompt_tokens_details: { cached_tokens: 20, caching_tokens: 40 } },
      [120, 30, 20, 40, null],
    ],
  ],
  Inception: [['chat', { ...plain, reasoning_tokens: 10, cached_input_tokens: 20 }, WHOLE]],
  Bifrost: [
    [
      'chat',
      { ...plain, prompt_tokens_details: { cached_read_tokens: 20, cached_write_tokens: 40 } },
      [120, 30, 20, 40, null],
    ],
    [
      'responses',
      { ...responses, input_tokens_details: { cached_read_tokens: 20, cached_write_tokens: 40 } },
      [120, 30, 20, 40, 10],
    ],
  ],
  'new-api': [
    // One record has the names of two formats, those of the other with zeros.
    [
      'chat',
      {
        ...cachedIn,
        prompt_tokens_details: { cached_tokens: 20, cached_creation_tokens: 40 },
        prompt_cache_hit_tokens: 0,
        input_tokens: 0,
        output_tokens: 0,
        input_tokens_details: null,
      },
      [120, 30, 20, 40, null],
    ],
    [
      'chat',
      { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, input_tokens: 120, output_tokens: 30 },
      [120, 30, 0, 0, null],
    ],
    ['responses', responses, WHOLE],
    ['messages', messages, MESSAGES],
  ],
};

const examples = Object.entries(records).flatMap(([vendor, all]) =>
  all.map(([format, record, counted]) => ({ vendor, format, record, counted })),
);

describe('the usage record of a vendor', () => {
  it.each(examples)('is read whole: $vendor, $format, $counted', ({ format, record, counted }) => {
    expect(read(format, record)?.tokens).toEqual(countedAs(counted));
  });

  it('has an example of each format of each row, and at least twelve vendors have a row', () => {
    expect(vendorUsages.length).toBeGreaterThanOrEqual(12);
    const rows = vendorUsages.flatMap(({ vendor, formats }) =>
      Object.keys(formats).map((format) => `${vendor}: ${format}`),
    );
    expect([...new Set(examples.map(({ vendor, format }) => `${vendor}: ${format}`))].sort()).toEqual(
      rows.sort(),
    );
    for (const { source } of vendorUsages) expect(source).toMatch(/[.:/]/);
  });
});

const paths = vendorUsages.flatMap(({ vendor, formats }) =>
  (Object.keys(formats) as UsageFormat[]).flatMap((format) =>
    (Object.entries(formats[format] ?? {}) as [UsageRole, readonly string[]][]).flatMap(([role, all]) =>
      all.map((path) => ({ vendor, format, role, path })),
    ),
  ),
);

const at = (path: string, value: number): Record<string, unknown> =>
  path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Record<
    string,
    unknown
  >;

/** What is left to say where one name carries the prompt or the answer. */
function withPath(format: UsageFormat, role: UsageRole, path: string): Record<string, unknown> {
  const [prompt, completion] =
    format === 'chat' ? ['prompt_tokens', 'completion_tokens'] : ['input_tokens', 'output_tokens'];
  const counts: Record<string, unknown> = { [prompt]: 100, [completion]: 50 };
  if (role === 'prompt' || role === 'promptBeside') delete counts[prompt];
  if (role === 'completion') delete counts[completion];
  return { ...counts, ...at(path, role === 'total' ? 157 : 7) };
}

describe('every name of the table', () => {
  it.each(paths)('is read: $vendor, $format, $role in $path', ({ format, role, path }) => {
    const record = withPath(format, role, path);
    const usage = read(
      format,
      role === 'promptBeside' && format === 'chat' ? { ...record, cached_tokens: 1 } : record,
    );
    const tokens = usage?.tokens;
    const seen: Record<UsageRole, unknown> = {
      prompt: tokens?.prompt,
      promptBeside: (tokens?.prompt ?? 0) - (tokens?.cached ?? 0),
      cached: tokens?.cached,
      cacheWritten: tokens?.cacheWritten,
      cacheWritten5m: tokens?.cacheWritten,
      cacheWritten1h: usage?.cacheWritten1h,
      completion: tokens?.completion,
      reasoning: tokens?.reasoning,
      total: (tokens?.completion ?? 0) - 50,
      webSearches: usage?.webSearches,
    };
    expect(seen[role]).toBe(7);
  });
});

it('what a vendor charges its own customer is known by name', () => {
  expect([...billMembers].sort()).toEqual(
    ['cost', 'cost_details', 'cost_in_nano_usd', 'cost_in_usd_ticks', 'estimated_cost', 'is_byok'].sort(),
  );
});

describe('where the numbers of one record contradict each other', () => {
  it.each<[string, object, Counted]>([
    [
      'the greater of two prompts counts',
      { prompt_tokens: 5, input_tokens: 120, completion_tokens: 30 },
      [120, 30, 0, 0, null],
    ],
    [
      'reasoning is no part of an answer that is smaller, where no total says otherwise',
      { prompt_tokens: 33, completion_tokens: 7_163, reasoning_tokens: 73_997 },
      [33, 81_160, 0, 0, 73_997],
    ],
    [
      'a total that is the sum of prompt and answer leaves nothing beside them',
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, reasoning_tokens: 9 },
      [10, 5, 0, 0, 9],
    ],
    [
      'reasoning inside the answer is not counted twice',
      { prompt_tokens: 10, completion_tokens: 5, reasoning_tokens: 5 },
      [10, 5, 0, 0, 5],
    ],
    [
      'a record without an answer, as of one that was all reasoning, has it in the total',
      { prompt_tokens: 10, total_tokens: 150 },
      [10, 140, 0, 0, null],
    ],
    [
      'a total that is the prompt alone says that nothing was written',
      { prompt_tokens: 10, total_tokens: 10 },
      [10, 0, 0, 0, null],
    ],
    [
      'more was cached than read, so it was beside, whatever the total is the sum of',
      {
        ...{ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
        prompt_tokens_details: { cached_tokens: 1_000 },
      },
      [1_010, 5, 1_000, 0, null],
    ],
    [
      'more was cached than read, and no total says that it was beside',
      { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 99 } },
      [10, 5, 10, 0, null],
    ],
  ])('%s', (_name, record, counted) => {
    expect(read('chat', record)?.tokens).toEqual(countedAs(counted));
  });
});
