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
import { chatShape, pieceDeltas, usageOf, wholeCall } from './chat-shape.ts';

/* Azure, Amazon Bedrock, Google, Databricks and NVIDIA, by their OpenAI paths. */

const safe = { hate: { filtered: false, severity: 'safe' }, violence: { filtered: false, severity: 'safe' } };
const azureShape = chatShape({
  frame: { id: 'chatcmpl-Az1', created: 1_790_000_301, model: 'gpt-test-2026', system_fingerprint: 'fp_az' },
  choice: { content_filter_results: safe, finish_reason: null, logprobs: null },
  wholeChoice: { content_filter_results: safe, logprobs: null },
});
const azureUsage = usageOf(22, 9, {
  completion_tokens_details: {
    accepted_prediction_tokens: 0,
    audio_tokens: 0,
    reasoning_tokens: 0,
    rejected_prediction_tokens: 0,
  },
  prompt_tokens_details: { audio_tokens: 0, cached_tokens: 0 },
});
const prompted = { prompt_filter_results: [{ prompt_index: 0, content_filter_results: safe }] };
/** Comes first, and names nothing. */
const placeholder = { choices: [], created: 0, id: '', model: '', object: '', ...prompted };
const azureShared = {
  vendor: 'Azure',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 22, completion: 9 },
} as const;
const azureFirst = azureShape.chunk({ content: '', refusal: null, role: 'assistant' });
const azureMessage = { annotations: [], refusal: null };

const azure: Recording[] = [
  {
    ...azureShared,
    kind: 'text',
    stream: [
      placeholder,
      azureFirst,
      ...TEXT_PIECES.map((content) => azureShape.chunk({ content })),
      azureShape.end('stop'),
      azureShape.counted(azureUsage),
    ],
    whole: azureShape.whole({ ...azureMessage, content: TEXT }, 'stop', azureUsage, prompted),
    said: { text: TEXT },
  },
  {
    ...azureShared,
    kind: 'text behind an asynchronous filter, which sends chunks without a delta',
    stream: [
      placeholder,
      azureFirst,
      azureShape.chunk({ content: TEXT }),
      azureShape.end('stop'),
      {
        ...azureShape.chunk({}),
        choices: [
          {
            content_filter_offsets: { check_offset: 0, start_offset: 0, end_offset: 13 },
            content_filter_results: safe,
            finish_reason: null,
            index: 0,
          },
        ],
      },
      azureShape.counted(azureUsage),
    ],
    whole: azureShape.whole({ ...azureMessage, content: TEXT }, 'stop', azureUsage, prompted),
    said: { text: TEXT },
  },
  {
    ...azureShared,
    kind: 'parallel calls',
    stream: [
      placeholder,
      azureShape.chunk({ content: null, refusal: null, role: 'assistant' }),
      ...pieceDeltas('call_os', 'call_be').map((delta) => azureShape.chunk(delta)),
      azureShape.end('tool_calls'),
      azureShape.counted(azureUsage),
    ],
    whole: azureShape.whole(
      {
        ...azureMessage,
        content: null,
        tool_calls: [wholeCall('call_os', OSLO), wholeCall('call_be', BERGEN)],
      },
      'tool_calls',
      azureUsage,
      prompted,
    ),
    said: { calls: bothCalls('call_os', 'call_be') },
  },
  {
    ...azureShared,
    kind: 'answer cut by the content filter',
    stream: [
      placeholder,
      azureFirst,
      azureShape.chunk({ content: 'Rain' }),
      azureShape.end('content_filter'),
      azureShape.counted(azureUsage),
    ],
    whole: azureShape.whole({ ...azureMessage, content: 'Rain' }, 'content_filter', azureUsage, prompted),
    said: { text: 'Rain', end: 'content_filter' },
  },
];

/* docs.aws.amazon.com: Bedrock, chat completions; the reasoning of gpt-oss stands in tags within the text there. */
const bedrockShape = chatShape({
  frame: {
    id: 'chatcmpl-Be5',
    created: 1_790_000_302,
    model: 'openai.test-oss',
    service_tier: 'default',
    system_fingerprint: 'fp_be',
  },
  choice: { finish_reason: null, logprobs: null },
  wholeChoice: { logprobs: null },
});
const bedrockShared = {
  vendor: 'Amazon Bedrock',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 70, completion: 33 },
} as const;
const bedrockUsage = usageOf(70, 33);
const metrics = {
  'amazon-bedrock-invocationMetrics': {
    inputTokenCount: 70,
    outputTokenCount: 33,
    invocationLatency: 611,
    firstByteLatency: 140,
  },
};
const TAGGED = `<reasoning>${THOUGHT}</reasoning>${TEXT}`;

const bedrock: Recording[] = [
  {
    ...bedrockShared,
    kind: 'text with its reasoning in tags',
    stream: [
      bedrockShape.chunk({ content: '', role: 'assistant' }),
      bedrockShape.chunk({ content: `<reasoning>${THOUGHT}</reasoning>` }),
      bedrockShape.chunk({ content: TEXT }),
      bedrockShape.end('stop'),
      bedrockShape.counted(bedrockUsage),
    ],
    whole: bedrockShape.whole({ content: TAGGED, refusal: null }, 'stop', bedrockUsage),
    said: { text: TAGGED },
  },
  {
    ...bedrockShared,
    kind: 'text with metrics in the last chunk',
    stream: [
      bedrockShape.chunk({ content: '', role: 'assistant' }),
      bedrockShape.chunk({ content: TEXT }),
      bedrockShape.end('stop', metrics),
    ],
    whole: bedrockShape.whole({ content: TEXT, refusal: null }, 'stop', bedrockUsage),
    said: { text: TEXT },
  },
  {
    ...bedrockShared,
    kind: 'parallel calls, each whole',
    stream: [
      bedrockShape.chunk({ content: null, role: 'assistant' }),
      bedrockShape.chunk({
        tool_calls: [
          { index: 0, ...wholeCall('chatcmpl-tool-os', OSLO) },
          { index: 1, ...wholeCall('chatcmpl-tool-be', BERGEN) },
        ],
      }),
      bedrockShape.end('tool_calls'),
      bedrockShape.counted(bedrockUsage),
    ],
    whole: bedrockShape.whole(
      {
        content: null,
        refusal: null,
        tool_calls: [wholeCall('chatcmpl-tool-os', OSLO), wholeCall('chatcmpl-tool-be', BERGEN)],
      },
      'tool_calls',
      bedrockUsage,
    ),
    said: { calls: bothCalls('chatcmpl-tool-os', 'chatcmpl-tool-be') },
  },
];

/* ai.google.dev: OpenAI compatibility, thought signatures; thinking is billed and counted in the total alone. */
const geminiShape = chatShape({
  frame: { id: 'Gm3aRx', created: 1_790_000_303, model: 'gemini-test-3' },
  choice: {},
});
const geminiCounts = { prompt_tokens: 44, completion_tokens: 9, total_tokens: 80 };
const geminiEarly = { usage: { prompt_tokens: 44, completion_tokens: 2, total_tokens: 71 } };
const geminiLate = { usage: geminiCounts };
const google = (members: object) => ({ extra_content: { google: members } });
const signedCall = wholeCall('os4jm1', OSLO, google({ thought_signature: 'EjQKMgEM/+Os==' }));
const secondCall = wholeCall('be7kq2', BERGEN);
const geminiShared = {
  vendor: 'Gemini',
  format: 'chat',
  provider: 'google',
  tokens: { prompt: 44, completion: 36 },
} as const;
const MALFORMED = 'function_call_filter: MALFORMED_FUNCTION_CALL';

const gemini: Recording[] = [
  {
    ...geminiShared,
    kind: 'text',
    stream: [
      geminiShape.chunk({ content: 'Rain by', role: 'assistant' }, geminiEarly),
      geminiShape.end('stop', geminiLate, { content: ' noon.', role: 'assistant' }),
    ],
    whole: geminiShape.whole({ content: TEXT }, 'stop', geminiCounts),
    said: { text: TEXT },
  },
  {
    ...geminiShared,
    kind: 'parallel calls without numbers, the first of them signed',
    stream: [
      geminiShape.chunk({ role: 'assistant', tool_calls: [signedCall, secondCall] }, geminiEarly),
      geminiShape.end('stop', geminiLate, { role: 'assistant' }),
    ],
    whole: geminiShape.whole({ tool_calls: [signedCall, secondCall] }, 'tool_calls', geminiCounts),
    said: { calls: bothCalls('os4jm1', 'be7kq2'), signatures: ['EjQKMgEM/+Os=='] },
  },
  {
    ...geminiShared,
    kind: 'parallel calls under one number, in chunks of their own',
    stream: [
      geminiShape.chunk({ role: 'assistant', tool_calls: [{ index: 0, ...signedCall }] }, geminiEarly),
      geminiShape.chunk({ role: 'assistant', tool_calls: [{ index: 0, ...secondCall }] }, geminiEarly),
      geminiShape.end('stop', geminiLate, { role: 'assistant' }),
    ],
    whole: geminiShape.whole({ tool_calls: [signedCall, secondCall] }, 'tool_calls', geminiCounts),
    said: { calls: bothCalls('os4jm1', 'be7kq2'), signatures: ['EjQKMgEM/+Os=='] },
  },
  {
    ...geminiShared,
    kind: 'text whose end is signed',
    stream: [
      geminiShape.chunk({ content: TEXT, role: 'assistant' }, geminiEarly),
      geminiShape.end('stop', geminiLate, {
        content: '',
        role: 'assistant',
        ...google({ thought_signature: 'TxTs1g==' }),
      }),
    ],
    whole: geminiShape.whole(
      { content: TEXT, ...google({ thought_signature: 'TxTs1g==' }) },
      'stop',
      geminiCounts,
    ),
    said: { text: TEXT, signatures: ['TxTs1g=='] },
  },
  {
    ...geminiShared,
    kind: 'cut text',
    stream: [geminiShape.end('length', geminiLate, { content: 'Rain by', role: 'assistant' })],
    whole: geminiShape.whole({ content: 'Rain by' }, 'length', geminiCounts),
    said: { text: 'Rain by', end: 'length' },
  },
  {
    ...geminiShared,
    kind: 'answer that is withheld, with the reason behind the word and without a message',
    stream: [
      {
        ...geminiShape.chunk({}),
        choices: [
          { index: 0, delta: { role: 'assistant' }, finish_reason: 'content_filter: PROHIBITED_CONTENT' },
        ],
        ...geminiLate,
      },
    ],
    whole: {
      ...geminiShape.whole({}, '', geminiCounts),
      choices: [{ index: 0, finish_reason: 'content_filter: PROHIBITED_CONTENT' }],
    },
    said: { text: '', end: 'content_filter' },
  },
  {
    ...geminiShared,
    kind: 'call that its server could not read, and withheld',
    stream: [geminiShape.end(MALFORMED, geminiLate, { role: 'assistant' })],
    whole: geminiShape.whole({ content: null }, MALFORMED, geminiCounts),
    said: { end: 'content_filter' },
  },
];

/* docs.databricks.com: query reasoning models; Claude's content is a list there, with its thinking as a summary. */
const databricksShape = chatShape({
  frame: { id: 'msg_bdrk_1', created: 1_790_000_304, model: 'claude-test-databricks' },
});
const databricksUsage = usageOf(18, 25);
const summary = (text: string, more: object = {}) => ({
  type: 'reasoning',
  summary: [{ type: 'summary_text', text, ...more }],
});
const databricksShared = {
  vendor: 'Databricks',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 18, completion: 25 },
} as const;

const databricksSigned = { signature: 'DbSig+/==' };

const databricks: Recording[] = [
  {
    ...databricksShared,
    kind: 'reasoning in a list of parts',
    stream: [
      databricksShape.chunk({ role: 'assistant', content: [summary(THOUGHT_PIECES[0])] }),
      databricksShape.chunk({ content: [summary(THOUGHT_PIECES[1], databricksSigned)] }),
      ...TEXT_PIECES.map((content) => databricksShape.chunk({ content })),
      databricksShape.end('stop', { usage: databricksUsage }, { content: '' }),
    ],
    whole: databricksShape.whole(
      { content: [summary(THOUGHT, databricksSigned), { type: 'text', text: TEXT }] },
      'stop',
      databricksUsage,
    ),
    said: { reasoning: THOUGHT, text: TEXT, signatures: ['DbSig+/=='] },
  },
  {
    ...databricksShared,
    kind: 'reasoning in a list of parts, before parallel calls',
    stream: [
      ...THOUGHT_PIECES.map((piece) =>
        databricksShape.chunk({ role: 'assistant', content: [summary(piece)] }),
      ),
      ...pieceDeltas('toolu_bdos', 'toolu_bdbe').map((delta) => databricksShape.chunk(delta)),
      databricksShape.end('tool_calls', { usage: databricksUsage }, { content: '' }),
    ],
    whole: databricksShape.whole(
      {
        content: [summary(THOUGHT)],
        tool_calls: [wholeCall('toolu_bdos', OSLO), wholeCall('toolu_bdbe', BERGEN)],
      },
      'tool_calls',
      databricksUsage,
    ),
    said: { reasoning: THOUGHT, calls: bothCalls('toolu_bdos', 'toolu_bdbe') },
  },
];

/* docs.api.nvidia.com: NIM, chat completions. */
const nvidiaShape = chatShape({
  frame: { id: 'chatcmpl-Nv9', created: 1_790_000_305, model: 'nvidia/test-nemotron' },
  choice: { logprobs: null, finish_reason: null, matched_stop: null },
  wholeChoice: { logprobs: null, matched_stop: null },
  chunkFrame: { usage: null },
});
const nvidiaUsage = usageOf(27, 30, { prompt_tokens_details: null, reasoning_tokens: 11 });
const nvidiaShared = {
  vendor: 'NVIDIA',
  format: 'chat',
  provider: 'other',
  tokens: { prompt: 27, completion: 30 },
} as const;
const nothing = { role: null, content: null, reasoning_content: null, tool_calls: null };

const nvidia: Recording[] = [
  {
    ...nvidiaShared,
    kind: 'reasoning before a text, with nulls for what a chunk does not say',
    stream: [
      nvidiaShape.chunk({ ...nothing, role: 'assistant', content: '' }),
      ...THOUGHT_PIECES.map((reasoning_content) => nvidiaShape.chunk({ ...nothing, reasoning_content })),
      ...TEXT_PIECES.map((content) => nvidiaShape.chunk({ ...nothing, content })),
      nvidiaShape.end('stop', {}, nothing),
      nvidiaShape.counted(nvidiaUsage),
    ],
    whole: nvidiaShape.whole(
      { content: TEXT, reasoning_content: THOUGHT, tool_calls: null },
      'stop',
      nvidiaUsage,
    ),
    said: { reasoning: THOUGHT, text: TEXT },
  },
  {
    ...nvidiaShared,
    kind: 'parallel calls',
    stream: [
      nvidiaShape.chunk({ ...nothing, role: 'assistant' }),
      ...pieceDeltas('chatcmpl-tool-os', 'chatcmpl-tool-be').map((delta) =>
        nvidiaShape.chunk({ ...nothing, ...delta }),
      ),
      nvidiaShape.end('tool_calls', {}, nothing),
      nvidiaShape.counted(nvidiaUsage),
    ],
    whole: nvidiaShape.whole(
      {
        content: null,
        reasoning_content: null,
        tool_calls: [wholeCall('chatcmpl-tool-os', OSLO), wholeCall('chatcmpl-tool-be', BERGEN)],
      },
      'tool_calls',
      nvidiaUsage,
    ),
    said: { calls: bothCalls('chatcmpl-tool-os', 'chatcmpl-tool-be') },
  },
];

export const clouds: Recording[] = [...azure, ...bedrock, ...gemini, ...databricks, ...nvidia];
