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

/* Groq, Together, Fireworks, Cerebras, Cloudflare and SiliconFlow, which host the models of others. */

/* console.groq.com: chat completions, reasoning; the counters stand in a member of its own, and of late beside it. */
const groqShape = chatShape({
  frame: {
    id: 'chatcmpl-Gq2',
    created: 1_790_000_501,
    model: 'test-oss-groq',
    system_fingerprint: 'fp_gq',
    service_tier: 'on_demand',
  },
  choice: { logprobs: null, finish_reason: null },
  wholeChoice: { logprobs: null },
});
const groqUsage = {
  queue_time: 0.04,
  prompt_tokens: 21,
  prompt_time: 0.01,
  completion_tokens: 15,
  completion_time: 0.05,
  total_tokens: 36,
  total_time: 0.06,
  completion_tokens_details: { reasoning_tokens: 5 },
};
const groqFirst = { x_groq: { id: 'req_01k', seed: 77 } };
const inGroq = { x_groq: { id: 'req_01k', usage: groqUsage } };
const groqWhole = { usage_breakdown: null, x_groq: { id: 'req_01k', seed: 77 } };
const groqShared = {
  vendor: 'Groq',
  format: 'chat',
  provider: 'groq',
  tokens: { prompt: 21, completion: 15 },
} as const;

const groq: Recording[] = [
  {
    ...groqShared,
    kind: 'reasoning before a text, counted in its own member alone',
    stream: [
      groqShape.chunk({ role: 'assistant', content: '' }, groqFirst),
      ...THOUGHT_PIECES.map((reasoning) => groqShape.chunk({ reasoning, channel: 'analysis' })),
      ...TEXT_PIECES.map((content) => groqShape.chunk({ content, channel: 'final' })),
      groqShape.end('stop', inGroq),
    ],
    whole: groqShape.whole({ content: TEXT, reasoning: THOUGHT }, 'stop', groqUsage, groqWhole),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...groqShared,
    kind: 'parallel calls, each whole, counted twice',
    stream: [
      groqShape.chunk({ role: 'assistant', content: null }, groqFirst),
      ...wholeDeltas('tk85os', 'tk85be').map((delta) => groqShape.chunk(delta)),
      groqShape.end('tool_calls', { ...inGroq, usage: groqUsage }),
    ],
    whole: groqShape.whole(
      { tool_calls: [wholeCall('tk85os', OSLO), wholeCall('tk85be', BERGEN)] },
      'tool_calls',
      groqUsage,
      groqWhole,
    ),
    said: { calls: bothCalls('tk85os', 'tk85be') },
  },
  {
    ...groqShared,
    // github.com/langchain-ai/langchain/issues/33896
    kind: 'a call of a tool without parameters',
    stream: [
      groqShape.chunk({ role: 'assistant', content: null }, groqFirst),
      groqShape.chunk({
        tool_calls: [
          { index: 0, id: 'tk85no', type: 'function', function: { name: 'clock', arguments: 'null' } },
        ],
      }),
      groqShape.end('tool_calls', { ...inGroq, usage: groqUsage }),
    ],
    whole: groqShape.whole(
      { tool_calls: [{ id: 'tk85no', type: 'function', function: { name: 'clock', arguments: 'null' } }] },
      'tool_calls',
      groqUsage,
      groqWhole,
    ),
    said: { calls: [{ id: 'tk85no', name: 'clock', input: {} }] },
  },
  {
    ...groqShared,
    kind: 'cut text',
    stream: [
      groqShape.chunk({ role: 'assistant', content: '' }, groqFirst),
      groqShape.chunk({ content: 'Rain by' }),
      groqShape.end('length', { ...inGroq, usage: groqUsage }),
    ],
    whole: groqShape.whole({ content: 'Rain by' }, 'length', groqUsage, groqWhole),
    said: { text: 'Rain by', end: 'length' },
  },
];

/* docs.together.ai: chat completions, streaming; each choice has its text again. */
const togetherShape = chatShape({
  frame: { id: 'oTg1-Zz', created: 1_790_000_502, model: 'test/Together' },
  choice: { logprobs: null, finish_reason: null, seed: null },
  wholeChoice: { logprobs: null, seed: 9 },
  chunkFrame: { usage: null },
});
const togetherUsage = usageOf(33, 20, { cached_tokens: 0 });
const togetherShared = {
  vendor: 'Together',
  format: 'chat',
  provider: 'together',
  tokens: { prompt: 33, completion: 20 },
} as const;
const token = (delta: object, text = '') =>
  togetherShape.chunk(
    { token_id: 40, role: 'assistant', content: '', tool_calls: null, ...delta },
    {},
    { text },
  );

const together: Recording[] = [
  {
    ...togetherShared,
    kind: 'reasoning before a text',
    stream: [
      ...THOUGHT_PIECES.map((reasoning) => token({ reasoning })),
      ...TEXT_PIECES.map((content) => token({ content }, content)),
      togetherShape.end(
        'stop',
        { usage: togetherUsage },
        { token_id: 9, role: 'assistant', content: '', tool_calls: null },
      ),
    ],
    whole: togetherShape.whole({ content: TEXT, reasoning: THOUGHT, tool_calls: [] }, 'stop', togetherUsage, {
      prompt: [],
    }),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...togetherShared,
    kind: 'parallel calls',
    stream: [
      ...pieceDeltas('call_tos', 'call_tbe').map((delta) =>
        togetherShape.chunk({ role: 'assistant', content: '', ...delta }),
      ),
      togetherShape.end('tool_calls', { usage: togetherUsage }, { role: 'assistant', content: '' }),
    ],
    whole: togetherShape.whole(
      {
        content: null,
        tool_calls: [
          { index: 0, ...wholeCall('call_tos', OSLO) },
          { index: 1, ...wholeCall('call_tbe', BERGEN) },
        ],
      },
      'tool_calls',
      togetherUsage,
      { prompt: [] },
    ),
    said: { calls: bothCalls('call_tos', 'call_tbe') },
  },
  {
    ...togetherShared,
    kind: 'text that ends at its last token',
    stream: [
      ...TEXT_PIECES.map((content) => token({ content }, content)),
      togetherShape.end(
        'eos',
        { usage: togetherUsage },
        { token_id: 9, role: 'assistant', content: '', tool_calls: null },
      ),
    ],
    whole: togetherShape.whole({ content: TEXT, tool_calls: [] }, 'eos', togetherUsage, { prompt: [] }),
    said: { text: TEXT },
  },
];

/* docs.fireworks.ai: chat completions. */
const fireworksShape = chatShape({
  frame: { id: '8c1fw', created: 1_790_000_503, model: 'accounts/fireworks/models/test' },
});
const fireworksUsage = usageOf(52, 18, { prompt_tokens_details: { cached_tokens: 20 } });
const fireworksShared = {
  vendor: 'Fireworks',
  format: 'chat',
  provider: 'fireworks',
  tokens: { prompt: 52, cached: 20, completion: 18 },
} as const;

const fireworks: Recording[] = [
  {
    ...fireworksShared,
    kind: 'reasoning before a text',
    stream: [
      fireworksShape.chunk({ role: 'assistant' }),
      ...THOUGHT_PIECES.map((reasoning_content) => fireworksShape.chunk({ reasoning_content })),
      ...TEXT_PIECES.map((content) => fireworksShape.chunk({ content })),
      fireworksShape.end('stop', { usage: fireworksUsage }),
    ],
    whole: fireworksShape.whole({ content: TEXT, reasoning_content: THOUGHT }, 'stop', fireworksUsage),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...fireworksShared,
    kind: 'parallel calls',
    stream: [
      fireworksShape.chunk({ role: 'assistant' }),
      ...pieceDeltas('functions.weather:0', 'functions.weather:1').map((delta) =>
        fireworksShape.chunk(delta),
      ),
      fireworksShape.end('tool_calls', { usage: fireworksUsage }),
    ],
    whole: fireworksShape.whole(
      {
        content: null,
        tool_calls: [
          { index: 0, ...wholeCall('functions.weather:0', OSLO) },
          { index: 1, ...wholeCall('functions.weather:1', BERGEN) },
        ],
      },
      'tool_calls',
      fireworksUsage,
    ),
    said: { calls: bothCalls('functions.weather:0', 'functions.weather:1') },
  },
];

/* inference-docs.cerebras.ai: chat completions, reasoning. */
const cerebrasShape = chatShape({
  frame: {
    id: 'chatcmpl-Cb7',
    created: 1_790_000_504,
    model: 'test-oss-cerebras',
    system_fingerprint: 'fp_cb',
  },
  choice: {},
});
const cerebrasUsage = usageOf(69, 45, {
  image_tokens: 0,
  prompt_tokens_details: { cached_tokens: 32 },
  completion_tokens_details: { reasoning_tokens: 8 },
});
const timed = {
  time_info: {
    queue_time: 0.001,
    prompt_time: 0.006,
    completion_time: 0.014,
    total_time: 0.09,
    created: 1_790_000_504.28,
  },
};
const cerebrasShared = {
  vendor: 'Cerebras',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 69, cached: 32, completion: 45 },
} as const;

const cerebras: Recording[] = [
  {
    ...cerebrasShared,
    kind: 'reasoning before a text',
    stream: [
      cerebrasShape.chunk({ role: 'assistant' }),
      ...THOUGHT_PIECES.map((reasoning) => cerebrasShape.chunk({ reasoning })),
      ...TEXT_PIECES.map((content) => cerebrasShape.chunk({ content })),
      cerebrasShape.end('stop', { usage: cerebrasUsage, ...timed }),
    ],
    whole: cerebrasShape.whole({ content: TEXT, reasoning: THOUGHT }, 'stop', cerebrasUsage, timed),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...cerebrasShared,
    kind: 'parallel calls, each whole, in one chunk',
    stream: [
      cerebrasShape.chunk({ role: 'assistant' }),
      cerebrasShape.chunk({
        tool_calls: [
          { index: 0, ...wholeCall('7c0os', OSLO) },
          { index: 1, ...wholeCall('7c0be', BERGEN) },
        ],
      }),
      cerebrasShape.end('tool_calls', { usage: cerebrasUsage, ...timed }),
    ],
    whole: cerebrasShape.whole(
      { tool_calls: [wholeCall('7c0os', OSLO), wholeCall('7c0be', BERGEN)] },
      'tool_calls',
      cerebrasUsage,
      timed,
    ),
    said: { calls: bothCalls('7c0os', '7c0be') },
  },
];

/* developers.cloudflare.com: Workers AI, OpenAI compatible endpoints; the counters come a second time without their details. */
const cloudflareShape = chatShape({
  frame: { id: 'id-1790', created: 1_790_000_505, model: '@cf/test/model' },
  choice: { finish_reason: null, logprobs: null, matched_stop: null },
  wholeChoice: { logprobs: null },
});
const cloudflareUsage = usageOf(90, 12, { prompt_tokens_details: { cached_tokens: 64 } });

const cloudflare: Recording[] = [
  {
    vendor: 'Cloudflare',
    format: 'chat',
    provider: 'other',
    tokens: { prompt: 90, cached: 64, completion: 12 },
    kind: 'text, counted twice',
    stream: [
      cloudflareShape.chunk({ role: 'assistant', content: '', reasoning_content: null }),
      ...TEXT_PIECES.map((content) => cloudflareShape.chunk({ content, reasoning_content: null })),
      cloudflareShape.end('stop', { usage: cloudflareUsage }),
      cloudflareShape.end('stop', {
        usage: usageOf(90, 12, { prompt_tokens_details: { cached_tokens: 0 } }),
      }),
    ],
    whole: cloudflareShape.whole({ content: TEXT, refusal: null }, 'stop', cloudflareUsage),
    said: { text: TEXT },
  },
];

/* docs.siliconflow.com: chat completions; each chunk counts what came before it. */
const siliconShape = chatShape({
  frame: { id: '0199si', created: 1_790_000_506, model: 'test/SiliconFlow', system_fingerprint: '' },
});
const siliconUsage = (completion: number) =>
  usageOf(16, completion, { completion_tokens_details: { reasoning_tokens: Math.min(completion, 4) } });
const grown = (delta: object, completion: number) =>
  siliconShape.chunk(
    { content: null, reasoning_content: null, role: 'assistant', ...delta },
    { usage: siliconUsage(completion) },
  );

const siliconFlow: Recording[] = [
  {
    vendor: 'SiliconFlow',
    format: 'chat',
    provider: 'other',
    tokens: { prompt: 16, completion: 11 },
    kind: 'reasoning before a text, counted in every chunk',
    stream: [
      grown({ content: '' }, 0),
      ...THOUGHT_PIECES.map((reasoning_content, at) => grown({ reasoning_content }, 2 * at + 2)),
      ...TEXT_PIECES.map((content, at) => grown({ content }, 2 * at + 5)),
      siliconShape.end(
        'stop',
        { usage: siliconUsage(11) },
        { content: '', reasoning_content: null, role: 'assistant' },
      ),
    ],
    whole: siliconShape.whole({ content: TEXT, reasoning_content: THOUGHT }, 'stop', siliconUsage(11)),
    said: { reasoning: THOUGHT, text: TEXT },
  },
];

export const hosts: Recording[] = [
  ...groq,
  ...together,
  ...fireworks,
  ...cerebras,
  ...cloudflare,
  ...siliconFlow,
];
