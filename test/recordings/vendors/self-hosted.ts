import {
  BERGEN,
  bothCalls,
  OSLO,
  piecesOf,
  type Recording,
  TEXT,
  TEXT_PIECES,
  THOUGHT,
  THOUGHT_PIECES,
} from '../recording.ts';
import { chatShape, pieceDeltas, usageOf, wholeCall, wholeDeltas } from './chat-shape.ts';

/* Servers that an operator runs: Ollama, vLLM, SGLang, llama.cpp, TGI and LM Studio. */

/* ollama/ollama: openai/openai.go; all calls have the number 0 in their chunks, and the stream ends with `stop`. */
const ollamaShape = chatShape({
  frame: { id: 'chatcmpl-311', created: 1_790_000_701, model: 'test:8b', system_fingerprint: 'fp_ollama' },
});
const ollamaUsage = usageOf(28, 31);
const ollamaShared = {
  vendor: 'Ollama',
  format: 'chat',
  provider: 'ollama',
  tokens: { prompt: 28, completion: 31 },
} as const;
const ollamaThought = THOUGHT_PIECES.map((reasoning) =>
  ollamaShape.chunk({ role: 'assistant', content: '', reasoning }),
);

const ollama: Recording[] = [
  {
    ...ollamaShared,
    kind: 'reasoning before a text',
    stream: [
      ...ollamaThought,
      ...TEXT_PIECES.map((content) => ollamaShape.chunk({ role: 'assistant', content })),
      ollamaShape.end('stop', {}, { role: 'assistant', content: '' }),
      ollamaShape.counted(ollamaUsage),
    ],
    whole: ollamaShape.whole({ content: TEXT, reasoning: THOUGHT }, 'stop', ollamaUsage),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...ollamaShared,
    kind: 'parallel calls under one number',
    stream: [
      ...ollamaThought,
      ollamaShape.chunk({
        role: 'assistant',
        content: '',
        tool_calls: [{ index: 0, ...wholeCall('call_5dos', OSLO) }],
      }),
      ollamaShape.chunk({
        role: 'assistant',
        content: '',
        tool_calls: [{ index: 0, ...wholeCall('call_5dbe', BERGEN) }],
      }),
      ollamaShape.end('tool_calls', {}, { role: 'assistant', content: '' }),
      ollamaShape.counted(ollamaUsage),
    ],
    whole: ollamaShape.whole(
      {
        content: '',
        reasoning: THOUGHT,
        tool_calls: [
          { index: 0, ...wholeCall('call_5dos', OSLO) },
          { index: 1, ...wholeCall('call_5dbe', BERGEN) },
        ],
      },
      'tool_calls',
      ollamaUsage,
    ),
    said: { reasoning: THOUGHT, calls: bothCalls('call_5dos', 'call_5dbe') },
  },
  {
    ...ollamaShared,
    kind: 'cut text',
    stream: [
      ollamaShape.chunk({ role: 'assistant', content: 'Rain by' }),
      ollamaShape.end('length', {}, { role: 'assistant', content: '' }),
      ollamaShape.counted(ollamaUsage),
    ],
    whole: ollamaShape.whole({ content: 'Rain by' }, 'length', ollamaUsage),
    said: { text: 'Rain by', end: 'length' },
  },
];

/* vllm-project/vllm: entrypoints/openai/chat_completion/protocol.py. */
const vllmShape = chatShape({
  frame: { id: 'chatcmpl-Vl6', created: 1_790_000_702, model: 'test/vllm' },
  choice: { logprobs: null, finish_reason: null, token_ids: null },
  wholeChoice: { logprobs: null, stop_reason: null, token_ids: null },
});
const vllmUsage = usageOf(377, 38, { prompt_tokens_details: null });
const vllmFirst = { prompt_token_ids: null };
const vllmWhole = {
  service_tier: null,
  system_fingerprint: 'vllm-0.1',
  prompt_logprobs: null,
  prompt_token_ids: null,
  kv_transfer_params: null,
};
const vllmMessage = {
  content: null,
  refusal: null,
  annotations: null,
  audio: null,
  function_call: null,
  tool_calls: [],
  reasoning: null,
  reasoning_content: null,
};
const vllmShared = {
  vendor: 'vLLM',
  format: 'chat',
  provider: 'vllm',
  tokens: { prompt: 377, completion: 38 },
} as const;
const vllmBegin = vllmShape.chunk({ role: 'assistant', content: '' }, vllmFirst);
const vllmThought = THOUGHT_PIECES.map((piece) =>
  vllmShape.chunk({ reasoning: piece, reasoning_content: piece }),
);

const vllm: Recording[] = [
  {
    ...vllmShared,
    kind: 'reasoning under two names before a text',
    stream: [
      vllmBegin,
      ...vllmThought,
      ...TEXT_PIECES.map((content) => vllmShape.chunk({ content })),
      vllmShape.chunk({ content: '' }, {}, { finish_reason: 'stop', stop_reason: null }),
      vllmShape.counted(vllmUsage),
    ],
    whole: vllmShape.whole(
      { ...vllmMessage, content: TEXT, reasoning: THOUGHT, reasoning_content: THOUGHT },
      'stop',
      vllmUsage,
      vllmWhole,
    ),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...vllmShared,
    kind: 'parallel calls',
    stream: [
      vllmBegin,
      ...pieceDeltas('chatcmpl-tool-vos', 'chatcmpl-tool-vbe').map((delta) => vllmShape.chunk(delta)),
      vllmShape.chunk({}, {}, { finish_reason: 'tool_calls', stop_reason: 151_645 }),
      vllmShape.counted(vllmUsage),
    ],
    whole: vllmShape.whole(
      {
        ...vllmMessage,
        tool_calls: [wholeCall('chatcmpl-tool-vos', OSLO), wholeCall('chatcmpl-tool-vbe', BERGEN)],
      },
      'tool_calls',
      vllmUsage,
      vllmWhole,
    ),
    said: { calls: bothCalls('chatcmpl-tool-vos', 'chatcmpl-tool-vbe') },
  },
  {
    ...vllmShared,
    kind: 'cut call',
    stream: [
      vllmBegin,
      ...pieceDeltas('chatcmpl-tool-vos', '')
        .slice(0, 2)
        .map((delta) => vllmShape.chunk(delta)),
      vllmShape.chunk({}, {}, { finish_reason: 'length', stop_reason: null }),
      vllmShape.counted(vllmUsage),
    ],
    whole: vllmShape.whole(
      { ...vllmMessage, tool_calls: [wholeCall('chatcmpl-tool-vos', piecesOf(OSLO)[0] ?? '')] },
      'length',
      vllmUsage,
      vllmWhole,
    ),
    said: {
      calls: [{ id: 'chatcmpl-tool-vos', name: 'weather', input: piecesOf(OSLO)[0] ?? '', wholePart: {} }],
      end: 'length',
    },
  },
];

/* sgl-project/sglang: entrypoints/openai/protocol.py. */
const sglangShape = chatShape({
  frame: { id: '669dsg', created: 1_790_000_703, model: 'test/sglang' },
  choice: { logprobs: null, finish_reason: null, matched_stop: null },
  wholeChoice: { logprobs: null, matched_stop: 2 },
  chunkFrame: { usage: null },
});
const sglangUsage = usageOf(75, 24, { prompt_tokens_details: null, reasoning_tokens: 10 });
const sglangShared = {
  vendor: 'SGLang',
  format: 'chat',
  provider: 'sglang',
  tokens: { prompt: 75, completion: 24 },
} as const;
const nulls = { role: null, content: null, reasoning_content: null, tool_calls: null };
const sglangCall = (index: number, id: string | null, name: string | null, json: string) =>
  sglangShape.chunk({
    ...nulls,
    tool_calls: [{ id, index, type: 'function', function: { name, arguments: json } }],
  });

const sglang: Recording[] = [
  {
    ...sglangShared,
    kind: 'reasoning before a text',
    stream: [
      sglangShape.chunk({ ...nulls, role: 'assistant', content: '' }),
      ...THOUGHT_PIECES.map((reasoning_content) => sglangShape.chunk({ ...nulls, reasoning_content })),
      ...TEXT_PIECES.map((content) => sglangShape.chunk({ ...nulls, content })),
      sglangShape.chunk(nulls, {}, { finish_reason: 'stop', matched_stop: 2 }),
      sglangShape.counted(sglangUsage),
    ],
    whole: sglangShape.whole(
      { content: TEXT, reasoning_content: THOUGHT, tool_calls: null },
      'stop',
      sglangUsage,
      { metadata: { weight_version: 'default' } },
    ),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...sglangShared,
    kind: 'parallel calls, whose later pieces have no id and a null for a name',
    stream: [
      sglangShape.chunk({ ...nulls, role: 'assistant', content: '' }),
      ...[OSLO, BERGEN].flatMap((json, index) => [
        sglangCall(index, `call_sg${index}`, 'weather', ''),
        ...piecesOf(json).map((piece) => sglangCall(index, null, null, piece)),
      ]),
      sglangShape.chunk(nulls, {}, { finish_reason: 'tool_calls', matched_stop: null }),
      sglangShape.counted(sglangUsage),
    ],
    whole: sglangShape.whole(
      {
        content: null,
        reasoning_content: null,
        tool_calls: [
          { index: 0, ...wholeCall('call_sg0', OSLO) },
          { index: 1, ...wholeCall('call_sg1', BERGEN) },
        ],
      },
      'tool_calls',
      sglangUsage,
      { metadata: { weight_version: 'default' } },
    ),
    said: { calls: bothCalls('call_sg0', 'call_sg1') },
  },
];

/* ggml-org/llama.cpp: tools/server. */
const llamaShape = chatShape({
  frame: { id: 'chatcmpl-Ll3', created: 1_790_000_704, model: 'test.gguf', system_fingerprint: 'b7001' },
});
const llamaUsage = usageOf(17, 20, { prompt_tokens_details: { cached_tokens: 0 } });
const timings = {
  timings: {
    cache_n: 0,
    prompt_n: 17,
    prompt_ms: 80.1,
    prompt_per_token_ms: 4.7,
    prompt_per_second: 212.2,
    predicted_n: 20,
    predicted_ms: 400.5,
    predicted_per_token_ms: 20.1,
    predicted_per_second: 49.9,
  },
};
const llamaShared = {
  vendor: 'llama.cpp',
  format: 'chat',
  provider: 'self-hosted',
  tokens: { prompt: 17, completion: 20 },
} as const;
const llamaFirst = llamaShape.chunk({ role: 'assistant', content: null });

const llama: Recording[] = [
  {
    ...llamaShared,
    kind: 'reasoning before a text',
    stream: [
      llamaFirst,
      ...THOUGHT_PIECES.map((reasoning_content) => llamaShape.chunk({ reasoning_content })),
      ...TEXT_PIECES.map((content) => llamaShape.chunk({ content })),
      llamaShape.end('stop'),
      llamaShape.counted(llamaUsage, timings),
    ],
    whole: llamaShape.whole({ content: TEXT, reasoning_content: THOUGHT }, 'stop', llamaUsage, timings),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...llamaShared,
    kind: 'parallel calls',
    stream: [
      llamaFirst,
      ...pieceDeltas('Xk9os', 'Xk9be').map((delta) => llamaShape.chunk(delta)),
      llamaShape.end('tool_calls'),
      llamaShape.counted(llamaUsage, timings),
    ],
    whole: llamaShape.whole(
      { content: null, tool_calls: [wholeCall('Xk9os', OSLO), wholeCall('Xk9be', BERGEN)] },
      'tool_calls',
      llamaUsage,
      timings,
    ),
    said: { calls: bothCalls('Xk9os', 'Xk9be') },
  },
];

/* huggingface/text-generation-inference: router; older ones send a call as an object, and all of them number it from 0. */
const tgiShape = chatShape({
  frame: { id: '', created: 1_790_000_705, model: 'test/tgi', system_fingerprint: '3.3-native' },
  choice: { logprobs: null, finish_reason: null },
  wholeChoice: { logprobs: null },
});
const tgiUsage = usageOf(15, 10);
const tgiShared = {
  vendor: 'TGI',
  format: 'chat',
  provider: 'self-hosted',
  tokens: { prompt: 15, completion: 10 },
} as const;
const oneCall = [{ name: 'weather', input: { town: 'Oslo' } }];

const tgi: Recording[] = [
  {
    ...tgiShared,
    kind: 'text without an id',
    stream: [
      ...TEXT_PIECES.map((content) => tgiShape.chunk({ role: 'assistant', content })),
      tgiShape.end('stop', {}, { role: 'assistant', content: '' }),
      tgiShape.counted(tgiUsage),
    ],
    whole: tgiShape.whole({ content: TEXT }, 'stop', tgiUsage),
    said: { text: TEXT },
  },
  {
    ...tgiShared,
    kind: 'a call in the place of a list of calls',
    stream: [
      ...piecesOf(OSLO).map((piece, at) =>
        tgiShape.chunk({
          role: 'assistant',
          tool_calls: {
            index: 0,
            id: '',
            type: 'function',
            function: { name: at === 0 ? 'weather' : null, arguments: piece },
          },
        }),
      ),
      tgiShape.end('stop', {}, { role: 'assistant', content: '' }),
      tgiShape.counted(tgiUsage),
    ],
    whole: tgiShape.whole(
      {
        tool_calls: [
          {
            id: '0',
            type: 'function',
            function: { description: null, name: 'weather', arguments: { town: 'Oslo' } },
          },
        ],
      },
      'stop',
      tgiUsage,
    ),
    said: { calls: oneCall },
  },
];

/* lmstudio.ai/docs: OpenAI compatibility. */
const lmShape = chatShape({
  frame: { id: 'chatcmpl-Lm0', created: 1_790_000_706, model: 'test-lm', system_fingerprint: 'test-lm' },
  choice: { logprobs: null, finish_reason: null },
  wholeChoice: { logprobs: null },
});
const lmUsage = usageOf(20, 16, { completion_tokens_details: { reasoning_tokens: 6 } });
const lmShared = {
  vendor: 'LM Studio',
  format: 'chat',
  provider: 'self-hosted',
  tokens: { prompt: 20, completion: 16 },
} as const;

const lmStudio: Recording[] = [
  {
    ...lmShared,
    kind: 'reasoning before a text',
    stream: [
      ...THOUGHT_PIECES.map((reasoning) => lmShape.chunk({ role: 'assistant', reasoning })),
      ...TEXT_PIECES.map((content) => lmShape.chunk({ role: 'assistant', content })),
      lmShape.end('stop'),
      lmShape.counted(lmUsage),
    ],
    whole: lmShape.whole({ content: TEXT, reasoning: THOUGHT, tool_calls: [] }, 'stop', lmUsage, {
      stats: {},
    }),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...lmShared,
    kind: 'parallel calls, whose ids are numbers',
    stream: [
      ...wholeDeltas('349001', '349002').map((delta) => lmShape.chunk({ role: 'assistant', ...delta })),
      lmShape.end('tool_calls'),
      lmShape.counted(lmUsage),
    ],
    whole: lmShape.whole(
      { content: '', tool_calls: [wholeCall('349001', OSLO), wholeCall('349002', BERGEN)] },
      'tool_calls',
      lmUsage,
      { stats: {} },
    ),
    said: { calls: bothCalls('349001', '349002') },
  },
];

export const selfHosted: Recording[] = [...ollama, ...vllm, ...sglang, ...llama, ...tgi, ...lmStudio];
