import {
  BERGEN,
  bothCalls,
  OSLO,
  piecesOf,
  type Recording,
  type Said,
  TEXT,
  TEXT_PIECES,
} from '../recording.ts';

/* developers.openai.com: responses, streaming events; what Azure sends is the same. */

const usage = {
  input_tokens: 40,
  input_tokens_details: { cached_tokens: 16, cache_write_tokens: 0 },
  output_tokens: 21,
  output_tokens_details: { reasoning_tokens: 12 },
  total_tokens: 61,
};

/** All that a response has beside its output. */
const response = (status: string, output: readonly object[], more: object = {}) => ({
  id: 'resp_0c1',
  access_programs: null,
  object: 'response',
  created_at: 1_790_000_201,
  completed_at: status === 'completed' ? 1_790_000_203 : null,
  status,
  background: false,
  error: null,
  frequency_penalty: 0,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  model: 'gpt-test-2026',
  output,
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  prompt_cache_retention: null,
  reasoning: { effort: 'medium', summary: 'detailed' },
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  usage: null,
  user: null,
  ...more,
});

interface Item {
  begun: object;
  /** The events between its beginning and its end. */
  between(at: { item_id: string; output_index: number }): object[];
  done: { id: string; [member: string]: unknown };
}

function message(text: string, status = 'completed', pieces: readonly string[] = [text]): Item {
  const item = { id: 'msg_0a', type: 'message', role: 'assistant' };
  const part = (written: string) => ({ type: 'output_text', annotations: [], logprobs: [], text: written });
  return {
    begun: { ...item, status: 'in_progress', content: [] },
    between: (at) => [
      { type: 'response.content_part.added', ...at, content_index: 0, part: part('') },
      ...pieces.map((delta) => ({
        type: 'response.output_text.delta',
        ...at,
        content_index: 0,
        delta,
        logprobs: [],
        obfuscation: 'p0',
      })),
      { type: 'response.output_text.done', ...at, content_index: 0, text, logprobs: [] },
      { type: 'response.content_part.done', ...at, content_index: 0, part: part(text) },
    ],
    done: { ...item, status, content: [part(text)] },
  };
}

function refusal(text: string): Item {
  const item = { id: 'msg_0a', type: 'message', role: 'assistant' };
  return {
    begun: { ...item, status: 'in_progress', content: [] },
    between: (at) => [
      {
        type: 'response.content_part.added',
        ...at,
        content_index: 0,
        part: { type: 'refusal', refusal: '' },
      },
      { type: 'response.refusal.delta', ...at, content_index: 0, delta: text },
      { type: 'response.refusal.done', ...at, content_index: 0, refusal: text },
      {
        type: 'response.content_part.done',
        ...at,
        content_index: 0,
        part: { type: 'refusal', refusal: text },
      },
    ],
    done: { ...item, status: 'completed', content: [{ type: 'refusal', refusal: text }] },
  };
}

function call(id: string, json: string, status = 'completed'): Item {
  const item = { id: `fc_${id}`, type: 'function_call', call_id: id, name: 'weather' };
  return {
    begun: { ...item, status: 'in_progress', arguments: '' },
    between: (at) => [
      ...piecesOf(json).map((delta) => ({
        type: 'response.function_call_arguments.delta',
        ...at,
        delta,
        obfuscation: 'q',
      })),
      { type: 'response.function_call_arguments.done', ...at, arguments: json },
    ],
    done: { ...item, status, arguments: json },
  };
}

function reasoning(text: string): Item {
  const item = { id: 'rs_0b', type: 'reasoning' };
  const part = (written: string) => ({ type: 'summary_text', text: written });
  return {
    begun: { ...item, summary: [], encrypted_content: 'gAAAbegun' },
    between: (at) => [
      { type: 'response.reasoning_summary_part.added', ...at, summary_index: 0, part: part('') },
      {
        type: 'response.reasoning_summary_text.delta',
        ...at,
        summary_index: 0,
        delta: text,
        obfuscation: 'r',
      },
      { type: 'response.reasoning_summary_text.done', ...at, summary_index: 0, text },
      { type: 'response.reasoning_summary_part.done', ...at, summary_index: 0, part: part(text) },
    ],
    done: { ...item, summary: [part(text)], encrypted_content: 'gAAAsealed' },
  };
}

function recorded(kind: string, items: readonly Item[], said: Said, cut = false): Recording {
  const output = items.map(({ done }) => done);
  const details = cut ? { incomplete_details: { reason: 'max_output_tokens' } } : {};
  const whole = response(cut ? 'incomplete' : 'completed', output, { ...details, usage });
  const events = [
    { type: 'response.created', response: response('in_progress', []) },
    { type: 'response.in_progress', response: response('in_progress', []) },
    ...items.flatMap(({ begun, between, done }, output_index) => [
      { type: 'response.output_item.added', output_index, item: begun },
      ...between({ item_id: done.id, output_index }),
      { type: 'response.output_item.done', output_index, item: done },
    ]),
    { type: cut ? 'response.incomplete' : 'response.completed', response: whole },
  ];
  return {
    vendor: 'OpenAI responses',
    kind,
    format: 'responses',
    provider: 'openai',
    stream: events.map((event, sequence_number) => ({ ...event, sequence_number })),
    whole,
    said,
    tokens: { prompt: 40, cached: 16, completion: 21 },
  };
}

export const openaiResponses: Recording[] = [
  recorded('text', [message(TEXT, 'completed', TEXT_PIECES)], { text: TEXT }),
  recorded('reasoning before a text', [reasoning('**Towns**'), message(TEXT)], {
    reasoning: '**Towns**',
    text: TEXT,
    signatures: ['gAAAsealed'],
  }),
  recorded(
    'reasoning before parallel calls',
    [reasoning('**Towns**'), call('call_os', OSLO), call('call_be', BERGEN)],
    {
      reasoning: '**Towns**',
      calls: bothCalls('call_os', 'call_be'),
      signatures: ['gAAAsealed'],
    },
  ),
  recorded('refusal', [refusal('I cannot help with that.')], {
    refusal: 'I cannot help with that.',
    end: 'stop',
  }),
  recorded('cut text', [message('Rain by', 'incomplete')], { text: 'Rain by', end: 'length' }, true),
  recorded(
    'cut call',
    [call('call_os', '{"town":"Os', 'incomplete')],
    {
      calls: [{ id: 'call_os', name: 'weather', input: '{"town":"Os', wholePart: {} }],
      end: 'length',
    },
    true,
  ),
];
