import {
  BERGEN,
  bothCalls,
  OSLO,
  type Recording,
  TEXT,
  TEXT_PIECES,
  THOUGHT,
  THOUGHT_PIECES,
} from '../recording.ts';
import { chatShape, pieceDeltas, usageOf, wholeCall, wholeDeltas } from './chat-shape.ts';

/* Mistral, DeepSeek, xAI, Cohere and Perplexity, each at its own address. */

/* docs.mistral.ai: chat completion, reasoning, function calling, citations. */
const mistralShape = chatShape({
  frame: { id: 'a4e2mi', created: 1_790_000_401, model: 'mistral-test-large' },
});
const mistralUsage = usageOf(19, 24);
const mistralShared = {
  vendor: 'Mistral',
  format: 'chat',
  provider: 'mistral',
  tokens: { prompt: 19, completion: 24 },
} as const;
const thinking = (text: string, more: object = {}) => ({
  type: 'thinking',
  thinking: [{ type: 'text', text }],
  ...more,
});
const mistralCall = (id: string, json: string) => ({ id, function: { name: 'weather', arguments: json } });

const mistral: Recording[] = [
  {
    ...mistralShared,
    kind: 'text',
    stream: [
      mistralShape.chunk({ role: 'assistant', content: '' }, { p: 'abc' }),
      ...TEXT_PIECES.map((content) => mistralShape.chunk({ content }, { p: 'abcdef' })),
      mistralShape.end('stop', { usage: mistralUsage, p: 'ab' }, { content: '' }),
    ],
    whole: mistralShape.whole({ tool_calls: null, content: TEXT }, 'stop', mistralUsage),
    said: { text: TEXT },
  },
  {
    ...mistralShared,
    kind: 'thinking parts before a text part',
    stream: [
      mistralShape.chunk({ role: 'assistant', content: [thinking(THOUGHT_PIECES[0])] }),
      mistralShape.chunk({ content: [thinking(THOUGHT_PIECES[1], { closed: true })] }),
      mistralShape.chunk({ content: [{ type: 'text', text: TEXT }] }),
      mistralShape.end('stop', { usage: mistralUsage }, { content: '' }),
    ],
    whole: mistralShape.whole(
      { tool_calls: null, content: [thinking(THOUGHT, { closed: true }), { type: 'text', text: TEXT }] },
      'stop',
      mistralUsage,
    ),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...mistralShared,
    kind: 'thinking parts before texts that are not parts',
    stream: [
      mistralShape.chunk({ role: 'assistant', content: [thinking(THOUGHT)] }),
      ...TEXT_PIECES.map((content) => mistralShape.chunk({ content })),
      mistralShape.end('stop', { usage: mistralUsage }, { content: '' }),
    ],
    whole: mistralShape.whole(
      { tool_calls: null, content: [thinking(THOUGHT), { type: 'text', text: TEXT }] },
      'stop',
      mistralUsage,
    ),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...mistralShared,
    kind: 'parallel calls without a type, in one chunk',
    stream: [
      mistralShape.chunk({ role: 'assistant', content: '' }),
      mistralShape.end(
        'tool_calls',
        { usage: mistralUsage },
        {
          tool_calls: [
            { ...mistralCall('oS9aB3cD1', OSLO), index: 0 },
            { ...mistralCall('bE2xY4zW5', BERGEN), index: 1 },
          ],
        },
      ),
    ],
    whole: mistralShape.whole(
      { tool_calls: [mistralCall('oS9aB3cD1', OSLO), mistralCall('bE2xY4zW5', BERGEN)], content: '' },
      'tool_calls',
      mistralUsage,
    ),
    said: { calls: bothCalls('oS9aB3cD1', 'bE2xY4zW5') },
  },
  {
    ...mistralShared,
    kind: 'text with references',
    stream: [
      mistralShape.chunk({ role: 'assistant', content: [{ type: 'text', text: TEXT }] }),
      mistralShape.chunk({ content: [{ type: 'reference', reference_ids: [1] }] }),
      mistralShape.end('stop', { usage: mistralUsage }, { content: '' }),
    ],
    whole: mistralShape.whole(
      {
        tool_calls: null,
        content: [
          { type: 'text', text: TEXT },
          { type: 'reference', reference_ids: [1] },
        ],
      },
      'stop',
      mistralUsage,
    ),
    said: { text: TEXT },
  },
  {
    ...mistralShared,
    kind: 'cut text',
    stream: [
      mistralShape.chunk({ role: 'assistant', content: '' }),
      mistralShape.end('length', { usage: mistralUsage }, { content: 'Rain by' }),
    ],
    whole: mistralShape.whole({ tool_calls: null, content: 'Rain by' }, 'length', mistralUsage),
    said: { text: 'Rain by', end: 'length' },
  },
  {
    ...mistralShared,
    kind: 'text cut at the end of the context',
    stream: [
      mistralShape.chunk({ role: 'assistant', content: '' }),
      mistralShape.end('model_length', { usage: mistralUsage }, { content: 'Rain by' }),
    ],
    whole: mistralShape.whole({ tool_calls: null, content: 'Rain by' }, 'model_length', mistralUsage),
    said: { text: 'Rain by', end: 'length' },
  },
];

/* api-docs.deepseek.com: create chat completion, thinking mode. */
const deepseekShape = chatShape({
  frame: { id: '6e77de', created: 1_790_000_402, model: 'deepseek-test-v4', system_fingerprint: 'fp_de' },
  choice: { logprobs: null, finish_reason: null },
  wholeChoice: { logprobs: null },
  chunkFrame: { usage: null },
});
const deepseekUsage = usageOf(374, 61, {
  prompt_tokens_details: { cached_tokens: 256 },
  completion_tokens_details: { reasoning_tokens: 17 },
  prompt_cache_hit_tokens: 256,
  prompt_cache_miss_tokens: 118,
});
const deepseekShared = {
  vendor: 'DeepSeek',
  format: 'chat',
  provider: 'deepseek',
  tokens: { prompt: 374, cached: 256, completion: 61 },
} as const;
const deepseekThought = [
  deepseekShape.chunk({ role: 'assistant', content: null, reasoning_content: '' }),
  ...THOUGHT_PIECES.map((reasoning_content) => deepseekShape.chunk({ content: null, reasoning_content })),
];

const deepseek: Recording[] = [
  {
    ...deepseekShared,
    kind: 'reasoning before a text',
    stream: [
      ...deepseekThought,
      ...TEXT_PIECES.map((content) => deepseekShape.chunk({ content, reasoning_content: null })),
      deepseekShape.end('stop', { usage: deepseekUsage }, { content: '', reasoning_content: null }),
    ],
    whole: deepseekShape.whole({ content: TEXT, reasoning_content: THOUGHT }, 'stop', deepseekUsage),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...deepseekShared,
    kind: 'reasoning before parallel calls',
    stream: [
      ...deepseekThought,
      ...pieceDeltas('call_00_os', 'call_01_be').map((delta) => deepseekShape.chunk(delta)),
      deepseekShape.end('tool_calls', { usage: deepseekUsage }, { content: '', reasoning_content: null }),
    ],
    whole: deepseekShape.whole(
      {
        content: '',
        reasoning_content: THOUGHT,
        tool_calls: [
          { index: 0, ...wholeCall('call_00_os', OSLO) },
          { index: 1, ...wholeCall('call_01_be', BERGEN) },
        ],
      },
      'tool_calls',
      deepseekUsage,
    ),
    said: { reasoning: THOUGHT, calls: bothCalls('call_00_os', 'call_01_be') },
  },
  {
    ...deepseekShared,
    kind: 'text cut as its machine ran out',
    stream: [
      deepseekShape.chunk({ role: 'assistant', content: '' }),
      deepseekShape.chunk({ content: 'Rain by' }),
      deepseekShape.end('insufficient_system_resource', { usage: deepseekUsage }, { content: '' }),
    ],
    whole: deepseekShape.whole({ content: 'Rain by' }, 'insufficient_system_resource', deepseekUsage),
    said: { text: 'Rain by', end: 'length' },
  },
];

/* docs.x.ai: chat completions, reasoning; reasoning is counted beside the completion. */
const xaiShape = chatShape({
  frame: { id: 'de9dxa', created: 1_790_000_403, model: 'grok-test-4', system_fingerprint: 'fp_xa' },
  choice: {},
});
const xaiUsage = {
  prompt_tokens: 91,
  completion_tokens: 26,
  total_tokens: 133,
  prompt_tokens_details: { text_tokens: 91, audio_tokens: 0, image_tokens: 0, cached_tokens: 40 },
  completion_tokens_details: {
    reasoning_tokens: 16,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
  num_sources_used: 0,
  cost_in_usd_ticks: 1_330_500,
};
const xaiShared = {
  vendor: 'xAI',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 91, cached: 40, completion: 42 },
} as const;
const xaiThought = THOUGHT_PIECES.map((reasoning_content, at) =>
  xaiShape.chunk({ reasoning_content, ...(at === 0 ? { role: 'assistant' } : {}) }),
);

const xai: Recording[] = [
  {
    ...xaiShared,
    kind: 'reasoning before a text',
    stream: [
      ...xaiThought,
      ...TEXT_PIECES.map((content) => xaiShape.chunk({ content })),
      xaiShape.end('stop'),
      xaiShape.counted(xaiUsage),
    ],
    whole: xaiShape.whole({ content: TEXT, reasoning_content: THOUGHT, refusal: null }, 'stop', xaiUsage),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...xaiShared,
    kind: 'parallel calls, each whole',
    stream: [
      ...xaiThought,
      ...wholeDeltas('call_5511', 'call_5512').map((delta) => xaiShape.chunk(delta)),
      xaiShape.end('tool_calls'),
      xaiShape.counted(xaiUsage),
    ],
    whole: xaiShape.whole(
      {
        content: '',
        reasoning_content: THOUGHT,
        tool_calls: [wholeCall('call_5511', OSLO), wholeCall('call_5512', BERGEN)],
        refusal: null,
      },
      'tool_calls',
      xaiUsage,
    ),
    said: { reasoning: THOUGHT, calls: bothCalls('call_5511', 'call_5512') },
  },
  {
    ...xaiShared,
    kind: 'text with sources in its last chunk',
    stream: [
      xaiShape.chunk({ content: TEXT, role: 'assistant' }),
      xaiShape.end('stop'),
      xaiShape.counted(xaiUsage, { citations: ['https://weather.example/oslo'] }),
    ],
    whole: xaiShape.whole({ content: TEXT, refusal: null }, 'stop', xaiUsage, {
      citations: ['https://weather.example/oslo'],
    }),
    said: { text: TEXT, citations: ['https://weather.example/oslo'] },
  },
];

/* docs.cohere.com: compatibility API. */
const cohereShape = chatShape({ frame: { id: 'c0he-1', created: 1_790_000_404, model: 'command-test' } });
const cohereUsage = usageOf(13, 8);
const cohereShared = {
  vendor: 'Cohere',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 13, completion: 8 },
} as const;

const cohere: Recording[] = [
  {
    ...cohereShared,
    kind: 'text',
    stream: [
      cohereShape.chunk({ content: '', role: 'assistant' }),
      ...TEXT_PIECES.map((content) => cohereShape.chunk({ content })),
      cohereShape.end('stop', { usage: cohereUsage }),
    ],
    whole: cohereShape.whole({ content: TEXT }, 'stop', cohereUsage),
    said: { text: TEXT },
  },
  {
    ...cohereShared,
    kind: 'parallel calls behind their plan',
    stream: [
      cohereShape.chunk({ content: '', role: 'assistant' }),
      cohereShape.chunk({ tool_plan: 'I will check.' }),
      ...pieceDeltas('weather_os', 'weather_be').map((delta) => cohereShape.chunk(delta)),
      cohereShape.end('tool_calls', { usage: cohereUsage }),
    ],
    whole: cohereShape.whole(
      {
        tool_plan: 'I will check.',
        tool_calls: [wholeCall('weather_os', OSLO), wholeCall('weather_be', BERGEN)],
      },
      'tool_calls',
      cohereUsage,
    ),
    said: { calls: bothCalls('weather_os', 'weather_be') },
  },
];

/* docs.perplexity.ai: chat completions; each chunk has the whole message so far beside its delta. */
const sources = {
  citations: ['https://weather.example/oslo'],
  search_results: [
    {
      title: 'Forecast',
      url: 'https://weather.example/oslo',
      date: '2026-11-01',
      snippet: 'Rain',
      source: 'web',
    },
  ],
};
const perplexityShape = chatShape({
  frame: { id: 'pp-1', created: 1_790_000_405, model: 'sonar-test' },
  chunkFrame: sources,
});
const perplexityUsage = usageOf(14, 28, {
  search_context_size: 'low',
  cost: { input_tokens_cost: 0.00001, output_tokens_cost: 0.00003, request_cost: 0.005, total_cost: 0.00504 },
});
const soFar = (content: string, delta: string, finish_reason: string | null = null) =>
  perplexityShape.chunk(
    { role: 'assistant', content: delta },
    { usage: { ...perplexityUsage, completion_tokens: content.length, total_tokens: 14 + content.length } },
    { message: { role: 'assistant', content }, finish_reason },
  );

const perplexity: Recording[] = [
  {
    vendor: 'Perplexity',
    format: 'chat',
    provider: 'other',
    kind: 'text with its sources, the whole message in each chunk',
    stream: [
      soFar('Rain', 'Rain'),
      soFar('Rain by', ' by'),
      soFar(TEXT, ' noon.'),
      perplexityShape.chunk(
        { role: 'assistant', content: '' },
        { usage: perplexityUsage },
        { message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' },
      ),
    ],
    whole: perplexityShape.whole({ content: TEXT }, 'stop', perplexityUsage, sources),
    said: { text: TEXT, citations: sources.citations },
    tokens: { prompt: 14, completion: 28 },
  },
  {
    vendor: 'Perplexity',
    format: 'chat',
    provider: 'other',
    kind: 'text that ends in the chunk of its last words, the whole message beside them',
    stream: [
      soFar('Rain', 'Rain'),
      perplexityShape.chunk(
        { role: 'assistant', content: ' by noon.' },
        { usage: perplexityUsage },
        { message: { role: 'assistant', content: TEXT }, finish_reason: 'stop' },
      ),
    ],
    whole: perplexityShape.whole({ content: TEXT }, 'stop', perplexityUsage, sources),
    said: { text: TEXT, citations: sources.citations },
    tokens: { prompt: 14, completion: 28 },
  },
];

export const labs: Recording[] = [...mistral, ...deepseek, ...xai, ...cohere, ...perplexity];
