import { BERGEN, bothCalls, OSLO, piecesOf, type Recording, TEXT, TEXT_PIECES } from '../recording.ts';

/* developers.openai.com: chat completions, streaming; the shape of gpt-4.1, gpt-5 and the search previews. */

const frame = {
  id: 'chatcmpl-Qx7',
  created: 1_790_000_101,
  model: 'gpt-test-2026',
  service_tier: 'default',
  system_fingerprint: 'fp_71a',
};

const chunk = (delta: object, finish_reason: string | null = null, logprobs: object | null = null) => ({
  ...frame,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, logprobs, finish_reason }],
  usage: null,
  obfuscation: 'uX2',
});
const usage = {
  prompt_tokens: 31,
  completion_tokens: 17,
  total_tokens: 48,
  prompt_tokens_details: { cached_tokens: 8, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 6,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};
const counted = { ...frame, object: 'chat.completion.chunk', choices: [], usage, obfuscation: 'k' };
const whole = (message: object, finish_reason: string, logprobs: object | null = null) => ({
  ...frame,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', refusal: null, annotations: [], ...message },
      logprobs,
      finish_reason,
    },
  ],
  usage,
});
const first = { role: 'assistant', content: '', refusal: null };
const call = (index: number, id: string, json: string) => [
  chunk({ tool_calls: [{ index, id, type: 'function', function: { name: 'weather', arguments: '' } }] }),
  ...piecesOf(json).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
];
const wholeCall = (id: string, json: string) => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: json },
});
const token = (text: string) => ({
  token: text,
  logprob: -0.25,
  bytes: [...Buffer.from(text)],
  top_logprobs: [],
});

const shared = {
  vendor: 'OpenAI',
  format: 'chat',
  provider: 'openai',
  tokens: { prompt: 31, cached: 8, completion: 17 },
} as const;
const cited = {
  type: 'url_citation',
  url_citation: { start_index: 0, end_index: 13, title: 'Forecast', url: 'https://weather.example/oslo' },
};

export const openaiChat: Recording[] = [
  {
    ...shared,
    kind: 'text',
    stream: [chunk(first), ...TEXT_PIECES.map((content) => chunk({ content })), chunk({}, 'stop'), counted],
    whole: whole({ content: TEXT }, 'stop'),
    said: { text: TEXT },
  },
  {
    ...shared,
    kind: 'text of a model that names its version',
    stream: [chunk(first), chunk({ content: TEXT }), chunk({}, 'stop'), counted],
    whole: whole({ content: TEXT }, 'stop'),
    said: { text: TEXT },
    namesVersion: true,
  },
  {
    ...shared,
    kind: 'text with logprobs',
    stream: [
      chunk(first, null, { content: [], refusal: null }),
      ...TEXT_PIECES.map((content) => chunk({ content }, null, { content: [token(content)], refusal: null })),
      chunk({}, 'stop'),
      counted,
    ],
    whole: whole({ content: TEXT }, 'stop', { content: TEXT_PIECES.map(token), refusal: null }),
    said: { text: TEXT },
  },
  {
    ...shared,
    kind: 'parallel calls',
    stream: [
      chunk({ ...first, content: null }),
      ...call(0, 'call_os', OSLO),
      ...call(1, 'call_be', BERGEN),
      chunk({}, 'tool_calls'),
      counted,
    ],
    whole: whole(
      { content: null, tool_calls: [wholeCall('call_os', OSLO), wholeCall('call_be', BERGEN)] },
      'tool_calls',
    ),
    said: { calls: bothCalls('call_os', 'call_be') },
  },
  {
    ...shared,
    kind: 'text before a call',
    stream: [
      chunk(first),
      chunk({ content: TEXT }),
      ...call(0, 'call_os', OSLO),
      chunk({}, 'tool_calls'),
      counted,
    ],
    whole: whole({ content: TEXT, tool_calls: [wholeCall('call_os', OSLO)] }, 'tool_calls'),
    said: { text: TEXT, calls: bothCalls('call_os').slice(0, 1) },
  },
  {
    ...shared,
    kind: 'refusal',
    stream: [
      chunk({ ...first, content: null }),
      chunk({ refusal: 'I cannot' }),
      chunk({ refusal: ' help with that.' }),
      chunk({}, 'stop'),
      counted,
    ],
    whole: whole({ content: null, refusal: 'I cannot help with that.' }, 'stop'),
    said: { refusal: 'I cannot help with that.', end: 'stop' },
  },
  {
    ...shared,
    kind: 'cut text',
    stream: [
      chunk(first),
      chunk({ content: 'Rain' }),
      chunk({ content: ' by' }),
      chunk({}, 'length'),
      counted,
    ],
    whole: whole({ content: 'Rain by' }, 'length'),
    said: { text: 'Rain by', end: 'length' },
  },
  {
    ...shared,
    kind: 'cut call',
    stream: [
      chunk({ ...first, content: null }),
      ...call(0, 'call_os', '{"town":"Os').slice(0, 3),
      chunk({}, 'length'),
      counted,
    ],
    whole: whole({ content: null, tool_calls: [wholeCall('call_os', '{"town":"Os')] }, 'length'),
    said: {
      calls: [{ id: 'call_os', name: 'weather', input: '{"town":"Os', wholePart: {} }],
      end: 'length',
    },
  },
  {
    ...shared,
    kind: 'cited text',
    stream: [
      chunk(first),
      ...TEXT_PIECES.map((content) => chunk({ content })),
      chunk({ annotations: [cited] }),
      chunk({}, 'stop'),
      counted,
    ],
    whole: whole({ content: TEXT, annotations: [cited] }, 'stop'),
    said: { text: TEXT, citations: ['https://weather.example/oslo'] },
  },
];
