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

/* LiteLLM, OpenRouter and GitHub, which pass on the models of others. */

/* docs.litellm.ai: reasoning content, streaming. */
const liteShape = chatShape({
  frame: { id: 'chatcmpl-Li2', created: 1_790_000_801, model: 'claude-test-lite' },
  choice: {},
  wholeChoice: { provider_specific_fields: {} },
});
const liteUsage = usageOf(58, 26, {
  completion_tokens_details: { reasoning_tokens: 9, text_tokens: 17 },
  prompt_tokens_details: { cached_tokens: 10, cache_creation_tokens: 20 },
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 10,
});
const liteShared = {
  vendor: 'LiteLLM',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 58, cached: 10, written: 20, completion: 26 },
} as const;
const liteBlock = (thinking: string, signature: string) => ({ type: 'thinking', thinking, signature });
const liteThought = [
  ...THOUGHT_PIECES.map((piece, at) =>
    liteShape.chunk({
      ...(at === 0 ? { role: 'assistant' } : {}),
      content: '',
      reasoning_content: piece,
      thinking_blocks: [liteBlock(piece, '')],
      provider_specific_fields: { thinking_blocks: [liteBlock(piece, '')] },
    }),
  ),
  liteShape.chunk({
    content: '',
    reasoning_content: '',
    thinking_blocks: [liteBlock('', 'LiSig+/==')],
    provider_specific_fields: { thinking_blocks: [liteBlock('', 'LiSig+/==')] },
  }),
];
const liteFields = { thinking_blocks: [liteBlock(THOUGHT, 'LiSig+/==')] };

const litellm: Recording[] = [
  {
    ...liteShared,
    kind: 'reasoning of Claude before a text',
    stream: [
      ...liteThought,
      ...TEXT_PIECES.map((content) => liteShape.chunk({ content })),
      liteShape.end('stop'),
      liteShape.counted(liteUsage),
    ],
    whole: liteShape.whole(
      {
        content: TEXT,
        tool_calls: null,
        function_call: null,
        reasoning_content: THOUGHT,
        ...liteFields,
        provider_specific_fields: liteFields,
      },
      'stop',
      liteUsage,
    ),
    said: { reasoning: THOUGHT, text: TEXT, signatures: ['LiSig+/=='] },
  },
  {
    ...liteShared,
    kind: 'reasoning of Claude before parallel calls',
    stream: [
      ...liteThought,
      ...pieceDeltas('toolu_los', 'toolu_lbe').map((delta) => liteShape.chunk(delta)),
      liteShape.end('tool_calls'),
      liteShape.counted(liteUsage),
    ],
    whole: liteShape.whole(
      {
        content: null,
        tool_calls: [
          { index: 0, ...wholeCall('toolu_los', OSLO) },
          { index: 1, ...wholeCall('toolu_lbe', BERGEN) },
        ],
        function_call: null,
        reasoning_content: THOUGHT,
        ...liteFields,
        provider_specific_fields: liteFields,
      },
      'tool_calls',
      liteUsage,
    ),
    said: {
      reasoning: THOUGHT,
      calls: bothCalls('toolu_los', 'toolu_lbe'),
      signatures: ['LiSig+/=='],
    },
  },
];

/* openrouter.ai/docs: streaming, reasoning tokens, usage accounting. */
const routerShape = chatShape({
  frame: { id: 'gen-1790', provider: 'Acme', model: 'acme/test', created: 1_790_000_802 },
  choice: { finish_reason: null, native_finish_reason: null, logprobs: null },
  wholeChoice: { logprobs: null, native_finish_reason: 'stop' },
});
const routerUsage = usageOf(36, 27, {
  cost: 0.000016767,
  is_byok: false,
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, audio_tokens: 0, video_tokens: 0 },
  cost_details: {
    upstream_inference_cost: 0.0002,
    upstream_inference_prompt_cost: 0.0001,
    upstream_inference_completions_cost: 0.0001,
  },
  completion_tokens_details: { reasoning_tokens: 8, image_tokens: 0, audio_tokens: 0 },
});
const routerShared = {
  vendor: 'OpenRouter',
  format: 'chat',
  provider: 'openrouter',
  tokens: { prompt: 36, completion: 27 },
} as const;
const last = { ...routerShape.chunk({ role: 'assistant', content: '' }), usage: routerUsage };
const claudeDetail = (members: object) => ({
  type: 'reasoning.text',
  ...members,
  format: 'anthropic-claude-v1',
  index: 0,
});
const said = (content: string, more: object = {}) =>
  routerShape.chunk({ role: 'assistant', content, ...more });
const claudeThought = [
  ...THOUGHT_PIECES.map((text) => said('', { reasoning: text, reasoning_details: [claudeDetail({ text })] })),
  said('', { reasoning: null, reasoning_details: [claudeDetail({ signature: 'OrSig+/==' })] }),
];
const claudeWhole = {
  reasoning: THOUGHT,
  reasoning_details: [claudeDetail({ text: THOUGHT, signature: 'OrSig+/==' })],
};
const geminiDetails = [
  { type: 'reasoning.text', text: THOUGHT, format: 'google-gemini-v1', index: 0 },
  { type: 'reasoning.encrypted', data: 'OrGem/Data==', id: 'tool_os', format: 'google-gemini-v1', index: 0 },
];
const openaiDetails = [
  { type: 'reasoning.summary', summary: THOUGHT, format: 'openai-responses-v1', index: 0 },
  { type: 'reasoning.encrypted', data: 'gAAAOr==', id: 'rs_or', format: 'openai-responses-v1', index: 0 },
];

const openrouter: Recording[] = [
  {
    ...routerShared,
    kind: 'signed reasoning of Claude before a text',
    stream: [
      ...claudeThought,
      ...TEXT_PIECES.map((content) => said(content)),
      routerShape.chunk(
        { role: 'assistant', content: '' },
        {},
        { finish_reason: 'stop', native_finish_reason: 'end_turn' },
      ),
      last,
    ],
    whole: routerShape.whole({ content: TEXT, refusal: null, ...claudeWhole }, 'stop', routerUsage),
    said: { reasoning: THOUGHT, text: TEXT, signatures: ['OrSig+/=='], signedBy: 'Anthropic' },
  },
  {
    ...routerShared,
    kind: 'signed reasoning of Claude before parallel calls',
    stream: [
      ...claudeThought,
      ...pieceDeltas('toolu_oos', 'toolu_obe').map((delta) =>
        routerShape.chunk({ role: 'assistant', content: null, ...delta }),
      ),
      routerShape.chunk(
        { role: 'assistant', content: '' },
        {},
        { finish_reason: 'tool_calls', native_finish_reason: 'tool_use' },
      ),
      last,
    ],
    whole: routerShape.whole(
      {
        content: null,
        refusal: null,
        ...claudeWhole,
        tool_calls: [
          { index: 0, ...wholeCall('toolu_oos', OSLO) },
          { index: 1, ...wholeCall('toolu_obe', BERGEN) },
        ],
      },
      'tool_calls',
      routerUsage,
    ),
    said: {
      reasoning: THOUGHT,
      calls: bothCalls('toolu_oos', 'toolu_obe'),
      signatures: ['OrSig+/=='],
      signedBy: 'Anthropic',
    },
  },
  {
    ...routerShared,
    kind: 'reasoning of Gemini, plain and encrypted under one index, before parallel calls',
    stream: [
      said('', { reasoning: THOUGHT, reasoning_details: geminiDetails.slice(0, 1) }),
      said('', { reasoning_details: geminiDetails.slice(1) }),
      ...wholeDeltas('tool_os', 'tool_be').map((delta) =>
        routerShape.chunk({ role: 'assistant', content: null, ...delta }),
      ),
      routerShape.chunk(
        { role: 'assistant', content: '' },
        {},
        { finish_reason: 'tool_calls', native_finish_reason: 'STOP' },
      ),
      last,
    ],
    whole: routerShape.whole(
      {
        content: null,
        refusal: null,
        reasoning: THOUGHT,
        reasoning_details: geminiDetails,
        tool_calls: [
          { index: 0, ...wholeCall('tool_os', OSLO) },
          { index: 1, ...wholeCall('tool_be', BERGEN) },
        ],
      },
      'tool_calls',
      routerUsage,
    ),
    said: { reasoning: THOUGHT, calls: bothCalls('tool_os', 'tool_be'), signatures: ['OrGem/Data=='] },
  },
  {
    ...routerShared,
    kind: 'reasoning of OpenAI, a summary and encrypted, before a text',
    stream: [
      said('', { reasoning: THOUGHT, reasoning_details: openaiDetails.slice(0, 1) }),
      said('', { reasoning_details: openaiDetails.slice(1) }),
      said(TEXT),
      routerShape.chunk(
        { role: 'assistant', content: '' },
        {},
        { finish_reason: 'stop', native_finish_reason: 'completed' },
      ),
      last,
    ],
    whole: routerShape.whole(
      { content: TEXT, refusal: null, reasoning: THOUGHT, reasoning_details: openaiDetails },
      'stop',
      routerUsage,
    ),
    said: { reasoning: THOUGHT, text: TEXT, signatures: ['gAAAOr=='] },
  },
  {
    ...routerShared,
    kind: 'text with a citation',
    stream: [
      said(TEXT),
      routerShape.chunk({
        role: 'assistant',
        content: '',
        annotations: [
          {
            type: 'url_citation',
            url_citation: {
              url: 'https://weather.example/oslo',
              title: 'Forecast',
              start_index: 0,
              end_index: 13,
              content: 'Rain',
            },
          },
        ],
      }),
      routerShape.chunk(
        { role: 'assistant', content: '' },
        {},
        { finish_reason: 'stop', native_finish_reason: 'stop' },
      ),
      last,
    ],
    whole: routerShape.whole(
      {
        content: TEXT,
        refusal: null,
        reasoning: null,
        annotations: [
          {
            type: 'url_citation',
            url_citation: {
              url: 'https://weather.example/oslo',
              title: 'Forecast',
              start_index: 0,
              end_index: 13,
              content: 'Rain',
            },
          },
        ],
      },
      'stop',
      routerUsage,
    ),
    said: { text: TEXT, citations: ['https://weather.example/oslo'] },
  },
  {
    ...routerShared,
    kind: 'a call of Claude without arguments',
    stream: [
      routerShape.chunk({
        role: 'assistant',
        content: null,
        tool_calls: [{ index: 0, id: 'toolu_now', type: 'function', function: { name: 'clock' } }],
      }),
      routerShape.chunk(
        { role: 'assistant', content: '' },
        {},
        { finish_reason: 'tool_calls', native_finish_reason: 'tool_use' },
      ),
      last,
    ],
    whole: routerShape.whole(
      {
        content: null,
        refusal: null,
        reasoning: null,
        tool_calls: [{ index: 0, id: 'toolu_now', type: 'function', function: { name: 'clock' } }],
      },
      'tool_calls',
      routerUsage,
    ),
    said: { calls: [{ id: 'toolu_now', name: 'clock', input: {} }] },
  },
];

/* GitHub Copilot: a whole answer of Claude has its text in one choice and its calls in another, both of them the first. */
const githubShape = chatShape({
  frame: { id: 'msg_gh', created: 1_790_000_803, model: 'claude-test-github' },
});
const githubUsage = usageOf(47, 22, { prompt_tokens_details: { cached_tokens: 0 } });
const githubText = { finish_reason: 'tool_calls', message: { content: TEXT, role: 'assistant' } };
const githubCalls = {
  finish_reason: 'tool_calls',
  message: { role: 'assistant', tool_calls: [wholeCall('toolu_gos', OSLO), wholeCall('toolu_gbe', BERGEN)] },
};

const github: Recording[] = [
  {
    vendor: 'GitHub',
    format: 'chat',
    provider: 'other',
    tokens: { prompt: 47, completion: 22 },
    kind: 'text before parallel calls, in two choices where it is whole',
    stream: [
      githubShape.chunk({ content: TEXT, role: 'assistant' }),
      ...pieceDeltas('toolu_gos', 'toolu_gbe').map((delta) => githubShape.chunk({ content: null, ...delta })),
      githubShape.end('tool_calls', { usage: githubUsage }, { content: null }),
    ],
    whole: { ...githubShape.whole({}, '', githubUsage), choices: [githubText, githubCalls] },
    said: { text: TEXT, calls: bothCalls('toolu_gos', 'toolu_gbe') },
  },
];

/* github.com/microsoft/vscode-copilot-chat: the reasoning of Gemini behind Copilot, which refuses calls that come back without it. */
const copilotUsage = usageOf(51, 24, { prompt_tokens_details: { cached_tokens: 0 }, reasoning_tokens: 9 });
const copilotShared = {
  vendor: 'GitHub',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 51, completion: 24 },
} as const;
const copilotThought = [
  ...THOUGHT_PIECES.map((reasoning_text) =>
    githubShape.chunk({ role: 'assistant', content: null, reasoning_text }),
  ),
  githubShape.chunk({ role: 'assistant', content: null, reasoning_opaque: 'CpOpaque+/==' }),
];
const copilotMessage = { reasoning_text: THOUGHT, reasoning_opaque: 'CpOpaque+/==' };

const copilot: Recording[] = [
  {
    ...copilotShared,
    kind: 'encrypted reasoning of Gemini before a text',
    stream: [
      ...copilotThought,
      ...TEXT_PIECES.map((content) => githubShape.chunk({ content })),
      githubShape.end('stop', { usage: copilotUsage }, { content: null }),
    ],
    whole: githubShape.whole({ content: TEXT, ...copilotMessage }, 'stop', copilotUsage),
    said: { reasoning: THOUGHT, text: TEXT, signatures: ['CpOpaque+/=='] },
  },
  {
    ...copilotShared,
    kind: 'encrypted reasoning of Gemini before parallel calls',
    stream: [
      ...copilotThought,
      ...wholeDeltas('call_cos', 'call_cbe').map((delta) => githubShape.chunk({ content: null, ...delta })),
      githubShape.end('tool_calls', { usage: copilotUsage }, { content: null }),
    ],
    whole: githubShape.whole(
      {
        content: null,
        ...copilotMessage,
        tool_calls: [wholeCall('call_cos', OSLO), wholeCall('call_cbe', BERGEN)],
      },
      'tool_calls',
      copilotUsage,
    ),
    said: {
      reasoning: THOUGHT,
      calls: bothCalls('call_cos', 'call_cbe'),
      signatures: ['CpOpaque+/=='],
    },
  },
];

export const routers: Recording[] = [...litellm, ...openrouter, ...github, ...copilot];
