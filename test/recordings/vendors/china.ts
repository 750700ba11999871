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

/* Moonshot, Z.ai, Alibaba, MiniMax, StepFun, Tencent and ByteDance, each at its own address. */

/* platform.kimi.ai: chat completions, thinking models; the counters stand in the choice that ends. */
const moonshotShape = chatShape({
  frame: { id: 'chatcmpl-Ki4', created: 1_790_000_601, model: 'kimi-test-k3', system_fingerprint: 'fpv0_ki' },
});
const moonshotUsage = usageOf(80, 29, { cached_tokens: 30 });
const moonshotShared = {
  vendor: 'Moonshot',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 80, cached: 30, completion: 29 },
} as const;
const moonshotEnd = (reason: string) =>
  moonshotShape.chunk({}, {}, { finish_reason: reason, usage: moonshotUsage });
const moonshotThought = [
  moonshotShape.chunk({ role: 'assistant', content: '' }),
  ...THOUGHT_PIECES.map((reasoning_content) => moonshotShape.chunk({ reasoning_content })),
];

const moonshot: Recording[] = [
  {
    ...moonshotShared,
    kind: 'reasoning before a text',
    stream: [
      ...moonshotThought,
      ...TEXT_PIECES.map((content) => moonshotShape.chunk({ content })),
      moonshotEnd('stop'),
    ],
    whole: moonshotShape.whole({ content: TEXT, reasoning_content: THOUGHT }, 'stop', moonshotUsage),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...moonshotShared,
    kind: 'reasoning before parallel calls, whose ids are names and numbers',
    stream: [
      ...moonshotThought,
      ...pieceDeltas('weather:0', 'weather:1').map((delta) => moonshotShape.chunk(delta)),
      moonshotEnd('tool_calls'),
    ],
    whole: moonshotShape.whole(
      {
        content: '',
        reasoning_content: THOUGHT,
        tool_calls: [
          { index: 0, ...wholeCall('weather:0', OSLO) },
          { index: 1, ...wholeCall('weather:1', BERGEN) },
        ],
      },
      'tool_calls',
      moonshotUsage,
    ),
    said: { reasoning: THOUGHT, calls: bothCalls('weather:0', 'weather:1') },
  },
  {
    ...moonshotShared,
    kind: 'cut text',
    stream: [
      moonshotShape.chunk({ role: 'assistant', content: '' }),
      moonshotShape.chunk({ content: 'Rain by' }),
      moonshotEnd('length'),
    ],
    whole: moonshotShape.whole({ content: 'Rain by' }, 'length', moonshotUsage),
    said: { text: 'Rain by', end: 'length' },
  },
];

/* docs.z.ai: chat completion, thinking mode, streamed tool calls. */
const glmShape = chatShape({
  frame: { id: '2026gl', request_id: '2026gl', created: 1_790_000_602, model: 'glm-test-5' },
  choice: {},
});
const glmUsage = usageOf(61, 23, {
  prompt_tokens_details: { cached_tokens: 40 },
  completion_tokens_details: { reasoning_tokens: 7 },
});
const glmShared = {
  vendor: 'Z.ai',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 61, cached: 40, completion: 23 },
} as const;
const glmThought = THOUGHT_PIECES.map((reasoning_content) =>
  glmShape.chunk({ role: 'assistant', reasoning_content }),
);

const glm: Recording[] = [
  {
    ...glmShared,
    kind: 'reasoning before a text',
    stream: [
      ...glmThought,
      ...TEXT_PIECES.map((content) => glmShape.chunk({ role: 'assistant', content })),
      glmShape.end('stop', { usage: glmUsage }, { role: 'assistant', content: '' }),
    ],
    whole: glmShape.whole({ content: TEXT, reasoning_content: THOUGHT }, 'stop', glmUsage),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...glmShared,
    kind: 'parallel calls, each whole',
    stream: [
      ...glmThought,
      ...wholeDeltas('call_-81os', 'call_-81be').map((delta) =>
        glmShape.chunk({ role: 'assistant', ...delta }),
      ),
      glmShape.end('tool_calls', { usage: glmUsage }, { role: 'assistant', content: '' }),
    ],
    whole: glmShape.whole(
      {
        content: '',
        reasoning_content: THOUGHT,
        tool_calls: [
          { index: 0, ...wholeCall('call_-81os', OSLO) },
          { index: 1, ...wholeCall('call_-81be', BERGEN) },
        ],
      },
      'tool_calls',
      glmUsage,
    ),
    said: { reasoning: THOUGHT, calls: bothCalls('call_-81os', 'call_-81be') },
  },
  {
    ...glmShared,
    kind: 'answer that its safety check cut',
    stream: [
      glmShape.chunk({ role: 'assistant', content: 'Rain' }),
      glmShape.end('sensitive', { usage: glmUsage }, { role: 'assistant', content: '' }),
    ],
    whole: glmShape.whole({ content: 'Rain' }, 'sensitive', glmUsage),
    said: { text: 'Rain', end: 'content_filter' },
  },
];

/* alibabacloud.com/help: Model Studio, OpenAI compatible; later pieces of a call have an empty id. */
const qwenShape = chatShape({
  frame: { id: 'chatcmpl-Qw8', created: 1_790_000_603, model: 'qwen-test-max', system_fingerprint: null },
  choice: { finish_reason: null, logprobs: null },
  wholeChoice: { logprobs: null },
  chunkFrame: { usage: null },
});
const qwenUsage = usageOf(295, 22, { prompt_tokens_details: { cached_tokens: 0 } });
const qwenShared = {
  vendor: 'Alibaba',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 295, completion: 22 },
} as const;
const qwenThought = [
  qwenShape.chunk({ content: null, role: 'assistant', reasoning_content: '' }),
  ...THOUGHT_PIECES.map((reasoning_content) => qwenShape.chunk({ content: null, reasoning_content })),
];
const qwenCall = (index: number, id: string, json: string) => [
  qwenShape.chunk({
    content: null,
    tool_calls: [{ index, id, type: 'function', function: { name: 'weather', arguments: '' } }],
  }),
  ...piecesOf(json).map((piece) =>
    qwenShape.chunk({
      content: null,
      tool_calls: [{ index, id: '', type: 'function', function: { arguments: piece } }],
    }),
  ),
  {
    ...qwenShape.chunk({}),
    choices: [
      { delta: { tool_calls: [{ function: { arguments: '' }, index, id: '', type: 'function' }] }, index: 0 },
    ],
  },
];

const qwen: Recording[] = [
  {
    ...qwenShared,
    kind: 'reasoning before a text',
    stream: [
      ...qwenThought,
      ...TEXT_PIECES.map((content) => qwenShape.chunk({ content, reasoning_content: null })),
      qwenShape.end('stop', {}, { content: '', reasoning_content: null }),
      qwenShape.counted(qwenUsage),
    ],
    whole: qwenShape.whole({ content: TEXT, reasoning_content: THOUGHT }, 'stop', qwenUsage),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...qwenShared,
    kind: 'parallel calls, whose later pieces have an empty id',
    stream: [
      ...qwenThought,
      ...qwenCall(0, 'call_eee1', OSLO),
      ...qwenCall(1, 'call_eee2', BERGEN),
      qwenShape.end('tool_calls'),
      qwenShape.counted(qwenUsage),
    ],
    whole: qwenShape.whole(
      {
        content: '',
        reasoning_content: THOUGHT,
        tool_calls: [
          { index: 0, ...wholeCall('call_eee1', OSLO) },
          { index: 1, ...wholeCall('call_eee2', BERGEN) },
        ],
      },
      'tool_calls',
      qwenUsage,
    ),
    said: { reasoning: THOUGHT, calls: bothCalls('call_eee1', 'call_eee2') },
  },
];

/* platform.minimax.io: OpenAI compatible API; its last chunk is the whole answer once more. */
const flags = {
  input_sensitive: false,
  output_sensitive: false,
  input_sensitive_type: 0,
  output_sensitive_type: 0,
  output_sensitive_int: 0,
};
const named = { role: 'assistant', name: 'MiniMax AI', audio_content: '' };
const minimaxShape = chatShape({
  frame: { id: '0609mm', created: 1_790_000_604, model: 'MiniMax-Test', ...flags },
  choice: {},
});
const minimaxUsage = {
  total_tokens: 87,
  total_characters: 0,
  prompt_tokens: 44,
  completion_tokens: 43,
  completion_tokens_details: { reasoning_tokens: 20 },
};
const minimaxDetail = (text: string) => ({
  type: 'reasoning.text',
  id: 'reasoning-text-1',
  format: 'MiniMax-response-v1',
  index: 0,
  text,
});
const minimaxShared = {
  vendor: 'MiniMax',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 44, completion: 43 },
} as const;
const approved = { base_resp: { status_code: 0, status_msg: '' } };
const minimaxMessage = {
  ...named,
  content: TEXT,
  reasoning_content: THOUGHT,
  reasoning_details: [minimaxDetail(THOUGHT)],
};
const minimaxCalls = {
  ...minimaxMessage,
  content: '',
  tool_calls: [
    { index: 0, ...wholeCall('call_mmos', OSLO) },
    { index: 1, ...wholeCall('call_mmbe', BERGEN) },
  ],
};
const minimaxThought = THOUGHT_PIECES.map((piece) =>
  minimaxShape.chunk(
    { ...named, content: '', reasoning_content: piece, reasoning_details: [minimaxDetail(piece)] },
    { usage: null },
  ),
);
const minimaxTexts = TEXT_PIECES.map((content) => minimaxShape.chunk({ ...named, content }, { usage: null }));

const minimax: Recording[] = [
  {
    ...minimaxShared,
    kind: 'reasoning in two places before a text',
    stream: [
      ...minimaxThought,
      ...minimaxTexts,
      minimaxShape.end('stop', { usage: null }, { ...named, content: '' }),
      minimaxShape.counted(minimaxUsage),
    ],
    whole: minimaxShape.whole(minimaxMessage, 'stop', minimaxUsage, approved),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...minimaxShared,
    kind: 'reasoning before a text, and the whole message in the last chunk',
    stream: [
      ...minimaxThought,
      ...minimaxTexts,
      minimaxShape.end('stop', { usage: null }, { ...named, content: '' }),
      minimaxShape.whole(minimaxMessage, 'stop', minimaxUsage, approved),
    ],
    whole: minimaxShape.whole(minimaxMessage, 'stop', minimaxUsage, approved),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...minimaxShared,
    kind: 'parallel calls',
    stream: [
      ...minimaxThought,
      minimaxShape.chunk({
        ...named,
        content: '',
        tool_calls: wholeDeltas('call_mmos', 'call_mmbe').flatMap((delta) => Object.values(delta).flat()),
      }),
      minimaxShape.end('tool_calls', {}, { ...named, content: '' }),
      minimaxShape.counted(minimaxUsage),
    ],
    whole: minimaxShape.whole(minimaxCalls, 'tool_calls', minimaxUsage, approved),
    said: { reasoning: THOUGHT, calls: bothCalls('call_mmos', 'call_mmbe') },
  },
  {
    ...minimaxShared,
    kind: 'parallel calls, and the whole message in the last chunk',
    stream: [
      ...minimaxThought,
      ...wholeDeltas('call_mmos', 'call_mmbe').map((delta) =>
        minimaxShape.chunk({ ...named, content: '', ...delta }, { usage: null }),
      ),
      minimaxShape.whole(minimaxCalls, 'tool_calls', minimaxUsage, approved),
    ],
    whole: minimaxShape.whole(minimaxCalls, 'tool_calls', minimaxUsage, approved),
    said: { reasoning: THOUGHT, calls: bothCalls('call_mmos', 'call_mmbe') },
  },
];

/* platform.stepfun.com: chat completion. */
const stepShape = chatShape({
  frame: { id: 'st-1', created: 1_790_000_605, model: 'step-test-3' },
  choice: { finish_reason: '' },
});
const stepUsage = usageOf(26, 14, { cached_tokens: 0 });
const stepShared = {
  vendor: 'StepFun',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 26, completion: 14 },
} as const;

const stepfun: Recording[] = [
  {
    ...stepShared,
    kind: 'reasoning before a text, with an empty reason until its end',
    stream: [
      stepShape.chunk({ role: 'assistant', content: '', reasoning: '' }),
      ...THOUGHT_PIECES.map((reasoning) => stepShape.chunk({ role: '', content: '', reasoning })),
      ...TEXT_PIECES.map((content) => stepShape.chunk({ role: '', content })),
      stepShape.end('stop', { usage: stepUsage }, { role: '', content: '' }),
    ],
    whole: stepShape.whole({ content: TEXT, reasoning: THOUGHT }, 'stop', stepUsage),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...stepShared,
    kind: 'parallel calls',
    stream: [
      stepShape.chunk({ role: 'assistant', content: '' }),
      ...pieceDeltas('call_sos', 'call_sbe').map((delta) =>
        stepShape.chunk({ role: '', content: '', ...delta }),
      ),
      stepShape.end('tool_calls', { usage: stepUsage }, { role: '', content: '' }),
    ],
    whole: stepShape.whole(
      {
        content: '',
        tool_calls: [
          { index: 0, ...wholeCall('call_sos', OSLO) },
          { index: 1, ...wholeCall('call_sbe', BERGEN) },
        ],
      },
      'tool_calls',
      stepUsage,
    ),
    said: { calls: bothCalls('call_sos', 'call_sbe') },
  },
];

/* cloud.tencent.com: Hunyuan, OpenAI compatible interface. */
const hunyuanShape = chatShape({
  frame: {
    id: 'f9hy',
    created: 1_790_000_606,
    model: 'hunyuan-test',
    system_fingerprint: '',
    note: 'AI generated.',
  },
  choice: { finish_reason: '' },
});
const hunyuanUsage = usageOf(9, 12);
const hunyuanShared = {
  vendor: 'Tencent',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 9, completion: 12 },
} as const;
const counting = (completion: number) => ({ usage: usageOf(9, completion) });

const hunyuan: Recording[] = [
  {
    ...hunyuanShared,
    kind: 'reasoning before a text, counted in every chunk',
    stream: [
      ...THOUGHT_PIECES.map((reasoning_content, at) =>
        hunyuanShape.chunk({ role: 'assistant', content: '', reasoning_content }, counting(at + 1)),
      ),
      ...TEXT_PIECES.map((content, at) =>
        hunyuanShape.chunk({ role: 'assistant', content }, counting(at + 3)),
      ),
      hunyuanShape.end('stop', { usage: hunyuanUsage }, { role: 'assistant', content: '' }),
    ],
    whole: hunyuanShape.whole({ content: TEXT, reasoning_content: THOUGHT }, 'stop', hunyuanUsage),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...hunyuanShared,
    kind: 'parallel calls, whose pieces repeat id and name',
    stream: [
      ...[OSLO, BERGEN].flatMap((json, index) =>
        piecesOf(json).map((piece) =>
          hunyuanShape.chunk(
            {
              role: 'assistant',
              content: '',
              tool_calls: [
                {
                  index,
                  id: `call_hy${index}`,
                  type: 'function',
                  function: { name: 'weather', arguments: piece },
                },
              ],
            },
            counting(index + 1),
          ),
        ),
      ),
      hunyuanShape.end('tool_calls', { usage: hunyuanUsage }, { role: 'assistant', content: '' }),
    ],
    whole: hunyuanShape.whole(
      { content: '', tool_calls: [wholeCall('call_hy0', OSLO), wholeCall('call_hy1', BERGEN)] },
      'tool_calls',
      hunyuanUsage,
    ),
    said: { calls: bothCalls('call_hy0', 'call_hy1') },
  },
];

/* volcengine.com/docs: Ark, chat. */
const doubaoShape = chatShape({
  frame: { id: '0217db', created: 1_790_000_607, model: 'doubao-test', service_tier: 'default' },
  choice: { finish_reason: null, logprobs: null },
  wholeChoice: { logprobs: null },
  chunkFrame: { usage: null },
});
const doubaoUsage = usageOf(35, 19, {
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 9 },
});

const doubao: Recording[] = [
  {
    vendor: 'ByteDance',
    format: 'chat',
    provider: 'other',
    tokens: { prompt: 35, completion: 19 },
    kind: 'reasoning before parallel calls',
    stream: [
      ...THOUGHT_PIECES.map((reasoning_content) =>
        doubaoShape.chunk({ content: '', reasoning_content, role: 'assistant' }),
      ),
      ...pieceDeltas('call_dos', 'call_dbe').map((delta) =>
        doubaoShape.chunk({ content: '', role: 'assistant', ...delta }),
      ),
      doubaoShape.end('tool_calls', {}, { content: '', role: 'assistant' }),
      doubaoShape.counted(doubaoUsage),
    ],
    whole: doubaoShape.whole(
      {
        content: '',
        reasoning_content: THOUGHT,
        tool_calls: [wholeCall('call_dos', OSLO), wholeCall('call_dbe', BERGEN)],
      },
      'tool_calls',
      doubaoUsage,
    ),
    said: { reasoning: THOUGHT, calls: bothCalls('call_dos', 'call_dbe') },
  },
];

export const china: Recording[] = [
  ...moonshot,
  ...glm,
  ...qwen,
  ...minimax,
  ...stepfun,
  ...hunyuan,
  ...doubao,
];
