import {
  BERGEN,
  bothCalls,
  OSLO,
  piecesOf,
  type Recording,
  type Said,
  TEXT,
  TEXT_PIECES,
  THOUGHT,
  THOUGHT_PIECES,
} from '../recording.ts';

/* platform.claude.com: messages, streaming; Bedrock's and Vertex's streams of Claude are the same events. */

const SIGNATURE = 'EqQBCkYIChgCKkBz+/sig==';
const usageAtStart = {
  input_tokens: 12,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 5,
  cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 0 },
  output_tokens: 1,
  output_tokens_details: null,
  service_tier: 'standard',
  inference_geo: 'global',
  server_tool_use: null,
  speed: null,
};
const usageAtEnd = {
  input_tokens: 12,
  cache_creation_input_tokens: 20,
  cache_read_input_tokens: 5,
  output_tokens: 19,
  output_tokens_details: null,
  server_tool_use: null,
};

const message = (content: readonly object[], more: object) => ({
  id: 'msg_01Rn',
  type: 'message',
  role: 'assistant',
  model: 'claude-test-4-9',
  content,
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  container: null,
  diagnostics: null,
  ...more,
});

interface Block {
  begun: object;
  deltas: object[];
  done: object;
}

const text = (pieces: readonly string[], citations: object[] = []): Block => ({
  begun: { type: 'text', text: '', citations: citations.length === 0 ? null : [] },
  deltas: [
    ...pieces.map((piece) => ({ type: 'text_delta', text: piece })),
    ...citations.map((citation) => ({ type: 'citations_delta', citation })),
  ],
  done: { type: 'text', text: pieces.join(''), citations: citations.length === 0 ? null : citations },
});
const thinking: Block = {
  begun: { type: 'thinking', thinking: '', signature: '' },
  deltas: [
    ...THOUGHT_PIECES.map((piece) => ({ type: 'thinking_delta', thinking: piece })),
    { type: 'signature_delta', signature: SIGNATURE },
  ],
  done: { type: 'thinking', thinking: THOUGHT, signature: SIGNATURE },
};
/** Newer models show no thinking by default, and sign it all the same. */
const hidden: Block = {
  begun: { type: 'thinking', thinking: '', signature: '' },
  deltas: [{ type: 'signature_delta', signature: SIGNATURE }],
  done: { type: 'thinking', thinking: '', signature: SIGNATURE },
};
/** Claude sends a piece of nothing before the signature from Opus 4.7 on (github.com/promptfoo/promptfoo/pull/10830). */
const omitted: Block = {
  ...hidden,
  deltas: [{ type: 'thinking_delta', thinking: '' }, ...hidden.deltas],
};
const redacted: Block = {
  begun: { type: 'redacted_thinking', data: 'RedactedZ9==' },
  deltas: [],
  done: { type: 'redacted_thinking', data: 'RedactedZ9==' },
};
const direct = { caller: { type: 'direct' } };
const call = (id: string, json: string, input: object): Block => ({
  begun: { type: 'tool_use', id, name: 'weather', input: {}, ...direct },
  deltas: ['', ...piecesOf(json)].map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
  done: { type: 'tool_use', id, name: 'weather', input, ...direct },
});
const oslo = call('toolu_os', OSLO, { town: 'Oslo' });
const bergen = call('toolu_be', BERGEN, { town: 'Bergen' });
const empty: Block = {
  begun: { type: 'tool_use', id: 'toolu_now', name: 'clock', input: {}, ...direct },
  deltas: [{ type: 'input_json_delta', partial_json: '' }],
  done: { type: 'tool_use', id: 'toolu_now', name: 'clock', input: {}, ...direct },
};

function recorded(kind: string, blocks: readonly Block[], stop: object, said: Said): Recording {
  const ended = { stop_sequence: null, stop_details: null, ...stop };
  return {
    vendor: 'Anthropic',
    kind,
    format: 'messages',
    provider: 'anthropic',
    stream: [
      { type: 'message_start', message: message([], { usage: usageAtStart }) },
      ...blocks.flatMap(({ begun, deltas }, index) => [
        { type: 'content_block_start', index, content_block: begun },
        ...(index === 0 ? [{ type: 'ping' }] : []),
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { ...ended, container: null }, usage: usageAtEnd },
      { type: 'message_stop' },
    ],
    whole: message(
      blocks.map(({ done }) => done),
      { ...ended, usage: { ...usageAtStart, output_tokens: 19 } },
    ),
    said,
    tokens: { prompt: 37, cached: 5, written: 20, completion: 19 },
  };
}

const cited = {
  type: 'web_search_result_location',
  url: 'https://weather.example/oslo',
  title: 'Forecast',
  encrypted_index: 'EnC',
  cited_text: 'Rain',
};

export const anthropic: Recording[] = [
  recorded('text', [text(TEXT_PIECES)], { stop_reason: 'end_turn' }, { text: TEXT }),
  recorded(
    'stop sequence',
    [text(['Rain'])],
    { stop_reason: 'stop_sequence', stop_sequence: 'END' },
    { text: 'Rain' },
  ),
  recorded(
    'thinking before a text',
    [thinking, text(TEXT_PIECES)],
    { stop_reason: 'end_turn' },
    { reasoning: THOUGHT, text: TEXT, signatures: [SIGNATURE] },
  ),
  recorded(
    'thinking that is not shown',
    [hidden, text(TEXT_PIECES)],
    { stop_reason: 'end_turn' },
    { text: TEXT, signatures: [SIGNATURE] },
  ),
  recorded(
    'thinking in the place of which a piece of nothing is shown',
    [omitted, text(TEXT_PIECES)],
    { stop_reason: 'end_turn' },
    { text: TEXT, signatures: [SIGNATURE] },
  ),
  recorded(
    'thinking that is not shown, before a call',
    [omitted, oslo],
    { stop_reason: 'tool_use' },
    { calls: bothCalls('toolu_os').slice(0, 1), signatures: [SIGNATURE] },
  ),
  recorded(
    'thinking and redacted thinking before parallel calls',
    [thinking, redacted, text(['Let me look.']), oslo, bergen],
    { stop_reason: 'tool_use' },
    {
      reasoning: THOUGHT,
      text: 'Let me look.',
      calls: bothCalls('toolu_os', 'toolu_be'),
      signatures: [SIGNATURE, 'RedactedZ9=='],
    },
  ),
  recorded(
    'a call without input',
    [empty],
    { stop_reason: 'tool_use' },
    { calls: [{ id: 'toolu_now', name: 'clock', input: {} }] },
  ),
  recorded(
    'refusal',
    [text(['I cannot'])],
    {
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'cyber', explanation: 'Not allowed.' },
    },
    { text: 'I cannot', end: 'content_filter' },
  ),
  recorded(
    'cut text',
    [text(['Rain', ' by'])],
    { stop_reason: 'max_tokens' },
    { text: 'Rain by', end: 'length' },
  ),
  recorded(
    'cut by the context window',
    [text(['Rain', ' by'])],
    { stop_reason: 'model_context_window_exceeded' },
    { text: 'Rain by', end: 'length' },
  ),
  recorded(
    'cited text',
    [text(['By the forecast ']), text(TEXT_PIECES, [cited])],
    { stop_reason: 'end_turn' },
    { text: `By the forecast ${TEXT}`, citations: ['https://weather.example/oslo'] },
  ),
];
